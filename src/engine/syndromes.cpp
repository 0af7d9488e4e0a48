// SPDX-License-Identifier: Apache-2.0
#include "engine/syndromes.hpp"

#include "engine/run/device_copy.hpp"

namespace calpe::engine {

namespace {

// Copies bytes [offset, offset + count) of a shard, with zeros after its end.
void copy_or_zero(FarCopy& copy, ConstShard shard, std::size_t offset, std::size_t count,
                  std::byte* to) {
  const std::size_t take = offset < shard.size() ? std::min(count, shard.size() - offset) : 0;
  if (take > 0) copy(to, shard.data() + offset, take);
  std::memset(to + take, 0, count - take);
}

}  // namespace

SyndromeScan::SyndromeScan(const CodeSpec& spec, backend::Device& device, const Task& prediction,
                           std::span<const ConstShard> shards, ShardLengths lengths)
    : spec_(spec),
      device_(device),
      task_(prediction),
      shards_(shards),
      unit_count_(unit_count(spec)),
      in_(task_.reads.size()),
      out_(task_.writes.size()),
      // A flat layout is read in place. Others are staged, as units are not contiguous in shards.
      staging_(device,
               (task_.writes.size() + (is_flat(spec) ? 0 : task_.reads.size())) * unit_count_,
               staged_columns_min(spec)) {
  task_.accumulate = true;  // added to the contents of the check shards
  const Regions regions = regions_of(spec, lengths.data);
  regions_ = {regions.whole, regions.last, regions.ragged};
}

Status SyndromeScan::compute(const backend::Geometry& region, SyndromePosition at,
                             std::size_t columns) {
  const std::size_t base = region.offset + at.group * region.group_stride + at.column;
  std::byte* next = staging_.data();
  FarCopy copy(device_);
  const auto stage = [&](ShardIndex shard) {
    std::byte* const begin = next;
    for (std::size_t u = 0; u < unit_count_; ++u, next += columns) {
      copy_or_zero(copy, shards_[shard], base + u * region.unit_stride, columns, next);
    }
    return begin;
  };
  for (std::size_t i = 0; i < task_.writes.size(); ++i)
    out_[i] = stage(task_.writes[i]);
  for (std::size_t i = 0; i < task_.reads.size(); ++i) {
    in_[i] = is_flat(spec_) ? shards_[task_.reads[i]].data() + base : stage(task_.reads[i]);
  }
  CALPE_CHECK(copy.result());
  return device_
      .submit(*task_.kernel, {.stripe_count = 1,
                              .inputs = in_.data(),
                              .outputs = out_.data(),
                              .geometry = {.offset = 0,
                                           .unit_bytes = columns,
                                           .unit_stride = columns,
                                           .group_stride = unit_count_ * columns,
                                           .group_count = 1},
                              .accumulate = true})
      .wait();
}

}  // namespace calpe::engine
