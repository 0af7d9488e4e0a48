// SPDX-License-Identifier: Apache-2.0
// Shards that only a device can access, in the paths of the executor that stage on the host: ragged
// ends of packets, changes of packets, shards in pieces, and syndromes. A direct access faults.
#include <gtest/gtest.h>
#include <random>

#include "engine/compile.hpp"
#include "engine/devices/failover_device.hpp"
#include "engine/run/executor.hpp"
#include "engine/syndromes.hpp"
#include "plan/recipe.hpp"
#include "support/unruly_device.hpp"

namespace calpe::engine {
namespace {

using tests::Behaviour;
using tests::UnrulyDevice;

constexpr std::size_t k = 4;
constexpr std::size_t m = 2;

code::Code make_code(Layout layout) {
  CodeSpec spec = *find_profile("cauchy");
  spec.layout = layout;
  spec.data_shards = k;
  spec.parity_shards = m;
  if (layout == Layout::packets) spec.packet_bytes = 16;
  return *code::make_code(spec);
}

class FarMemory : public testing::TestWithParam<std::tuple<Layout, std::size_t>> {
 protected:
  FarMemory()
      : code_(make_code(std::get<0>(GetParam()))),
        lengths_{.data = std::get<1>(GetParam()),
                 .parity = parity_length(code_.spec, std::get<1>(GetParam()))},
        device_(std::make_unique<UnrulyDevice>(*backend::open_device("cpu"), behaviour_),
                *backend::open_device("cpu")),
        recipe_(plan::encode_recipe(code_)) {
    behaviour_->has_memory = true;
    kernel_ = *compile(code_, recipe_, device_, Effort::fast);
    task_ = {.kernel = kernel_.get(), .reads = recipe_.reads, .writes = recipe_.writes};
    std::mt19937 rng(4);
    for (std::size_t i = 0; i < k + m; ++i) {
      auto& shard = host_.emplace_back(i < k ? lengths_.data : lengths_.parity);
      for (std::byte& b : shard)
        b = std::byte(rng());
    }
    const Codec codec = *Codec::create(code_.spec, {.backend = "reference"});
    const std::vector<ConstShard> data(host_.begin(), host_.begin() + k);
    const std::vector<Shard> parity(host_.begin() + k, host_.end());
    EXPECT_TRUE(codec.encode(data, parity));
    for (const auto& shard : host_) {
      std::byte* const start = *device_.memory()->allocate(shard.size());
      EXPECT_TRUE(device_.memory()->copy(start, shard.data(), shard.size()));
      far_.emplace_back(start, shard.size());
    }
  }
  void clear_far_parity() {
    for (std::size_t i = k; i < k + m; ++i) {
      const std::vector<std::byte> zeros(far_[i].size());
      EXPECT_TRUE(device_.memory()->copy(far_[i].data(), zeros.data(), zeros.size()));
    }
  }
  void expect_far_parity() {
    for (std::size_t i = k; i < k + m; ++i) {
      std::vector<std::byte> found(far_[i].size());
      EXPECT_TRUE(device_.memory()->copy(found.data(), far_[i].data(), found.size()));
      EXPECT_EQ(found, host_[i]) << i;
    }
  }
  Executor executor() { return {code_.spec, device_, nullptr}; }

  const std::shared_ptr<Behaviour> behaviour_ = std::make_shared<Behaviour>();
  const code::Code code_;
  const ShardLengths lengths_;
  FailoverDevice device_;
  const plan::Recipe recipe_;
  backend::KernelRef kernel_;
  Task task_;
  std::vector<std::vector<std::byte>> host_;
  std::vector<Shard> far_;
};

TEST_P(FarMemory, StripesOfAnyLength) {
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (std::size_t i = 0; i < k; ++i)
    in.push_back(far_[i].data());
  for (std::size_t i = k; i < k + m; ++i)
    out.push_back(far_[i].data());
  clear_far_parity();
  const StripePointers stripe{.inputs = in.data(), .outputs = out.data(), .lengths = lengths_};
  EXPECT_TRUE(executor().run_equal(task_, 1, stripe));
  expect_far_parity();
  clear_far_parity();
  std::vector<backend::Completion> under_way;
  EXPECT_TRUE(executor().start_equal(task_, 1, stripe, under_way));
  for (backend::Completion& each : under_way)
    EXPECT_TRUE(each.wait());
  expect_far_parity();
}

TEST_P(FarMemory, Pieces) {
  std::vector<std::vector<ConstShard>> in(k);
  std::vector<std::vector<Shard>> out(m);
  const auto cut = [](Shard shard, auto& pieces) {
    pieces.push_back(shard.first(shard.size() / 3));
    pieces.push_back(shard.subspan(shard.size() / 3));
  };
  for (std::size_t i = 0; i < k; ++i)
    cut(far_[i], in[i]);
  for (std::size_t i = 0; i < m; ++i)
    cut(far_[k + i], out[i]);
  const std::vector<ConstShardPieces> inputs(in.begin(), in.end());
  const std::vector<ShardPieces> outputs(out.begin(), out.end());
  clear_far_parity();
  EXPECT_TRUE(executor().run_pieces(task_, inputs, outputs, lengths_));
  expect_far_parity();
}

TEST_P(FarMemory, Syndromes) {
  const std::vector<ConstShard> shards(far_.begin(), far_.end());
  const auto all_zero = [&] {
    bool zero = true;
    SyndromeScan scan(code_.spec, device_, task_, shards, lengths_);
    EXPECT_TRUE(scan.run({}, [&](const SyndromeBlock& block, SyndromePosition) {
      for (std::size_t i = 0; i < m; ++i) {
        for (const std::byte b : block.of(i))
          zero = zero && b == std::byte{0};
      }
      return true;
    }));
    return zero;
  };
  EXPECT_TRUE(all_zero());
  clear_far_parity();
  EXPECT_FALSE(all_zero());
}

TEST_P(FarMemory, ChangesOfPackets) {
  if (code_.spec.layout == Layout::bytes) return;  // changed in place
  // Removes all of data shard 1 and puts it back.
  const auto recipe = *plan::update_recipe(code_, 1, {}, 1);
  const auto kernel = *compile(code_, recipe, device_, Effort::fast);
  const Task task{
      .kernel = kernel.get(), .reads = recipe.reads, .writes = recipe.writes, .accumulate = true};
  std::vector<ShardPieces> outputs;
  for (std::size_t i = k; i < k + m; ++i)
    outputs.emplace_back(&far_[i], 1);
  const std::size_t bytes = lengths_.data / 2;
  for (int times = 0; times < 2; ++times) {
    EXPECT_TRUE(executor().run_change(task, far_[1].subspan(3, bytes), 3, outputs, lengths_));
  }
  expect_far_parity();
}

INSTANTIATE_TEST_SUITE_P(Lengths, FarMemory,
                         testing::Combine(testing::Values(Layout::bytes, Layout::packets),
                                          testing::Values(std::size_t{1000}, std::size_t{1024},
                                                          std::size_t{77})));

}  // namespace
}  // namespace calpe::engine
