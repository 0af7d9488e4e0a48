// SPDX-License-Identifier: Apache-2.0
// The cache key of a plan: the full spec and the full pattern, byte for byte, so that no two
// different plans can share an entry.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <calpe/code_spec.hpp>

namespace calpe::plan {

enum class PlanKind : std::uint8_t { decode = 1, update = 2, replace = 3 };

// Built on the stack: looking up a plan that exists allocates nothing.
class PlanKey {
 public:
  PlanKey(const CodeSpec& spec, PlanKind kind);
  void add(std::span<const ShardIndex> shards);  // with their number, so lists cannot run together
  void add(std::span<const std::uint32_t> costs);
  std::string_view view() const noexcept { return {bytes_.data(), used_}; }

 private:
  void put(std::uint64_t value, std::size_t bytes);
  // Spec and kind, two lists of shards, one of costs, all of shard_count_max entries.
  static constexpr std::size_t capacity =
      64 + 2 * (4 + 2 * shard_count_max) + 4 + 4 * shard_count_max;
  std::array<char, capacity> bytes_;
  std::size_t used_ = 0;
};

}  // namespace calpe::plan
