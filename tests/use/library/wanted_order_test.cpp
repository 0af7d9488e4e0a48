// SPDX-License-Identifier: Apache-2.0
// Outputs come in the order of the wanted shards: all ordered lists of 4+3, and shuffled ones of
// codes that are planned or run differently (lrc, wide LCH, a cached plan).
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "use/library/seed.hpp"

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;
using Indices = std::vector<ShardIndex>;

class Order {
 public:
  explicit Order(const CodeSpec& spec, const CodecOptions& options = {})
      : codec_(*Codec::create(spec, options)),
        shards_(std::size_t{spec.data_shards} + spec.parity_shards) {
    std::minstd_rand random(use::seed());
    for (std::size_t i = 0; i < shards_; ++i) {
      stripe_.emplace_back(bytes_of(i));
      if (i >= spec.data_shards) continue;
      for (std::byte& byte : stripe_.back())
        byte = static_cast<std::byte>(random() >> 8);
    }
    std::vector<ConstShard> data(stripe_.begin(), stripe_.begin() + spec.data_shards);
    std::vector<Shard> parity(stripe_.begin() + spec.data_shards, stripe_.end());
    EXPECT_TRUE(codec_.encode(data, parity));
  }

  std::size_t shards() const { return shards_; }
  const Codec& codec() const { return codec_; }

  void rebuild(const Indices& wanted) {
    SCOPED_TRACE("wanted " + testing::PrintToString(wanted));
    Indices available;
    for (std::size_t i = 0; i < shards_; ++i) {
      const auto shard = static_cast<ShardIndex>(i);
      if (std::ranges::find(wanted, shard) == wanted.end()) available.push_back(shard);
    }
    const Result<Plan> plan = codec_.plan_decode(available, wanted);
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_TRUE(std::ranges::equal(plan->writes(), wanted));
    ASSERT_TRUE(std::ranges::is_sorted(plan->reads()));
    std::vector<ConstShard> inputs;
    std::vector<std::array<ConstShard, 2>> cut_inputs;
    for (const ShardIndex shard : plan->reads()) {
      const ConstShard whole = stripe_[shard];
      inputs.push_back(whole);
      cut_inputs.push_back({whole.first(100), whole.subspan(100)});
    }
    std::vector<Bytes> rebuilt;
    for (const ShardIndex shard : wanted)
      rebuilt.emplace_back(bytes_of(shard));
    std::vector<Shard> outputs(rebuilt.begin(), rebuilt.end());
    std::vector<std::array<Shard, 2>> cut_outputs;
    for (const Shard output : outputs)
      cut_outputs.push_back({output.first(100), output.subspan(100)});
    const std::vector<ConstShardPieces> input_pieces(cut_inputs.begin(), cut_inputs.end());
    const std::vector<ShardPieces> output_pieces(cut_outputs.begin(), cut_outputs.end());
    const Stripe one{.inputs = inputs, .outputs = outputs};

    const auto is_right = [&](const Status& done) {
      const bool right = done && std::ranges::equal(wanted, rebuilt, [&](auto shard, auto& bytes) {
                           return bytes == stripe_[shard];
                         });
      for (Bytes& bytes : rebuilt)
        std::ranges::fill(bytes, std::byte{0xA5});
      ++runs;
      return right;
    };
    EXPECT_TRUE(is_right(codec_.run(*plan, inputs, outputs)));
    EXPECT_TRUE(is_right(codec_.decode(*plan, inputs, outputs)));
    EXPECT_TRUE(is_right(codec_.run_batch(*plan, {&one, 1})));
    EXPECT_TRUE(is_right(codec_.run_pieces(*plan, input_pieces, output_pieces)));
    Result<Pending> pending = codec_.submit(*plan, {&one, 1});
    ASSERT_TRUE(pending);
    EXPECT_TRUE(is_right(pending->wait()));
  }

  // update() and plan_update() use the caller's order of parity shards.
  void update(const Indices& parity) {
    SCOPED_TRACE("parity " + testing::PrintToString(parity));
    std::vector<Bytes> changed = stripe_;
    const Bytes delta(bytes_of(0), std::byte{0x3C});
    const Result<Plan> plan = codec_.plan_update(1, parity);
    ASSERT_TRUE(plan);
    ASSERT_TRUE(std::ranges::equal(plan->writes(), parity));
    std::vector<Shard> outputs;
    for (const ShardIndex shard : parity)
      outputs.emplace_back(changed[shard]);
    const ConstShard input = delta;
    ASSERT_TRUE(codec_.run(*plan, {&input, 1}, outputs, {.accumulate = true}));
    std::vector<Bytes> expected = stripe_;
    for (std::byte& byte : expected[1])
      byte ^= std::byte{0x3C};
    const std::size_t k = codec_.spec().data_shards;
    const auto first_parity = static_cast<std::ptrdiff_t>(k);
    std::vector<ConstShard> data(expected.begin(), expected.begin() + first_parity);
    std::vector<Shard> all(expected.begin() + first_parity, expected.end());
    ASSERT_TRUE(codec_.encode(data, all));
    for (std::size_t i = k; i < shards_; ++i) {
      const bool is_named = std::ranges::find(parity, i) != parity.end();
      EXPECT_TRUE(changed[i] == (is_named ? expected[i] : stripe_[i])) << "parity " << i;
    }
    // Applying update() twice restores the original.
    const Codec::Change change{
        .data_index = 1, .shard_bytes = bytes_of(0), .parity_indices = parity};
    ASSERT_TRUE(codec_.update(change, delta, outputs));
    EXPECT_TRUE(
        std::equal(changed.begin() + first_parity, changed.end(), stripe_.begin() + first_parity));
    ++runs;
  }

  unsigned runs = 0;

 private:
  std::size_t bytes_of(std::size_t shard) const {
    constexpr std::size_t shard_bytes = 515;
    return shard < codec_.spec().data_shards ? shard_bytes : codec_.parity_bytes(shard_bytes);
  }

  Codec codec_;
  std::size_t shards_;
  std::vector<Bytes> stripe_;
};

// Calls `each` with every ordered list of 1 to `most` numbers of [first, end).
template <class Each>
void for_every_list(ShardIndex first, ShardIndex end, std::size_t most, Indices& list,
                    const Each& each) {
  if (!list.empty()) each(list);
  if (list.size() == most) return;
  for (ShardIndex shard = first; shard < end; ++shard) {
    if (std::ranges::find(list, shard) != list.end()) continue;
    list.push_back(shard);
    for_every_list(first, end, most, list, each);
    list.pop_back();
  }
}

void try_every_list(const CodeSpec& spec, std::size_t losses) {
  Order order(spec);
  Indices list;
  const auto end = static_cast<ShardIndex>(order.shards());
  for_every_list(0, end, losses, list, [&](const Indices& wanted) { order.rebuild(wanted); });
  for_every_list(static_cast<ShardIndex>(spec.data_shards), end, spec.parity_shards, list,
                 [&](const Indices& parity) { order.update(parity); });
  std::cout << order.runs << " runs\n";
}

TEST(WantedOrder, EveryListOf4And3) {
  for (const Layout layout : {Layout::bytes, Layout::packets}) {
    try_every_list(
        {.family = CodeFamily::cauchy, .layout = layout, .data_shards = 4, .parity_shards = 3}, 3);
  }
}

TEST(WantedOrder, EveryListOfALocalCode) {
  try_every_list(
      {.family = CodeFamily::lrc, .data_shards = 4, .parity_shards = 4, .local_groups = 2}, 3);
}

// Here, rows of parity and of data are transforms.
TEST(WantedOrder, ShuffledListsOfWideCodes) {
  std::minstd_rand random(use::seed());
  for (const auto& [data, parity] : {std::pair(20, 8), std::pair(48, 12), std::pair(64, 32)}) {
    CodeSpec spec{.family = CodeFamily::lch};
    spec.data_shards = static_cast<std::uint16_t>(data);
    spec.parity_shards = static_cast<std::uint16_t>(parity);
    Order order(spec);
    for (int round = 0; round < 20; ++round) {
      Indices all(order.shards());
      std::iota(all.begin(), all.end(), ShardIndex{0});
      if (round % 2 == 0) all.erase(all.begin(), all.begin() + data);  // only parity: an encode
      std::ranges::shuffle(all, random);
      all.resize(static_cast<std::size_t>(parity));
      order.rebuild(all);
    }
    std::cout << order.runs << " runs, seed " << use::seed() << "\n";
  }
}

TEST(WantedOrder, AShardThatIsNamedTwiceIsRefused) {
  const Order order({.data_shards = 4, .parity_shards = 3});
  const Indices available = {0, 1, 2, 3, 4, 5};
  const auto plan = order.codec().plan_decode(available, Indices{6, 2, 6});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::invalid_argument);
  const auto update = order.codec().plan_update(0, Indices{5, 5});
  ASSERT_FALSE(update);
  EXPECT_EQ(update.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace calpe
