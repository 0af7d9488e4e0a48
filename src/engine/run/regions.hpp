// SPDX-License-Identifier: Apache-2.0
// Where symbols lie in a shard. A flat layout has one region, the shard. Others have groups of u
// units (symbol_units.hpp). The rest, r bytes, is a last group with units of q = ceil(r/u) bytes.
// Data shards may end before that group is full; the missing bytes (fewer than u) count as zeros.
// Parity shards hold the whole group (parity_length).
//
// Example: packets, w = 4, packet_bytes = 8, data of 41 bytes. One group of 4 x 8, then r = 9, q =
// 3: packets at 32, 35, 38, 41 of 3, 3, 3, 0 bytes. Parity shards have 44 bytes.
#pragma once
#include <bit>
#include <cstddef>

#include <calpe/code_spec.hpp>

#include "backend/backend.hpp"
#include "engine/run/symbol_units.hpp"

namespace calpe::engine {

struct Regions {
  backend::Geometry whole;   // in every shard; kernels run on them in place
  backend::Geometry last;    // columns of the last group that every shard has
  backend::Geometry ragged;  // its last columns (fewer than u), which some data shards lack
};

// Regions of data shards of `data_bytes`. Empty regions have unit_bytes or group_count 0.
Regions regions_of(const CodeSpec& spec, std::size_t data_bytes) noexcept;

inline std::size_t group_bytes(const CodeSpec& spec) noexcept {
  return is_flat(spec) ? 1 : unit_count(spec) * unit_bytes(spec);
}

// Avoids a 64-bit division, which costs as much as coding a kilobyte, as most groups are a power of
// two.
inline std::size_t divide_by_group(std::size_t bytes, std::size_t group) noexcept {
  const bool is_power = (group & (group - 1)) == 0;
  return is_power ? bytes >> std::countr_zero(group) : bytes / group;
}

// The whole groups of a shard of `bytes`.
inline backend::Geometry whole_groups(const CodeSpec& spec, std::size_t bytes) noexcept {
  if (is_flat(spec)) return {.unit_bytes = bytes};
  const std::size_t group = group_bytes(spec);
  return {.offset = 0,
          .unit_bytes = unit_bytes(spec),
          .unit_stride = unit_bytes(spec),
          .group_stride = group,
          .group_count = divide_by_group(bytes, group)};
}

// True if the whole groups make up the entire shard.
inline bool covers(const backend::Geometry& whole, std::size_t bytes) noexcept {
  return whole.group_stride == 0 || whole.group_stride * whole.group_count == bytes;
}

inline bool is_empty(const backend::Geometry& g) noexcept {
  return g.unit_bytes == 0 || g.group_count == 0;
}

}  // namespace calpe::engine
