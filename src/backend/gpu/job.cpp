// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/job.hpp"

#include <chrono>
#include <optional>

#include "backend/gpu/fence.hpp"
#include "backend/gpu/lost_work.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::gpu {

namespace {

// Location of the shards of a batch.
struct Whereabouts {
  bool is_reached = true;              // one launch can access all of them
  bool is_any_mapped = false;          // some are in device memory, which the caller may be using
  const std::byte* foreign = nullptr;  // one in memory of another device
};

Whereabouts find_shards(const Core& core, const GpuKernel& kernel, const Batch& batch) {
  if (core.info().shares_memory) return {};
  if (core.memory.is_empty()) return {.is_reached = false};
  Whereabouts found;
  const auto look = [&](const auto* shards, std::size_t count) {
    std::optional<const void*> buffer;
    for (std::size_t i = 0; i < count; ++i) {
      const Owner owner = core.memory.owner_of(shards[i]);
      if (owner == Owner::other_device) {
        found.foreign = shards[i];
        return;
      }
      const std::optional<Place> place =
          owner == Owner::device ? core.memory.find(shards[i]) : std::nullopt;
      if (!place) {
        found.is_reached = false;
        continue;
      }
      found.is_any_mapped = true;
      found.is_reached &= !buffer || *buffer == place->buffer;
      buffer = place->buffer;
    }
  };
  const emit::DeviceShape& shape = kernel.task().shape;
  look(batch.inputs, batch.stripe_count * shape.input_shards);
  look(batch.outputs, batch.stripe_count * shape.output_shards);
  return found;
}

void add_seconds(Core& core, Queue& queue) {
  const Result<PhaseSeconds> seconds = queue.take_seconds();
  if (!seconds) return;  // the work succeeded; only its times are missing
  const std::lock_guard lock(core.counters.mutex);
  core.counters.phases.copy_in += seconds->copy_in;
  core.counters.phases.kernel += seconds->kernel;
  core.counters.phases.copy_out += seconds->copy_out;
}

}  // namespace

Status finish_slot(Core& core, std::unique_ptr<Slot> slot, Result<std::unique_ptr<Event>> event,
                   Writes writes, const std::function<void(Slot&)>& then) {
  // Waits only for the first of several jobs on a hung device. Jobs in host memory may have
  // finished before, and must not be repeated unless that is known.
  const bool is_hopeless =
      writes == Writes::own_memory && core.is_lost.load(std::memory_order_acquire);
  const Deadline end = std::chrono::steady_clock::now() +
                       (is_hopeless ? std::chrono::milliseconds(0) : core.options.time_limit);
  Status done = event ? (*event)->wait(time_until(end)) : Status(event.error());
  if (done) {
    if (core.options.profiling) add_seconds(core, slot->queue());
    if (then) then(*slot);
    core.slots.give_back(std::move(slot));
    return Done{};
  }
  if (!is_over(slot->queue(), event, end)) {
    core.is_lost.store(true, std::memory_order_release);
    if (writes == Writes::host_memory) {
      core.may_still_write.store(true, std::memory_order_release);
    }
    keep_lost_work(std::move(slot), std::move(event));
  }
  return done;
}

Completion submit(Core& core, const GpuKernel& kernel, const Batch& batch, const Variant* forced) {
  const Geometry& geometry = batch.geometry;
  if (batch.stripe_count == 0 || geometry.group_count == 0 || geometry.unit_bytes == 0 ||
      kernel.task().shape.output_shards == 0) {
    return Status(Done{});
  }
  if (core.is_lost.load(std::memory_order_acquire)) {
    return Status(make_error(ErrorCode::device_failed, core.info().name,
                             " was disabled: it did not finish its work"));
  }
  const Whereabouts shards = find_shards(core, kernel, batch);
  if (shards.foreign != nullptr) return Status(not_ours(core.info(), shards.foreign));
  if (shards.is_any_mapped) {
    if (Status done = core.context.wait(); !done) return done;
  }
  return shards.is_reached ? make_direct_job(core, kernel, batch, forced)
                           : make_staged_job(core, kernel, batch, forced);
}

}  // namespace calpe::backend::gpu
