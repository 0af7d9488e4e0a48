// SPDX-License-Identifier: Apache-2.0
// Shards in the caller's own types: every type gives the bytes that spans of spans give.
#include <algorithm>
#include <array>
#include <deque>
#include <gtest/gtest.h>
#include <string>

#include <calpe/codec.hpp>

namespace calpe {
namespace {

constexpr std::size_t shard_bytes = 100;
constexpr unsigned data_shards = 4;
constexpr unsigned parity_shards = 2;

using Vectors = std::vector<std::vector<std::byte>>;

template <class Byte>
std::vector<std::vector<Byte>> vectors(std::size_t count, unsigned first) {
  std::vector<std::vector<Byte>> made(count, std::vector<Byte>(shard_bytes));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < shard_bytes; ++b)
      made[i][b] = static_cast<Byte>((i + first) * 71 + b * b);
  }
  return made;
}

class ShardListTest : public testing::Test {
 protected:
  ShardListTest() : data_(vectors<std::byte>(data_shards, 0)) {
    const std::vector<ConstShard> from(data_.begin(), data_.end());
    const std::vector<Shard> to(right_.begin(), right_.end());
    EXPECT_TRUE(codec_.encode(from, to));
  }
  // Encodes into `parity`, whose shards must then be right.
  template <class Data, class Parity>
  void expect_encoded(const Data& data, Parity&& parity) {
    codec_.encode(data, parity).value();
    for (std::size_t i = 0; i < parity_shards; ++i) {
      const auto shard = as_shard(parity[i]);
      EXPECT_TRUE(std::ranges::equal(shard, right_[i])) << i;
      std::ranges::fill(shard, std::byte{});
    }
  }

  Codec codec_ =
      Codec::create({.data_shards = data_shards, .parity_shards = parity_shards}).value();
  Vectors data_;
  Vectors right_{parity_shards, std::vector<std::byte>(shard_bytes)};
};

TEST_F(ShardListTest, ListsOfOwners) {
  Vectors parity(parity_shards, std::vector<std::byte>(shard_bytes));
  expect_encoded(data_, parity);
  std::vector<std::vector<unsigned char>> chars(parity_shards,
                                                std::vector<unsigned char>(shard_bytes));
  expect_encoded(vectors<unsigned char>(data_shards, 0), chars);
  std::array<std::array<signed char, shard_bytes>, parity_shards> arrays = {};
  expect_encoded(data_, arrays);
  char table[parity_shards][shard_bytes] = {};
  expect_encoded(data_, table);
  std::deque<std::string> strings(parity_shards, std::string(shard_bytes, '?'));
  expect_encoded(vectors<char>(data_shards, 0), strings);
}

TEST_F(ShardListTest, ListsOfViews) {
  auto memory = vectors<unsigned char>(parity_shards, 9);
  std::vector<std::span<unsigned char>> views(memory.begin(), memory.end());
  expect_encoded(data_, std::span(views));
  expect_encoded(data_, std::span<const std::span<unsigned char>>(views));
  // Writable shards may be read, and plain spans may be combined with other types.
  std::vector<Shard> inputs(data_.begin(), data_.end());
  expect_encoded(inputs, views);
  const std::vector<ConstShard> plain(data_.begin(), data_.end());
  expect_encoded(plain, views);
}

TEST_F(ShardListTest, BaseAndStride) {
  std::vector<unsigned char> memory(8 * 128);
  for (unsigned i = 0; i < data_shards; ++i)
    std::ranges::copy(data_[i], as_shard(memory).begin() + i * 128);
  const std::vector<unsigned char> read_only = memory;
  std::vector<std::byte> packed(parity_shards * shard_bytes);
  expect_encoded(strided(memory.data(), data_shards, shard_bytes, 128),
                 strided(packed.data(), parity_shards, shard_bytes));
  expect_encoded(strided(read_only.data(), data_shards, shard_bytes, 128),
                 strided(&memory[512], parity_shards, shard_bytes, 128));
  const auto packed_input = strided(read_only.data(), 2, 5);
  EXPECT_EQ(packed_input.size(), 2U);
  EXPECT_EQ(packed_input[1].data(), as_shard(read_only).data() + 5);
}

TEST_F(ShardListTest, EveryCall) {
  Vectors shards = data_;
  shards.insert(shards.end(), right_.begin(), right_.end());
  const Vectors right = shards;
  const std::vector<ShardIndex> lost = {1, 4};
  std::ranges::fill(shards[1], std::byte{});
  shards[4].clear();
  shards[4].shrink_to_fit();  // has no buffer and is not rebuilt
  codec_.rebuild(shards, lost).value();
  EXPECT_EQ(shards[1], right[1]);
  EXPECT_TRUE(shards[4].empty());

  const Plan plan =
      codec_.plan_decode(std::vector<ShardIndex>{0, 2, 3, 5}, std::vector<ShardIndex>{1}).value();
  const Vectors survivors = {right[0], right[2], right[3], right[5]};
  Vectors rebuilt(1, std::vector<std::byte>(shard_bytes));
  codec_.decode(plan, survivors, rebuilt).value();
  EXPECT_EQ(rebuilt[0], right[1]);
  codec_.run(plan, survivors, rebuilt, {.accumulate = true}).value();
  EXPECT_EQ(rebuilt[0], std::vector<std::byte>(shard_bytes));

  EXPECT_TRUE(codec_.verify(data_, right_).value().empty());
  EXPECT_TRUE(codec_.locate(right).value().empty());
  Vectors wrong = right;
  wrong[2][7] ^= std::byte{1};
  EXPECT_EQ(codec_.locate(wrong).value(), std::vector<ShardIndex>{2});
  const std::vector<std::byte> change(3, std::byte{0x5a});
  Vectors parity = right_;
  codec_.update({.data_index = 2, .shard_bytes = shard_bytes}, change, parity).value();
  EXPECT_NE(parity, right_);
  const std::vector<std::byte> before(3);
  codec_.update({.data_index = 2, .shard_bytes = shard_bytes}, before, change, parity).value();
  EXPECT_EQ(parity, right_);
  wrong[5].clear();
  EXPECT_EQ(codec_.verify(wrong, right_).error().code, ErrorCode::invalid_argument);
}

TEST_F(ShardListTest, AnyNumberOfShards) {
  const Vectors many(300, std::vector<std::byte>(1));  // more than any code has, for now
  const ShardSpans<ConstShard> spans(many);
  ASSERT_TRUE(spans);
  ASSERT_EQ(spans.get().size(), 300U);
  EXPECT_EQ(spans.get()[299].data(), many[299].data());
  EXPECT_EQ(codec_.encode(many, right_).error().code, ErrorCode::invalid_argument);
}

TEST_F(ShardListTest, RefusesConstOutputs) {
  static_assert(OutputList<Vectors&> && !OutputList<const Vectors&> && InputList<const Vectors&>);
  static_assert(!OutputList<std::vector<ConstShard>&> && InputList<std::vector<Shard>&>);
  static_assert(!InputList<std::vector<std::vector<int>>&> && !InputList<std::vector<std::byte>&>);
}

TEST(EmptyPlan, IsRefusedEverywhere) {
  const Codec codec =
      Codec::create({.data_shards = data_shards, .parity_shards = parity_shards}).value();
  Plan plan;
  EXPECT_TRUE(plan.reads().empty());
  EXPECT_TRUE(plan.writes().empty());
  EXPECT_TRUE(plan.coefficients().empty());
  const auto refusal = [](const auto& outcome) { return outcome.error().message; };
  const std::string message = "plan is empty; expected one made by a codec";
  EXPECT_EQ(refusal(codec.run(plan, {}, {})), message);
  EXPECT_EQ(refusal(codec.decode(plan, {}, {})), message);
  EXPECT_EQ(refusal(codec.run_batch(plan, {})), message);
  EXPECT_EQ(refusal(codec.submit(plan, {})), message);
  EXPECT_EQ(refusal(codec.run_pieces(plan, {}, {})), message);
  EXPECT_EQ(refusal(codec.plan_partial(plan, {})), message);
  EXPECT_EQ(refusal(codec.decode_object(plan, {}, 0, {})), message);
  plan = codec.plan_encode();  // can be assigned to
  EXPECT_EQ(plan.reads().size(), data_shards);
}

}  // namespace
}  // namespace calpe
