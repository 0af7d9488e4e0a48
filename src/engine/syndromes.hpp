// SPDX-License-Identifier: Apache-2.0
// Differences between the contents of some shards and their prediction from others, block by block.
// They are all zero when the stripe is consistent. Used by verify and locate.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include <calpe/codec.hpp>

#include "backend/backend.hpp"
#include "base/short_array.hpp"
#include "base/try.hpp"
#include "engine/run/executor.hpp"
#include "engine/run/regions.hpp"
#include "engine/run/staging.hpp"

namespace calpe::engine {

// Syndromes of a block of columns. Unit u of check c is at units(c) + u * columns.
struct SyndromeBlock {
  std::span<std::byte* const> checks;
  std::size_t unit_count = 1;
  std::size_t columns = 0;
  std::span<const std::byte> of(std::size_t check) const {
    return {checks[check], unit_count * columns};
  }
};

// A position in a stripe's columns, to continue from.
struct SyndromePosition {
  std::size_t region = 0;
  std::size_t group = 0;
  std::size_t column = 0;
};

class SyndromeScan {
 public:
  // shards[i] is shard i of the stripe; shards that `prediction` neither reads nor writes are
  // ignored. The kernel of the prediction runs on `device`.
  SyndromeScan(const CodeSpec& spec, backend::Device& device, const Task& prediction,
               std::span<const ConstShard> shards, ShardLengths lengths);

  // Calls visit(block, position) for each block from `start` until it returns false.
  template <class Visit>
  Status run(SyndromePosition start, const Visit& visit) {
    for (; start.region < regions_.size(); start = {.region = start.region + 1}) {
      const backend::Geometry& region = regions_[start.region];
      for (; !is_empty(region) && start.group < region.group_count; ++start.group) {
        for (; start.column < region.unit_bytes;) {
          const std::size_t columns =
              std::min(staging_.columns(), region.unit_bytes - start.column);
          CALPE_CHECK(compute(region, start, columns));
          const SyndromeBlock block{.checks = out_, .unit_count = unit_count_, .columns = columns};
          if (!visit(block, start)) return Done{};
          start.column += columns;
        }
        start.column = 0;
      }
    }
    return Done{};
  }

 private:
  Status compute(const backend::Geometry& region, SyndromePosition at, std::size_t columns);

  const CodeSpec& spec_;
  backend::Device& device_;
  Task task_;
  std::span<const ConstShard> shards_;
  std::array<backend::Geometry, 3> regions_;
  std::size_t unit_count_;
  ShortArray<const std::byte*> in_;
  ShortArray<std::byte*> out_;
  Staging staging_;
};

}  // namespace calpe::engine
