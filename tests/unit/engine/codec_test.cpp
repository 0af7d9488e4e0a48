// SPDX-License-Identifier: Apache-2.0
// The API by example: what each call guarantees and refuses.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include <calpe/codec.hpp>
#include <calpe/galois.hpp>

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;

CodeSpec spec_of(const char* profile, unsigned data, unsigned parity) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  return spec;
}

struct Shards {
  Shards(const Codec& codec, std::size_t bytes, unsigned seed = 1) : k(codec.spec().data_shards) {
    std::mt19937 rng(seed);
    for (unsigned i = 0; i < k + codec.spec().parity_shards; ++i) {
      all.emplace_back(i < k ? bytes : codec.parity_bytes(bytes));
      for (std::byte& b : all.back())
        b = std::byte(rng());
    }
    EXPECT_TRUE(codec.encode(data(), parity()));
  }
  std::vector<ConstShard> data() const { return {all.begin(), all.begin() + k}; }
  std::vector<Shard> parity() { return {all.begin() + k, all.end()}; }
  std::vector<ConstShard> picked(std::span<const ShardIndex> which) const {
    std::vector<ConstShard> spans;
    for (const ShardIndex i : which)
      spans.push_back(all[i]);
    return spans;
  }
  unsigned k;
  std::vector<Bytes> all;
};

TEST(Codec, FirstParityOfHybridIsTheXorOfTheData) {
  const Codec codec = *Codec::create(spec_of("hybrid", 3, 2));
  const Shards shards(codec, 100);
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(shards.all[3][i], shards.all[0][i] ^ shards.all[1][i] ^ shards.all[2][i]);
  }
}

TEST(Codec, SpecIsResolvedAndReproducible) {
  const Codec codec = *Codec::create(spec_of("cauchy", 10, 4));
  EXPECT_EQ(codec.spec().polynomial, 0x11DU);
  EXPECT_EQ(Codec::create(codec.spec())->spec(), codec.spec());
  EXPECT_EQ(codec.threads(), 1U);
  EXPECT_EQ(codec.shard_bytes_multiple(), 1U);
  EXPECT_EQ(codec.parity_bytes(17), 17U);
  CodeSpec wrong = codec.spec();
  ++wrong.matrix_hash;
  EXPECT_EQ(Codec::create(wrong).error().code, ErrorCode::corrupt);
}

TEST(Codec, RefusesUnprovenCodes) {
  const auto refused = Codec::create(spec_of("vandermonde-isal", 10, 5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unproven);
  EXPECT_NE(refused.error().message.find("data 0, 3, 5 with parity 2, 3"), std::string::npos);
  // Only the caller's own matrices may be used unproven.
  EXPECT_FALSE(Codec::create(spec_of("vandermonde-isal", 10, 5), {.allow_unproven = true}));
}

TEST(Codec, CallersMatrixNeedsProofOrOptIn) {
  CodeSpec spec;
  spec.family = CodeFamily::custom;
  spec.data_shards = 2;
  spec.parity_shards = 2;
  const std::vector<std::uint16_t> good = {1, 1, 1, 2};
  const std::vector<std::uint16_t> bad = {1, 1, 1, 1};
  ASSERT_TRUE(Codec::create_from_matrix(spec, good));
  const auto refused = Codec::create_from_matrix(spec, bad);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unproven);
  const auto accepted = Codec::create_from_matrix(spec, bad, {.allow_unproven = true});
  ASSERT_TRUE(accepted);
  const std::vector<ShardIndex> available = {2, 3};
  const std::vector<ShardIndex> wanted = {0, 1};
  EXPECT_EQ(accepted->plan_decode(available, wanted).error().code, ErrorCode::unrecoverable);
  const std::vector<ShardIndex> enough = {1, 2};
  const std::vector<ShardIndex> one = {0};
  EXPECT_TRUE(accepted->plan_decode(enough, one));
  EXPECT_FALSE(Codec::create_from_matrix(spec, std::vector<std::uint16_t>{1, 1, 1}));
  EXPECT_FALSE(Codec::create_from_matrix(spec, std::vector<std::uint16_t>{1, 1, 1, 256}));
}

TEST(Codec, ErrorsNameOperandGotAndExpected) {
  const Codec codec = *Codec::create(spec_of("cauchy", 2, 2));
  Bytes a(8), b(8), p(8), q(7);
  const std::vector<ConstShard> data = {a, b};
  EXPECT_EQ(codec.encode(data, std::vector<Shard>{p, q}).error().message,
            "parity[1] has 7 bytes; expected 8 like data[0]");
  EXPECT_EQ(codec.encode(data, std::vector<Shard>{p}).error().message,
            "parity has 1 shards; expected 2");
  EXPECT_EQ(codec.encode(data, std::vector<Shard>{p, a}).error().message,
            "parity[1] overlaps data[0]; expected separate memory");
  const Codec other = *Codec::create(spec_of("hybrid", 2, 2));
  Bytes r(8);
  EXPECT_EQ(codec.run(other.plan_encode(), data, std::vector<Shard>{p, r}).error().message,
            "plan belongs to a codec of another spec");
  EXPECT_EQ(Codec::create(spec_of("cauchy", 2, 2), {.backend = "abacus"}).error().code,
            ErrorCode::invalid_argument);
}

TEST(Codec, APlanOutlivesItsCodec) {
  auto first = Codec::create(spec_of("cauchy", 4, 2));
  const Shards shards(*first, 333);
  const std::vector<ShardIndex> available = {1, 2, 3, 5};
  const std::vector<ShardIndex> wanted = {0, 4};
  const Plan plan = *first->plan_decode(available, wanted);
  first = Codec::create(spec_of("cauchy", 4, 2), {.backend = "reference"});
  Bytes zero(333), four(333);
  ASSERT_TRUE(first->decode(plan, shards.picked(plan.reads()), std::vector<Shard>{zero, four}));
  EXPECT_EQ(zero, shards.all[0]);
  EXPECT_EQ(four, shards.all[4]);
}

TEST(Codec, PlansComeFromTheCacheOnce) {
  const Codec codec = *Codec::create(spec_of("cauchy", 4, 2), {.plan_cache_entries = 2});
  const std::vector<ShardIndex> available = {1, 2, 3, 4};
  const std::vector<ShardIndex> wanted = {0};
  const Plan one = *codec.plan_decode(available, wanted);
  const Plan two = *codec.plan_decode(available, wanted);
  EXPECT_EQ(one.coefficients().data(), two.coefficients().data());
  const Codec without = *Codec::create(spec_of("cauchy", 4, 2), {.plan_cache_entries = 0});
  EXPECT_NE(without.plan_decode(available, wanted)->coefficients().data(),
            without.plan_decode(available, wanted)->coefficients().data());
}

TEST(Codec, ThreadsGiveTheSameBytes) {
  for (const char* profile : {"cauchy", "hybrid-good"}) {
    const Codec one = *Codec::create(spec_of(profile, 6, 3));
    const Codec three = *Codec::create(spec_of(profile, 6, 3), {.threads = 3});
    EXPECT_EQ(three.threads(), 3U);
    for (const std::size_t bytes : {0UL, 1UL, 100'001UL, 1'000'003UL}) {
      EXPECT_EQ(Shards(one, bytes).all, Shards(three, bytes).all) << profile << bytes;
    }
  }
  EXPECT_GE(Codec::create(spec_of("cauchy", 2, 1), {.threads = threads_all})->threads(), 1U);
}

TEST(Codec, EffortAndBackendGiveTheSameBytes) {
  CodeSpec spec = spec_of("hybrid-good", 7, 3);
  spec.word_bits = 4;
  spec.packet_bytes = 64;
  const Codec plain = *Codec::create(spec, {.backend = "reference"});
  for (const Effort effort : {Effort::fast, Effort::standard, Effort::thorough}) {
    for (const char* backend : {"auto", "cpu", "cpu:scalar"}) {
      const Codec codec = *Codec::create(spec, {.backend = backend, .effort = effort});
      for (const std::size_t bytes : {0UL, 1UL, 255UL, 256UL, 257UL, 4096UL}) {
        EXPECT_EQ(Shards(codec, bytes).all, Shards(plain, bytes).all) << backend << " " << bytes;
      }
    }
  }
  EXPECT_EQ(Codec::create(spec, {.effort = Effort{7}}).error().message,
            "effort is 7; expected fast (0), standard (1) or thorough (2)");
}

TEST(Codec, PacketsWithARaggedEndAreRebuilt) {
  CodeSpec spec = spec_of("cauchy", 5, 3);
  spec.layout = Layout::packets;
  spec.word_bits = 4;
  spec.packet_bytes = 8;
  const Codec codec = *Codec::create(spec);
  EXPECT_EQ(codec.parity_bytes(41), 44U);
  for (std::size_t bytes = 0; bytes <= 150; ++bytes) {
    const Shards shards(codec, bytes, unsigned(bytes));
    const std::vector<ShardIndex> available = {1, 3, 5, 6, 7};
    const std::vector<ShardIndex> wanted = {0, 2, 4};
    const Plan plan = *codec.plan_decode(available, wanted);
    std::vector<Bytes> rebuilt(3, Bytes(bytes));
    ASSERT_TRUE(codec.decode(plan, shards.picked(plan.reads()),
                             std::vector<Shard>(rebuilt.begin(), rebuilt.end())));
    for (std::size_t i = 0; i < 3; ++i)
      ASSERT_EQ(rebuilt[i], shards.all[wanted[i]]) << bytes;
  }
}

TEST(Codec, JerasurePacketsTakeWholeGroupsOnly) {
  CodeSpec spec = spec_of("cauchy-good", 4, 2);
  spec.packet_bytes = 16;
  const Codec codec = *Codec::create(spec);
  EXPECT_EQ(codec.shard_bytes_multiple(), 128U);
  std::vector<Bytes> all(6, Bytes(127));
  EXPECT_EQ(codec
                .encode(std::vector<ConstShard>(all.begin(), all.begin() + 4),
                        std::vector<Shard>(all.begin() + 4, all.end()))
                .error()
                .code,
            ErrorCode::invalid_argument);
}

TEST(Codec, VerifyNamesTheParityThatDoesNotMatch) {
  for (const char* profile : {"cauchy", "hybrid-good"}) {
    const Codec codec = *Codec::create(spec_of(profile, 6, 3));
    Shards shards(codec, 70'001);
    const auto wrong = [&] {
      const std::vector<ConstShard> parity(shards.all.begin() + 6, shards.all.end());
      return *codec.verify(shards.data(), parity);
    };
    EXPECT_TRUE(wrong().empty());
    shards.all[7][69'999] ^= std::byte{1};
    EXPECT_EQ(wrong(), std::vector<ShardIndex>{7});
    shards.all[2][5] ^= std::byte{1};
    EXPECT_EQ(wrong().size(), 3U);
  }
}

TEST(Codec, CodableRangeIsTheRangeOrItsGroups) {
  const Codec bytes = *Codec::create(spec_of("cauchy", 4, 2));
  EXPECT_EQ(bytes.codable_range({.offset = 7, .bytes = 9}, 100), (ByteRange{7, 9}));
  CodeSpec spec = spec_of("cauchy", 4, 2);
  spec.layout = Layout::packets;
  spec.packet_bytes = 10;  // groups of 80
  const Codec packets = *Codec::create(spec);
  EXPECT_EQ(packets.codable_range({.offset = 85, .bytes = 9}, 1000), (ByteRange{80, 80}));
  EXPECT_EQ(packets.codable_range({.offset = 79, .bytes = 2}, 1000), (ByteRange{0, 160}));
  EXPECT_EQ(packets.codable_range({.offset = 961, .bytes = 9}, 1000), (ByteRange{960, 40}));
}

TEST(Galois, FieldForCallersMatrices) {
  const GaloisField field = *GaloisField::create();
  EXPECT_EQ(*field.multiply(2, 0x80), 0x1D);
  EXPECT_EQ(*field.multiply(*field.inverse(7), 7), 1);
  EXPECT_FALSE(field.inverse(0));
  EXPECT_FALSE(field.multiply(256, 1));
  EXPECT_FALSE(GaloisField::create(9));
  const std::vector<std::uint16_t> matrix = {1, 1, 1, 2};
  const auto inverse = field.invert_matrix(matrix, 2);
  ASSERT_TRUE(inverse);
  EXPECT_EQ(*field.invert_matrix(*inverse, 2), matrix);
  EXPECT_EQ(field.invert_matrix(std::vector<std::uint16_t>{1, 1, 1, 1}, 2).error().code,
            ErrorCode::unrecoverable);
  const std::vector<std::uint16_t> with_more = {1, 1, 1, 2, 0xFFFF};
  const auto without = field.invert_matrix(std::span(with_more).first(4), 2);
  ASSERT_TRUE(without) << "reads past the matrix: " << without.error().message;
  EXPECT_EQ(*without, *inverse);
}

}  // namespace
}  // namespace calpe
