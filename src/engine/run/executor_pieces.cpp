// SPDX-License-Identifier: Apache-2.0
// Shards in pieces. A flat layout: runs in which every shard is contiguous, in place. Other
// layouts, and ragged ends: a block of columns at a time through a staging area.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/short_array.hpp"
#include "base/try.hpp"
#include "engine/run/device_copy.hpp"
#include "engine/run/executor.hpp"
#include "engine/run/regions.hpp"
#include "engine/run/staging.hpp"

namespace calpe::engine {

namespace {

// Copies bytes [offset, offset + count) of a shard to `to`; what lies behind its end is zero. The
// pieces begin at byte `start` of the shard; what lies before that is zero, too.
template <class Pieces>
void gather(FarCopy& copy, const Pieces& pieces, std::size_t start, std::size_t offset,
            std::size_t count, std::byte* to) {
  if (offset < start) {
    const std::size_t before = std::min(count, start - offset);
    std::memset(to, 0, before);
    to += before;
    count -= before;
    offset += before;
  }
  offset -= std::min(offset, start);
  for (const auto& piece : pieces) {
    if (count == 0) return;
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const std::size_t take = std::min(count, piece.size() - offset);
    copy(to, piece.data() + offset, take);
    to += take;
    count -= take;
    offset = 0;
  }
  std::memset(to, 0, count);
}

// The other way; what would lie behind the end is dropped.
void scatter(FarCopy& copy, ShardPieces pieces, std::size_t offset, std::size_t count,
             const std::byte* from) {
  for (const Shard& piece : pieces) {
    if (count == 0) return;
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const std::size_t take = std::min(count, piece.size() - offset);
    copy(piece.data() + offset, from, take);
    from += take;
    count -= take;
    offset = 0;
  }
}

// Walks through a shard's pieces; skips empty ones.
template <class Piece>
class Cursor {
 public:
  void start(std::span<const Piece> pieces) {
    pieces_ = pieces;
    skip_empty();
  }
  bool at_end() const { return pieces_.empty(); }
  std::size_t contiguous() const { return pieces_.front().size() - used_; }
  auto* pointer() const { return pieces_.front().data() + used_; }
  void advance(std::size_t bytes) {
    used_ += bytes;
    if (used_ < pieces_.front().size()) return;
    pieces_ = pieces_.subspan(1);
    used_ = 0;
    skip_empty();
  }

 private:
  void skip_empty() {
    while (!pieces_.empty() && pieces_.front().empty())
      pieces_ = pieces_.subspan(1);
  }
  std::span<const Piece> pieces_;
  std::size_t used_ = 0;
};

}  // namespace

Status Executor::run_runs(const Task& task, std::span<const ConstShardPieces> inputs,
                          std::span<const ShardPieces> outputs) const {
  ShortArray<Cursor<ConstShard>> reading(inputs.size());
  ShortArray<Cursor<Shard>> writing(outputs.size());
  ShortArray<const std::byte*> in(inputs.size());
  ShortArray<std::byte*> out(outputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    reading[i].start(inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    writing[i].start(outputs[i]);
  while (!outputs.empty() && !writing[0].at_end()) {
    std::size_t run = writing[0].contiguous();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      run = std::min(run, reading[i].contiguous());
      in[i] = reading[i].pointer();
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      run = std::min(run, writing[i].contiguous());
      out[i] = writing[i].pointer();
    }
    CALPE_CHECK(submit(task, 1, {.inputs = in.data(), .outputs = out.data()},
                       backend::Geometry{.unit_bytes = run}));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      reading[i].advance(run);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      writing[i].advance(run);
  }
  return Done{};
}

Status Executor::run_staged(const Task& task, std::span<const ConstShardPieces> inputs,
                            std::span<const ShardPieces> outputs, const backend::Geometry& geometry,
                            std::size_t input_start) const {
  if (is_empty(geometry) || outputs.empty()) return Done{};
  const std::size_t units = unit_count(spec_);
  const std::size_t shards = inputs.size() + outputs.size();
  Staging staging(device_, shards * units, staged_columns_min(spec_));
  const std::size_t columns_max = staging.columns();
  FarCopy copy(device_);
  ShortArray<const std::byte*> in(inputs.size());
  ShortArray<std::byte*> out(outputs.size());

  for (std::size_t group = 0; group < geometry.group_count; ++group) {
    for (std::size_t done = 0; done < geometry.unit_bytes;) {
      const std::size_t columns = std::min(columns_max, geometry.unit_bytes - done);
      const std::size_t base = geometry.offset + group * geometry.group_stride + done;
      std::byte* next = staging.data();
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        in[i] = next;
        for (std::size_t u = 0; u < units; ++u, next += columns) {
          gather(copy, inputs[i], input_start, base + u * geometry.unit_stride, columns, next);
        }
      }
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        out[i] = next;
        for (std::size_t u = 0; u < units; ++u, next += columns) {
          if (task.accumulate) {
            gather(copy, outputs[i], 0, base + u * geometry.unit_stride, columns, next);
          }
        }
      }
      CALPE_CHECK(copy.result());
      CALPE_CHECK(submit(task, 1, {.inputs = in.data(), .outputs = out.data()},
                         backend::Geometry{.offset = 0,
                                           .unit_bytes = columns,
                                           .unit_stride = columns,
                                           .group_stride = units * columns,
                                           .group_count = 1}));
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::size_t u = 0; u < units; ++u) {
          scatter(copy, outputs[i], base + u * geometry.unit_stride, columns, out[i] + u * columns);
        }
      }
      done += columns;
    }
  }
  return copy.result();
}

Status Executor::run_pieces(const Task& task, std::span<const ConstShardPieces> inputs,
                            std::span<const ShardPieces> outputs, ShardLengths lengths) const {
  if (is_flat(spec_)) return run_runs(task, inputs, outputs);
  const Regions regions = regions_of(spec_, lengths.data);
  for (const backend::Geometry& region : {regions.whole, regions.last, regions.ragged}) {
    CALPE_CHECK(run_staged(task, inputs, outputs, region, 0));
  }
  return Done{};
}

Status Executor::run_change(const Task& task, ConstShard delta, std::size_t offset,
                            std::span<const ShardPieces> outputs, ShardLengths lengths) const {
  const ConstShardPieces input(&delta, 1);
  const Regions regions = regions_of(spec_, lengths.data);
  for (backend::Geometry region : {regions.whole, regions.last, regions.ragged}) {
    if (is_empty(region) || delta.empty()) continue;
    // Only the groups that the change touches.
    const std::size_t end = offset + delta.size();
    const std::size_t group_end = region.offset + region.group_count * region.group_stride;
    if (end <= region.offset || offset >= group_end) continue;
    const std::size_t first =
        offset <= region.offset ? 0 : (offset - region.offset) / region.group_stride;
    const std::size_t behind = std::min(
        region.group_count, (end - region.offset + region.group_stride - 1) / region.group_stride);
    region.offset += first * region.group_stride;
    region.group_count = behind - first;
    CALPE_CHECK(run_staged(task, {&input, 1}, outputs, region, offset));
  }
  return Done{};
}

}  // namespace calpe::engine
