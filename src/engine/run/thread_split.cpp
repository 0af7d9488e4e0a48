// SPDX-License-Identifier: Apache-2.0
#include "engine/run/thread_split.hpp"

#include <algorithm>

#include "base/divide_up.hpp"

namespace calpe::engine {

namespace {

// Waking a thread takes a few microseconds, in which one core codes about this much.
constexpr std::size_t part_bytes_min = 128 * 1024;
// Parts begin at page boundaries, so that no two threads write the same cache line.
constexpr std::size_t column_step = 4096;

}  // namespace

Split split_work(const backend::Batch& whole, std::size_t shards, std::size_t threads) noexcept {
  const backend::Geometry& g = whole.geometry;
  const std::size_t units =
      g.unit_stride == 0 ? 1 : std::max<std::size_t>(1, g.group_stride / g.unit_stride);
  const std::size_t bytes = whole.stripe_count * g.group_count * units * g.unit_bytes * shards;
  const std::size_t wanted = std::min(threads, bytes / part_bytes_min);
  if (wanted <= 1) return {};

  const auto make = [wanted](Split::By by, std::size_t count, std::size_t granule) {
    const std::size_t step = divide_up(divide_up(count, wanted), granule) * granule;
    return Split{.by = by, .parts = divide_up(count, step), .step = step};
  };
  if (whole.stripe_count >= wanted) return make(Split::By::stripes, whole.stripe_count, 1);
  if (g.group_count >= wanted) return make(Split::By::groups, g.group_count, 1);
  return make(Split::By::columns, g.unit_bytes, column_step);
}

backend::Batch range_of(const backend::Batch& whole, Split::By by, std::size_t begin,
                        std::size_t count, ShardCounts counts) noexcept {
  backend::Batch batch = whole;
  switch (by) {
    case Split::By::stripes:
      batch.inputs += begin * counts.inputs;
      batch.outputs += begin * counts.outputs;
      batch.stripe_count = count;
      break;
    case Split::By::groups:
      batch.geometry.offset += begin * whole.geometry.group_stride;
      batch.geometry.group_count = count;
      break;
    case Split::By::columns:
      batch.geometry.offset += begin;
      batch.geometry.unit_bytes = count;
      break;
  }
  return batch;
}

backend::Batch part_of(const backend::Batch& whole, const Split& split, std::size_t part,
                       ShardCounts counts) noexcept {
  const std::size_t begin = part * split.step;
  const std::size_t end = split.by == Split::By::stripes  ? whole.stripe_count
                          : split.by == Split::By::groups ? whole.geometry.group_count
                                                          : whole.geometry.unit_bytes;
  return range_of(whole, split.by, begin, std::min(split.step, end - begin), counts);
}

}  // namespace calpe::engine
