// SPDX-License-Identifier: Apache-2.0
// Calls at the limits of their arguments: nothing to do, parity only, more stripes than one batch
// holds, adjacent pieces, wrong bytes after clean ones, and queries about invalid codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include <calpe/codec.hpp>
#include <calpe/matrix_product.hpp>

#include "support/random_choice.hpp"

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;
using Indices = std::vector<ShardIndex>;
using ::testing::HasSubstr;

template <class Outcome>
std::string refusal(const Outcome& outcome) {
  return outcome ? "accepted" : outcome.error().message;
}

CodeSpec bytes_of(std::uint16_t data, std::uint16_t parity) {
  return {.family = CodeFamily::hybrid, .data_shards = data, .parity_shards = parity};
}

CodeSpec packets_of(std::uint16_t data, std::uint16_t parity) {
  return {.family = CodeFamily::cauchy,
          .layout = Layout::packets,
          .data_shards = data,
          .parity_shards = parity,
          .word_bits = 4,
          .packet_bytes = 8};
}

// A stripe with its parity.
struct Stripe1 {
  Stripe1(const Codec& codec, std::size_t bytes, std::uint64_t seed = 1) {
    const std::size_t k = codec.spec().data_shards;
    conformance::Random random(seed);
    for (std::size_t i = 0; i < k + codec.spec().parity_shards; ++i) {
      shards.emplace_back(i < k ? bytes : codec.parity_bytes(bytes));
      if (i < k) random.fill(shards.back());
    }
    EXPECT_TRUE(codec.encode(data(k), parity(k)));
  }
  std::vector<ConstShard> data(std::size_t k) const {
    return {shards.begin(), shards.begin() + static_cast<std::ptrdiff_t>(k)};
  }
  std::vector<Shard> parity(std::size_t k) {
    return {shards.begin() + static_cast<std::ptrdiff_t>(k), shards.end()};
  }
  std::vector<ConstShard> all() const { return {shards.begin(), shards.end()}; }
  std::vector<Bytes> shards;
};

TEST(CodecEdges, APlanForNothingDoesNothing) {
  for (const CodeSpec& spec : {bytes_of(4, 2), packets_of(4, 2)}) {
    const Codec codec = *Codec::create(spec);
    const auto plan = codec.plan_decode(Indices{0, 1, 2, 3}, Indices{});
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->reads().empty());
    EXPECT_TRUE(plan->writes().empty());
    EXPECT_TRUE(codec.run(*plan, {}, {}));
    EXPECT_TRUE(codec.run_pieces(*plan, {}, {}));
    EXPECT_EQ(refusal(codec.run(*plan, std::vector<ConstShard>(1), {})),
              "inputs has 1 shards; expected 0");
  }
}

// No data shard determines the length, so that of parity must be a valid parity length.
TEST(CodecEdges, ParityFromParityAlone) {
  const Codec codec = *Codec::create(packets_of(2, 3));
  const auto plan = codec.plan_decode(Indices{2, 3}, Indices{4});
  ASSERT_TRUE(plan);
  Stripe1 stripe(codec, 40);
  Bytes rebuilt(40);
  const std::vector<ConstShard> inputs = {stripe.shards[2], stripe.shards[3]};
  const std::vector<Shard> outputs = {rebuilt};
  ASSERT_TRUE(codec.run(*plan, inputs, outputs));
  EXPECT_EQ(rebuilt, stripe.shards[4]);
  const std::vector<ConstShard> odd = {inputs[0].first(39), inputs[1].first(39)};
  const std::vector<Shard> odd_outputs = {outputs[0].first(39)};
  EXPECT_EQ(refusal(codec.run(*plan, odd, odd_outputs)),
            "inputs[0] has 39 bytes; expected a multiple of 4 with layout packets");
  const std::vector<ConstShardPieces> pieces = {{&odd[0], 1}, {&odd[1], 1}};
  const std::vector<ShardPieces> written = {{&odd_outputs[0], 1}};
  EXPECT_THAT(refusal(codec.run_pieces(*plan, pieces, written)), HasSubstr("multiple of 4"));
}

TEST(CodecEdges, JerasurePacketsHaveWholeGroups) {
  CodeSpec spec = *find_profile("cauchy-good");
  spec.data_shards = 3;
  spec.parity_shards = 2;
  spec.packet_bytes = 8;
  const Codec codec = *Codec::create(spec);
  std::vector<Bytes> shards(5, Bytes(72));
  const std::vector<ConstShard> data(shards.begin(), shards.begin() + 3);
  const std::vector<Shard> parity(shards.begin() + 3, shards.end());
  EXPECT_EQ(refusal(codec.encode(data, parity)),
            "data[0] has 72 bytes; expected a multiple of 64 as Jerasure does");
}

// More stripes of one length than go to the device at once, and a batch for each length.
TEST(CodecEdges, AnyNumberOfStripes) {
  for (const CodeSpec& spec : {bytes_of(4, 2), bytes_of(2, 5), packets_of(4, 2)}) {
    for (const unsigned threads : {1U, 3U}) {
      const Codec codec = *Codec::create(spec, {.threads = threads});
      const std::size_t k = spec.data_shards;
      std::vector<Stripe1> stripes;
      for (std::size_t i = 0; i < 300; ++i)
        stripes.emplace_back(codec, i < 280 ? 640 : 600 + i, i);
      std::vector<Bytes> expected;
      std::vector<std::vector<ConstShard>> inputs;
      std::vector<std::vector<Shard>> outputs;
      std::vector<Stripe> list;
      for (Stripe1& stripe : stripes) {
        inputs.push_back(stripe.data(k));
        outputs.push_back(stripe.parity(k));
        for (const Shard& parity : outputs.back()) {
          expected.emplace_back(parity.begin(), parity.end());
          std::ranges::fill(parity, std::byte{0xEE});
        }
      }
      for (std::size_t i = 0; i < stripes.size(); ++i)
        list.push_back({.inputs = inputs[i], .outputs = outputs[i]});
      ASSERT_TRUE(codec.run_batch(codec.plan_encode(), list));
      std::size_t next = 0;
      for (const auto& parities : outputs) {
        for (const Shard& parity : parities)
          ASSERT_TRUE(std::ranges::equal(parity, expected[next++])) << next;
      }
    }
  }
}

TEST(CodecEdges, OverlappingPiecesAreRefused) {
  const Codec codec = *Codec::create(bytes_of(2, 2));
  Bytes memory(400);
  const Shard all(memory);
  const std::vector<ConstShard> data = {all.first(40), all.subspan(40, 40)};
  const std::vector<ConstShardPieces> inputs = {{&data[0], 1}, {&data[1], 1}};
  const auto outcome = [&](const std::vector<Shard>& first, const std::vector<Shard>& second) {
    const std::vector<ShardPieces> outputs = {first, second};
    return refusal(codec.run_pieces(codec.plan_encode(), inputs, outputs));
  };
  const std::vector<Shard> second = {all.subspan(200, 40)};
  EXPECT_EQ(outcome({all.subspan(100, 20), all.subspan(120, 20)}, second), "accepted");
  EXPECT_EQ(outcome({all.subspan(100, 20), all.subspan(119, 20)}, second),
            "outputs[0][1] overlaps outputs[0][0]; expected separate memory");
  EXPECT_EQ(outcome({all.subspan(100, 20), all.subspan(239, 20)}, second),
            "outputs[1][0] overlaps outputs[0][1]; expected separate memory");
  EXPECT_EQ(outcome({all.subspan(79, 20), all.subspan(120, 20)}, second),
            "outputs[0][0] overlaps inputs[1][0]; expected separate memory");
  // An empty piece overlaps nothing, wherever it lies.
  EXPECT_EQ(
      outcome({all.subspan(100, 20), all.subspan(110, 0), all.subspan(60, 0), all.subspan(120, 20)},
              {all.subspan(200, 40), all.subspan(105, 0)}),
      "accepted");
}

TEST(CodecEdges, EmptyShardsOverlapNothing) {
  const Codec codec = *Codec::create(bytes_of(2, 2));
  Bytes memory(10);
  const Shard inside = Shard(memory).subspan(5, 0);
  const std::vector<ConstShard> data(2, inside);
  const std::vector<Shard> parity(2, inside);
  EXPECT_TRUE(codec.encode(data, parity));
  std::vector<std::byte> target(4, std::byte{1});
  EXPECT_THAT(refusal(add(target, Shard(target).first(3))), HasSubstr("expected 4"));
  EXPECT_THAT(refusal(add(target, target)), HasSubstr("overlaps"));
}

// In the last symbol, in any bit, of any shard; and twice, far apart.
TEST(CodecEdges, WrongSymbolsAreLocatedWhereverTheyAre) {
  CodeSpec lrc = *find_profile("lrc");
  lrc.data_shards = 6;
  lrc.parity_shards = 6;
  lrc.local_groups = 2;
  for (const CodeSpec& spec : {bytes_of(6, 4), packets_of(6, 4), lrc}) {
    const Codec codec = *Codec::create(spec);
    const Stripe1 sound(codec, 40'000);
    EXPECT_TRUE(codec.locate(sound.all())->empty());
    for (std::size_t shard = 0; shard < sound.shards.size(); ++shard) {
      Stripe1 stripe = sound;
      stripe.shards[shard].back() ^= std::byte{0x10};
      EXPECT_EQ(*codec.locate(stripe.all()), Indices{static_cast<ShardIndex>(shard)});
    }
    Stripe1 stripe = sound;
    stripe.shards[1].back() ^= std::byte{0x80};
    stripe.shards[7].front() ^= std::byte{0x02};
    EXPECT_EQ(*codec.locate(stripe.all()), (Indices{1, 7}));
    stripe.shards[0][5] ^= std::byte{1};
    stripe.shards[2][5] ^= std::byte{4};
    stripe.shards[3][5] ^= std::byte{2};
    const auto located = codec.locate(stripe.all());
    ASSERT_FALSE(located);
    EXPECT_EQ(located.error().code, ErrorCode::ambiguous);
  }
}

TEST(CodecEdges, UpdatesOfSomeParityInAnyOrder) {
  for (const CodeSpec& spec : {bytes_of(4, 3), packets_of(4, 3)}) {
    const Codec codec = *Codec::create(spec);
    Stripe1 stripe(codec, 96);
    Stripe1 changed = stripe;
    Bytes delta(20, std::byte{0x5A});
    for (std::size_t i = 0; i < delta.size(); ++i)
      changed.shards[2][50 + i] ^= delta[i];
    ASSERT_TRUE(codec.encode(changed.data(4), changed.parity(4)));
    const Indices named = {6, 4};
    const Codec::Change change = {
        .data_index = 2, .offset = 50, .shard_bytes = 96, .parity_indices = named};
    const std::vector<Shard> parity = {stripe.shards[6], stripe.shards[4]};
    const Bytes before = stripe.shards[5];
    ASSERT_TRUE(codec.update(change, delta, parity));
    EXPECT_EQ(stripe.shards[4], changed.shards[4]);
    EXPECT_EQ(stripe.shards[5], before);
    EXPECT_EQ(stripe.shards[6], changed.shards[6]);
    const std::vector<Shard> shorter = {parity[0], parity[1].first(92)};
    EXPECT_THAT(refusal(codec.update(change, delta, shorter)), HasSubstr("92 bytes; expected 96"));
    EXPECT_THAT(
        refusal(codec.update({.data_index = 2, .offset = 0, .shard_bytes = 96}, delta, parity)),
        HasSubstr("parity has 2 shards; expected 3"));
  }
}

TEST(CodeQueries, RefuseInvalidCodes) {
  EXPECT_THAT(refusal(find_profile("hybrids")), HasSubstr("profile is hybrids; expected one of "));
  EXPECT_THAT(refusal(find_profile("custom")), HasSubstr("expected one of "));
  const CodeSpec none = bytes_of(0, 2);
  EXPECT_EQ(refusal(prove(none)), "data_shards is 0; expected at least 1");
  EXPECT_EQ(refusal(parity_rows(none)), "data_shards is 0; expected at least 1");
  EXPECT_EQ(refusal(count_recoverable(none)), "data_shards is 0; expected at least 1");
  // Too many patterns for one number of losses, and for all together.
  EXPECT_EQ(refusal(count_recoverable(bytes_of(100, 20))),
            "k + m is 120, which has more than 10000000 loss patterns");
  EXPECT_EQ(refusal(count_recoverable(bytes_of(40, 6))),
            "k + m is 46, which has more than 10000000 loss patterns");
}

TEST(MatrixProduct, UnpackedRowsAndEmptyShards) {
  const std::vector<std::uint8_t> cells = {1, 2, 99, 3, 1, 99};
  const CoefficientMatrix matrix = {
      .cells = cells.data(), .rows = 2, .columns = 2, .column_stride = 1, .row_stride = 3};
  const CoefficientMatrix every_second = {
      .cells = cells.data(), .rows = 1, .columns = 2, .column_stride = 3};
  Bytes a(9, std::byte{1});
  Bytes b(9, std::byte{2});
  Bytes x(9);
  Bytes y(9);
  const std::vector<const std::byte*> inputs = {a.data(), b.data()};
  const std::vector<std::byte*> outputs = {x.data(), y.data()};
  ASSERT_TRUE(apply_matrix(matrix, inputs.data(), outputs.data(), 9, {}));
  EXPECT_EQ(x, Bytes(9, std::byte{1 ^ 4}));
  EXPECT_EQ(y, Bytes(9, std::byte{3 ^ 2}));
  ASSERT_TRUE(apply_matrix(every_second, inputs.data(), outputs.data(), 9, {}));
  EXPECT_EQ(x, Bytes(9, std::byte{1 ^ 6}));
  const std::vector<const std::byte*> nulls(2, nullptr);
  EXPECT_TRUE(apply_matrix(matrix, nulls.data(), outputs.data(), 0, {}));
}

}  // namespace
}  // namespace calpe
