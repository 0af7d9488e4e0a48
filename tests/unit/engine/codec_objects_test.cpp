// SPDX-License-Identifier: Apache-2.0
// Objects of any length: the same parity as padded shards, and the object again after every loss.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include <calpe/codec.hpp>

#include "support/random_choice.hpp"

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;
using Indices = std::vector<ShardIndex>;

template <class Outcome>
std::string refusal(const Outcome& outcome) {
  return outcome ? "accepted" : outcome.error().message;
}

CodeSpec packets_of(CodeFamily family, std::uint32_t data, std::uint32_t parity) {
  return {.family = family,
          .layout = Layout::packets,
          .data_shards = data,
          .parity_shards = parity,
          .word_bits = 4,
          .packet_bytes = 8};
}

std::vector<CodeSpec> specs() {
  return {{.data_shards = 4, .parity_shards = 2},
          {.data_shards = 1, .parity_shards = 2},
          {.data_shards = 7, .parity_shards = 5},
          {.family = CodeFamily::lrc, .data_shards = 4, .parity_shards = 3, .local_groups = 2},
          packets_of(CodeFamily::cauchy, 3, 2),
          packets_of(CodeFamily::cauchy_good, 3, 2)};
}

// An object, its parity, and bytes around both that no call may touch.
class Coded {
 public:
  Coded(const Codec& codec, std::size_t object_bytes, std::size_t shard_bytes)
      : codec_(codec), shard_bytes_(shard_bytes), memory_(object_bytes + 2 * guard) {
    conformance::Random(object_bytes + 1).fill(memory_);
    before_ = memory_;
    parity.assign(codec.spec().parity_shards, Bytes(codec.parity_bytes(shard_bytes)));
  }
  Shard object() { return std::span(memory_).subspan(guard, memory_.size() - 2 * guard); }
  std::vector<Shard> outputs() { return {parity.begin(), parity.end()}; }
  std::vector<ConstShard> inputs() const { return {parity.begin(), parity.end()}; }
  bool is_unchanged() const { return memory_ == before_; }

  Status encode(RunOptions options = {}) {
    return codec_.encode_object(object(), shard_bytes_, outputs(), options);
  }
  // The parity of shards that are filled up with zeros.
  std::vector<Bytes> padded_parity() {
    const std::size_t k = codec_.spec().data_shards;
    Bytes all(k * shard_bytes_);
    std::ranges::copy(object(), all.begin());
    std::vector<ConstShard> data;
    for (std::size_t i = 0; i < k; ++i)
      data.push_back(std::span(all).subspan(i * shard_bytes_, shard_bytes_));
    std::vector<Bytes> made(parity.size(), Bytes(codec_.parity_bytes(shard_bytes_)));
    const std::vector<Shard> to(made.begin(), made.end());
    EXPECT_TRUE(codec_.encode(data, to));
    return made;
  }
  // Loses data shards, and rebuilds them from the rest.
  Status lose(const Indices& lost, const Indices& available) {
    std::vector<Shard> data(codec_.spec().data_shards);
    EXPECT_TRUE(codec_.split(object(), shard_bytes_, data));
    for (const ShardIndex i : lost)
      std::ranges::fill(data[i], std::byte{0xEE});
    const auto plan = codec_.plan_decode(available, lost);
    if (!plan) return plan.error();
    std::vector<ConstShard> read(parity.size());
    for (const ShardIndex i : plan->reads())
      if (i >= data.size()) read[i - data.size()] = parity[i - data.size()];
    return codec_.decode_object(*plan, object(), shard_bytes_, read);
  }

  std::vector<Bytes> parity;

 private:
  static constexpr std::size_t guard = 64;
  const Codec& codec_;
  std::size_t shard_bytes_;
  Bytes memory_;
  Bytes before_;
};

std::vector<std::size_t> shard_lengths(const Codec& codec, std::size_t object_bytes) {
  const std::size_t least = codec.shard_bytes_for(object_bytes);
  const std::size_t multiple = codec.shard_bytes_multiple();
  return {least, least + multiple, 3 * least + 5 * multiple};
}

TEST(CodecObjects, ShardBytesAreTheFewestThatHoldTheObject) {
  for (const CodeSpec& spec : specs()) {
    const Codec codec = *Codec::create(spec);
    const std::size_t multiple = codec.shard_bytes_multiple();
    EXPECT_EQ(codec.shard_bytes_for(0), 0U);
    for (std::size_t bytes = 1; bytes < 300; ++bytes) {
      const std::size_t each = codec.shard_bytes_for(bytes);
      EXPECT_EQ(each % multiple, 0U);
      EXPECT_GE(each * spec.data_shards, bytes);
      EXPECT_LT((each - multiple) * spec.data_shards, bytes);
    }
    // Lengths that no memory has do not wrap around.
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    EXPECT_GE(codec.shard_bytes_for(most), most / spec.data_shards);
  }
}

TEST(CodecObjects, SplitCoversTheObject) {
  const Codec codec = *Codec::create({.data_shards = 4, .parity_shards = 2});
  Bytes object(10);
  std::vector<ConstShard> data(4);
  ASSERT_TRUE(codec.split(object, 3, data));
  EXPECT_EQ(data[0].data(), object.data());
  EXPECT_EQ(data[2].data(), object.data() + 6);
  EXPECT_EQ(data[3].size(), 1U);
  ASSERT_TRUE(codec.split(object, 5, data));
  EXPECT_EQ(data[1].size(), 5U);
  EXPECT_TRUE(data[2].empty() && data[2].data() == nullptr);
  EXPECT_TRUE(data[3].empty());
  ASSERT_TRUE(codec.split(object, std::size_t{1} << 62U, data));  // 4 times this wraps around
  EXPECT_EQ(data[0].size(), 10U);
  EXPECT_TRUE(data[1].empty() && data[3].empty());
  ASSERT_TRUE(codec.split(ConstShard(), 0, data));
  EXPECT_TRUE(data[0].empty());
  std::vector<Shard> writable(4);
  ASSERT_TRUE(codec.split(object, 3, writable));
  EXPECT_EQ(writable[1].data(), object.data() + 3);
}

TEST(CodecObjects, ParityIsThatOfPaddedShards) {
  for (const CodeSpec& spec : specs()) {
    for (const unsigned threads : {1U, 2U}) {
      const Codec codec = *Codec::create(spec, {.threads = threads});
      for (std::size_t bytes = 0; bytes < 260; bytes = bytes * 9 / 8 + 1) {
        for (const std::size_t shard_bytes : shard_lengths(codec, bytes)) {
          Coded coded(codec, bytes, shard_bytes);
          const Status done = coded.encode();
          ASSERT_TRUE(done) << done.error().message;
          ASSERT_EQ(coded.parity, coded.padded_parity()) << bytes << " in " << shard_bytes;
          ASSERT_TRUE(coded.is_unchanged());
          ASSERT_TRUE(coded.encode({.accumulate = true}));
          for (const Bytes& shard : coded.parity)
            EXPECT_EQ(std::ranges::count(shard, std::byte{0}), std::ranges::ssize(shard));
        }
      }
    }
  }
}

// Longer than the block of zeros and the staging area, and in several parts of a thread pool.
TEST(CodecObjects, LargeObjects) {
  for (const CodeSpec& spec : specs()) {
    const Codec codec = *Codec::create(spec, {.threads = 2});
    for (const std::size_t shard_bytes : shard_lengths(codec, 300'001)) {
      Coded coded(codec, 300'001, shard_bytes);
      ASSERT_TRUE(coded.encode());
      ASSERT_EQ(coded.parity, coded.padded_parity());
      Indices available;
      for (ShardIndex i = 1; i < spec.data_shards + spec.parity_shards; ++i)
        available.push_back(i);
      ASSERT_TRUE(coded.lose({0}, available));
      ASSERT_TRUE(coded.is_unchanged());
    }
  }
}

TEST(CodecObjects, EveryLossIsRebuiltInPlace) {
  for (const CodeSpec& spec : specs()) {
    const Codec codec = *Codec::create(spec);
    const std::size_t k = spec.data_shards;
    const std::size_t shards = k + spec.parity_shards;
    for (const std::size_t bytes : {0U, 1U, 5U, 33U, 96U, 100U, 193U}) {
      for (const std::size_t shard_bytes : shard_lengths(codec, bytes)) {
        Coded coded(codec, bytes, shard_bytes);
        ASSERT_TRUE(coded.encode());
        for (unsigned set = 1; set < 1U << shards; ++set) {
          Indices lost;
          Indices available;
          std::size_t losses = 0;
          for (ShardIndex i = 0; i < shards; ++i) {
            if ((set >> i & 1U) == 0) {
              available.push_back(i);
              continue;
            }
            ++losses;
            if (i < k) lost.push_back(i);
          }
          if (losses > codec.proof().losses) continue;
          const Status done = coded.lose(lost, available);
          ASSERT_TRUE(done) << done.error().message;
          ASSERT_TRUE(coded.is_unchanged()) << bytes << " in " << shard_bytes << ", set " << set;
        }
      }
    }
  }
}

// The results of partial plans add up in the object, also behind the end of a short shard.
TEST(CodecObjects, PartsOfAPlanAddUp) {
  for (const CodeSpec& spec :
       {CodeSpec{.data_shards = 4, .parity_shards = 2}, packets_of(CodeFamily::cauchy, 4, 2)}) {
    const Codec codec = *Codec::create(spec);
    Coded coded(codec, 90, 40);
    ASSERT_TRUE(coded.encode());
    std::vector<Shard> data(4);
    ASSERT_TRUE(codec.split(coded.object(), 40, data));
    std::ranges::fill(data[0], std::byte{0});
    std::ranges::fill(data[2], std::byte{0});
    const auto plan = codec.plan_decode(Indices{1, 3, 4, 5}, Indices{2, 0});
    ASSERT_TRUE(plan);
    for (const Indices& held : {Indices{1, 4}, Indices{3, 5}}) {
      const auto part = codec.plan_partial(*plan, held);
      ASSERT_TRUE(part);
      ASSERT_TRUE(
          codec.decode_object(*part, coded.object(), 40, coded.inputs(), {.accumulate = true}));
    }
    EXPECT_TRUE(coded.is_unchanged());
  }
}

TEST(CodecObjects, Refusals) {
  const Codec codec = *Codec::create({.data_shards = 4, .parity_shards = 2});
  Coded coded(codec, 10, 3);
  std::vector<ConstShard> three(3);
  EXPECT_EQ(refusal(codec.split(coded.object(), 3, three)), "data has 3 shards; expected 4");
  EXPECT_EQ(refusal(codec.encode_object(coded.object(), 2, coded.outputs())),
            "shard_bytes is 2; expected at least 3 as object has 10 bytes");
  EXPECT_EQ(refusal(codec.encode_object(coded.object(), 4, coded.outputs())),
            "parity[0] has 3 bytes; expected 4");
  EXPECT_EQ(refusal(codec.encode_object(coded.object(), 3, std::vector<Shard>(1))),
            "parity has 1 shards; expected 2");
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_THAT(refusal(codec.encode_object(coded.object(), most, coded.outputs())),
              ::testing::HasSubstr("shard_bytes is 18446744073709551615; expected at most"));
  const std::vector<Shard> inside = {coded.parity[0], coded.object().last(3)};
  EXPECT_EQ(refusal(codec.encode_object(coded.object(), 3, inside)),
            "parity[1] overlaps object; expected separate memory");
  const std::vector<Shard> twice = {coded.parity[0], coded.parity[0]};
  EXPECT_EQ(refusal(codec.encode_object(coded.object(), 3, twice)),
            "parity[1] overlaps parity[0]; expected separate memory");
  const Codec jerasure = *Codec::create(packets_of(CodeFamily::cauchy_good, 3, 2));
  EXPECT_EQ(refusal(jerasure.encode_object(coded.object(), 33, coded.outputs())),
            "shard_bytes is 33; expected a multiple of 32 as Jerasure does");

  const auto plan = codec.plan_decode(Indices{1, 2, 3, 4}, Indices{0});
  EXPECT_EQ(refusal(codec.decode_object(*plan, coded.object(), 3, std::vector<ConstShard>(2))),
            "parity[0] has 0 bytes; expected 3");
  EXPECT_EQ(refusal(codec.decode_object(*plan, coded.object(), 3, std::vector<ConstShard>(3))),
            "parity has 3 shards; expected 2");
  EXPECT_EQ(refusal(codec.decode_object(*plan, coded.object(), 2, coded.inputs())),
            "shard_bytes is 2; expected at least 3 as object has 10 bytes");
  EXPECT_EQ(refusal(codec.decode_object(codec.plan_encode(), coded.object(), 3, coded.inputs())),
            "plan writes parity shard 4; expected data shards only; encode_object() writes parity");
  EXPECT_EQ(refusal(codec.decode_object(*plan, coded.object(), 3,
                                        std::vector<ConstShard>{coded.object().first(3), {}})),
            "parity[0] overlaps object; expected separate memory");
  EXPECT_EQ(refusal(jerasure.decode_object(*plan, coded.object(), 32, coded.inputs())),
            "plan belongs to a codec of another spec");

  Codec gone = codec;
  const Codec kept = std::move(gone);
  std::vector<ConstShard> data(4);
  EXPECT_EQ(gone.shard_bytes_for(10), 0U);
  EXPECT_THAT(refusal(gone.split(coded.object(), 3, data)), ::testing::HasSubstr("moved from"));
  EXPECT_THAT(refusal(gone.encode_object(coded.object(), 3, coded.outputs())),
              ::testing::HasSubstr("moved from"));
  EXPECT_THAT(refusal(gone.decode_object(*plan, coded.object(), 3, coded.inputs())),
              ::testing::HasSubstr("moved from"));
}

}  // namespace
}  // namespace calpe
