// SPDX-License-Identifier: Apache-2.0
// Loses shards of a stripe, rebuilds them and compares.
#pragma once
#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "support/formula_stripe.hpp"

namespace calpe::tests {

// The lost shards of `count` if `losses` consecutive ones are lost, starting at `first`, wrapping.
inline std::vector<ShardIndex> losses_from(std::size_t first, std::size_t losses,
                                           std::size_t count) {
  std::vector<ShardIndex> lost;
  for (std::size_t i = 0; i < losses; ++i)
    lost.push_back(static_cast<ShardIndex>((first + i) % count));
  std::ranges::sort(lost);
  return lost;
}

// Rebuilds `lost` from the others; true if every byte equals that of the stripe.
inline testing::AssertionResult rebuilds(const Codec& codec, const FormulaStripe& stripe,
                                         std::span<const ShardIndex> lost) {
  std::vector<ShardIndex> available;
  for (std::size_t i = 0; i < stripe.shard_count(); ++i) {
    const auto index = static_cast<ShardIndex>(i);
    if (std::ranges::find(lost, index) == lost.end()) available.push_back(index);
  }
  const auto plan = codec.plan_decode(available, lost);
  if (!plan) return testing::AssertionFailure() << plan.error().message;
  std::vector<ConstShard> survivors;
  for (const ShardIndex index : plan->reads())
    survivors.push_back(stripe.shard(index));
  std::vector<std::vector<std::byte>> memory;
  for (const ShardIndex index : lost)
    memory.emplace_back(stripe.shard(index).size(), unwritten);
  const std::vector<Shard> rebuilt(memory.begin(), memory.end());
  if (const Status done = codec.decode(*plan, survivors, rebuilt); !done) {
    return testing::AssertionFailure() << done.error().message;
  }
  for (std::size_t i = 0; i < lost.size(); ++i) {
    if (!std::ranges::equal(memory[i], stripe.shard(lost[i]))) {
      return testing::AssertionFailure() << "shard " << lost[i] << " was rebuilt wrong";
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace calpe::tests
