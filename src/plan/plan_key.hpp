// SPDX-License-Identifier: Apache-2.0
// Cache key of a plan: the full spec and pattern, byte for byte, so different plans never collide.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <calpe/code_spec.hpp>

#include "base/short_array.hpp"

namespace calpe::plan {

enum class PlanKind : std::uint8_t { decode = 1, update = 2, replace = 3 };

// Spec and kind, two lists of shards and one of costs, each with an entry per shard.
constexpr std::size_t plan_key_bytes(std::size_t shards) noexcept {
  return 64 + 2 * (4 + 2 * shards) + 4 + 4 * shards;
}

// Built on the stack for up to 256 shards, so that looking up an existing plan does not allocate.
class PlanKey {
 public:
  PlanKey(const CodeSpec& spec, PlanKind kind);
  void add(std::span<const ShardIndex> shards);  // includes the count, so lists cannot run together
  void add(std::span<const std::uint32_t> costs);
  std::string_view view() const noexcept { return {bytes_.data(), used_}; }

 private:
  void put(std::uint64_t value, std::size_t bytes);
  ShortArray<char, plan_key_bytes(byte_shard_count_max)> bytes_;
  std::size_t used_ = 0;
};

}  // namespace calpe::plan
