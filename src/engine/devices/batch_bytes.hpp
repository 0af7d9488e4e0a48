// SPDX-License-Identifier: Apache-2.0
// Lists the bytes of its shards that a batch touches, to copy, compare or count them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "backend/backend.hpp"
#include "base/try.hpp"
#include "engine/run/thread_split.hpp"
#include "ir/program.hpp"
#include "ir/transform.hpp"

namespace calpe::engine {

// What a kernel reads and writes. The kernel itself does not expose this.
struct KernelShape {
  ShardCounts shards = {};
  std::size_t units = 1;  // per shard and group

  static KernelShape of(const ir::Program& program) noexcept {
    return {.shards = {.inputs = program.input_shards(), .outputs = program.output_shards()},
            .units = program.unit_count()};
  }
  static KernelShape of(const gf::Matrix& rows) noexcept {
    return {.shards = {.inputs = rows.columns(), .outputs = rows.rows()}};
  }
  static KernelShape of(const ir::Transform& transform) noexcept {
    return {.shards = {.inputs = transform.places.size(), .outputs = transform.outputs()}};
  }
};

// Bytes of one shard.
inline std::size_t shard_bytes(const backend::Geometry& g, std::size_t units) noexcept {
  return g.group_count * units * g.unit_bytes;
}

inline std::size_t output_bytes(const backend::Batch& batch, const KernelShape& shape) noexcept {
  return batch.stripe_count * shape.shards.outputs * shard_bytes(batch.geometry, shape.units);
}

// Bytes read plus bytes written.
inline std::size_t moved_bytes(const backend::Batch& batch, const KernelShape& shape) noexcept {
  return batch.stripe_count * (shape.shards.inputs + shape.shards.outputs) *
         shard_bytes(batch.geometry, shape.units);
}

// Bytes from the first to the last one that is touched.
inline std::size_t extent_bytes(const backend::Geometry& g, std::size_t units) noexcept {
  return (g.group_count - 1) * g.group_stride + (units - 1) * g.unit_stride + g.unit_bytes;
}

// Calls visit(offset, bytes) for every contiguous run of a shard's bytes.
template <class Visit>
void for_each_run(const backend::Geometry& g, std::size_t units, const Visit& visit) {
  const bool is_group_whole = units == 1 || g.unit_stride == g.unit_bytes;
  const std::size_t group_bytes = units * g.unit_bytes;
  const bool is_all_whole = is_group_whole && (g.group_count == 1 || g.group_stride == group_bytes);
  if (is_all_whole) {
    visit(g.offset, g.group_count * group_bytes);
    return;
  }
  for (std::size_t group = 0; group < g.group_count; ++group) {
    const std::size_t start = g.offset + group * g.group_stride;
    if (is_group_whole) {
      visit(start, group_bytes);
      continue;
    }
    for (std::size_t u = 0; u < units; ++u)
      visit(start + u * g.unit_stride, g.unit_bytes);
  }
}

// Calls visit(part), which returns a Status, for parts with at most `bytes_max` bytes of outputs or
// a single column.
template <class Visit>
Status for_each_piece(const backend::Batch& batch, const KernelShape& shape, std::size_t bytes_max,
                      const Visit& visit) {
  if (output_bytes(batch, shape) <= bytes_max) return visit(batch);
  const backend::Geometry& g = batch.geometry;
  Split::By by = Split::By::columns;
  std::size_t count = g.unit_bytes;
  if (batch.stripe_count > 1) {
    by = Split::By::stripes;
    count = batch.stripe_count;
  } else if (g.group_count > 1) {
    by = Split::By::groups;
    count = g.group_count;
  } else if (count <= 1) {
    return visit(batch);
  }
  const std::size_t each = output_bytes(batch, shape) / count;
  const std::size_t step = std::max<std::size_t>(1, bytes_max / each);
  for (std::size_t begin = 0; begin < count; begin += step) {
    const std::size_t take = std::min(step, count - begin);
    CALPE_CHECK(
        for_each_piece(range_of(batch, by, begin, take, shape.shards), shape, bytes_max, visit));
  }
  return Done{};
}

}  // namespace calpe::engine
