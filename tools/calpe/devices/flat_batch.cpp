// SPDX-License-Identifier: Apache-2.0
#include "calpe/devices/flat_batch.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace calpe::tools {

FlatBatch::FlatBatch(const Codec& codec, const Plan& plan, const FlatShape& shape)
    : shape_(shape),
      shards_(std::size_t{codec.spec().data_shards} + codec.spec().parity_shards),
      data_shards_(codec.spec().data_shards),
      bytes_(shape.first_at + shape.stripes * shards_ * (shape.shard_bytes + shape.gap_bytes)) {
  CALPE_ASSERT(codec.parity_bytes(shape.shard_bytes) == shape.shard_bytes);
  CALPE_ASSERT(!plan.writes().empty());
}

std::size_t FlatBatch::data_bytes() const noexcept {
  return shape_.stripes * data_shards_ * shape_.shard_bytes;
}

TrialBytes FlatBatch::make_content() const {
  TrialBytes content(bytes_);
  std::uint64_t state = 1;
  for (std::size_t at = 0; at < bytes_; at += sizeof(state)) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t mixed = state ^ (state >> 29U);
    std::memcpy(content.data() + at, &mixed, std::min(sizeof(mixed), bytes_ - at));
  }
  return content;
}

FlatBatch::Views FlatBatch::views(const Plan& plan, Shard memory) const {
  CALPE_ASSERT(memory.size() >= bytes_);
  Views views;
  views.inputs.reserve(shape_.stripes * plan.reads().size());
  views.outputs.reserve(shape_.stripes * plan.writes().size());
  const auto shard = [&](std::size_t stripe, std::size_t index) {
    const std::size_t distance = shape_.shard_bytes + shape_.gap_bytes;
    return memory.subspan(shape_.first_at + (stripe * shards_ + index) * distance,
                          shape_.shard_bytes);
  };
  for (std::size_t s = 0; s < shape_.stripes; ++s) {
    for (const ShardIndex index : plan.reads())
      views.inputs.emplace_back(shard(s, index));
    for (const ShardIndex index : plan.writes())
      views.outputs.emplace_back(shard(s, index));
  }
  for (std::size_t s = 0; s < shape_.stripes; ++s) {
    const std::size_t reads = plan.reads().size();
    const std::size_t writes = plan.writes().size();
    views.stripes.push_back({.inputs = std::span(views.inputs).subspan(s * reads, reads),
                             .outputs = std::span(views.outputs).subspan(s * writes, writes)});
  }
  return views;
}

Status FlatBatch::run(const Codec& codec, const Plan& plan, Shard memory) const {
  const Views given = views(plan, memory);
  Status done = codec.run_batch(plan, given.stripes);
  if (!done && done.error().code == ErrorCode::device_failed) keep_trial_bytes();
  return done;
}

Result<Pending> FlatBatch::submit(const Codec& codec, const Plan& plan, Shard memory) const {
  const Views given = views(plan, memory);
  return codec.submit(plan, given.stripes);
}

}  // namespace calpe::tools
