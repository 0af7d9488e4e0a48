// SPDX-License-Identifier: Apache-2.0
#include "engine/run/executor.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "base/allocation_guard.hpp"
#include "base/short_array.hpp"
#include "base/try.hpp"
#include "engine/run/regions.hpp"
#include "engine/run/thread_split.hpp"

namespace calpe::engine {

namespace {

backend::Batch batch_of(const Task& task, std::size_t stripe_count, const StripePointers& first,
                        const backend::Geometry& geometry) noexcept {
  return {.stripe_count = stripe_count,
          .inputs = first.inputs,
          .outputs = first.outputs,
          .geometry = geometry,
          .accumulate = task.accumulate,
          .stores = task.stores};
}

}  // namespace

Status Executor::submit(const Task& task, std::size_t stripe_count, const StripePointers& first,
                        const backend::Geometry& geometry) const {
  if (is_empty(geometry) || task.writes.empty()) return Done{};
  const backend::Batch whole = batch_of(task, stripe_count, first, geometry);
  if (pool_ == nullptr || !device_.runs_on_caller()) {
    return device_.run(*task.kernel, whole);
  }
  const std::size_t shards = task.reads.size() + task.writes.size();
  const Split split = split_work(whole, shards, pool_->helpers() + 1);
  if (split.parts == 1) return device_.run(*task.kernel, whole);

  std::mutex mutex;
  Status result = Done{};  // the first failure of any part
  pool_->run(split.parts, [&](std::size_t part) {
    Status done = guarded([&] {
      const ShardCounts counts{.inputs = task.reads.size(), .outputs = task.writes.size()};
      return device_.run(*task.kernel, part_of(whole, split, part, counts));
    });
    if (done) return;
    const std::lock_guard lock(mutex);
    if (result) result = std::move(done);
  });
  return result;
}

Status Executor::run(const Task& task, const StripePointers& stripe) const {
  return run_equal(task, 1, stripe);
}

Status Executor::run_equal(const Task& task, std::size_t stripe_count,
                           const StripePointers& first) const {
  if (is_flat(spec_)) {
    return submit(task, stripe_count, first, {.unit_bytes = first.lengths.data});
  }
  const Regions regions = regions_of(spec_, first.lengths.data);
  CALPE_CHECK(submit(task, stripe_count, first, regions.whole));
  CALPE_CHECK(submit(task, stripe_count, first, regions.last));
  return run_ragged(task, stripe_count, first, regions.ragged);
}

Status Executor::run_ragged(const Task& task, std::size_t stripe_count, const StripePointers& first,
                            const backend::Geometry& geometry) const {
  if (is_empty(geometry)) return Done{};
  ShortArray<ConstShard> input_bytes(task.reads.size());
  ShortArray<Shard> output_bytes(task.writes.size());
  ShortArray<ConstShardPieces> inputs(task.reads.size());
  ShortArray<ShardPieces> outputs(task.writes.size());
  for (std::size_t stripe = 0; stripe < stripe_count; ++stripe) {
    for (std::size_t i = 0; i < task.reads.size(); ++i) {
      input_bytes[i] = {first.inputs[stripe * task.reads.size() + i],
                        first.lengths.of(spec_, task.reads[i])};
      inputs[i] = {&input_bytes[i], 1};
    }
    for (std::size_t i = 0; i < task.writes.size(); ++i) {
      output_bytes[i] = {first.outputs[stripe * task.writes.size() + i],
                         first.lengths.of(spec_, task.writes[i])};
      outputs[i] = {&output_bytes[i], 1};
    }
    CALPE_CHECK(run_staged(task, inputs, outputs, geometry, 0));
  }
  return Done{};
}

void Executor::split_equal(const Task& task, std::size_t stripe_count, const StripePointers& first,
                           std::size_t threads, std::vector<Part>& parts) const {
  if (task.writes.empty()) return;
  const ShardCounts counts{.inputs = task.reads.size(), .outputs = task.writes.size()};
  const Regions regions = regions_of(spec_, first.lengths.data);
  for (const backend::Geometry& region : {regions.whole, regions.last}) {
    if (is_empty(region)) continue;
    const backend::Batch whole = batch_of(task, stripe_count, first, region);
    const Split split = split_work(whole, counts.inputs + counts.outputs, threads);
    for (std::size_t part = 0; part < split.parts; ++part) {
      parts.push_back({.batch = split.parts == 1 ? whole : part_of(whole, split, part, counts),
                       .lengths = first.lengths});
    }
  }
  if (is_empty(regions.ragged)) return;
  parts.push_back({.batch = batch_of(task, stripe_count, first, regions.ragged),
                   .lengths = first.lengths,
                   .is_ragged = true});
}

Status Executor::run_part(const Task& task, const Part& part) const {
  const backend::Batch& batch = part.batch;
  if (!part.is_ragged) return device_.run(*task.kernel, batch);
  return run_ragged(task, batch.stripe_count,
                    {.inputs = batch.inputs, .outputs = batch.outputs, .lengths = part.lengths},
                    batch.geometry);
}

Status Executor::start_equal(const Task& task, std::size_t stripe_count,
                             const StripePointers& first,
                             std::vector<backend::Completion>& under_way) const {
  if (device_.runs_on_caller()) return run_equal(task, stripe_count, first);
  if (task.writes.empty()) return Done{};
  const Regions regions = regions_of(spec_, first.lengths.data);
  for (const backend::Geometry& region : {regions.whole, regions.last}) {
    if (is_empty(region)) continue;
    under_way.push_back(device_.submit(*task.kernel, batch_of(task, stripe_count, first, region)));
  }
  return run_ragged(task, stripe_count, first, regions.ragged);
}

}  // namespace calpe::engine
