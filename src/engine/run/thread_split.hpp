// SPDX-License-Identifier: Apache-2.0
// Divides one batch among threads: by stripes if there are enough, else by columns.
#pragma once
#include <cstddef>

#include "backend/backend.hpp"

namespace calpe::engine {

struct Split {
  enum class By { stripes, groups, columns };
  By by = By::stripes;
  std::size_t parts = 1;
  std::size_t step = 0;  // stripes, groups or columns per part
};

// shards: number read and written per stripe. Returns one part when the work is too small to wake a
// thread.
Split split_work(const backend::Batch& whole, std::size_t shards, std::size_t threads) noexcept;

struct ShardCounts {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};

backend::Batch part_of(const backend::Batch& whole, const Split& split, std::size_t part,
                       ShardCounts counts) noexcept;

// Returns stripes, groups or columns [begin, begin + count).
backend::Batch range_of(const backend::Batch& whole, Split::By by, std::size_t begin,
                        std::size_t count, ShardCounts counts) noexcept;

}  // namespace calpe::engine
