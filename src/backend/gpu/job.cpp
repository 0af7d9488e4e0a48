// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/job.hpp"

#include <optional>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::gpu {

namespace {

// All on the device, and where one launch reaches them.
bool is_reached(const Core& core, const GpuKernel& kernel, const Batch& batch) {
  if (core.info().shares_memory) return true;
  if (core.memory.is_empty()) return false;
  const auto all = [&](const auto* shards, std::size_t count) {
    const void* buffer = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<Place> place = core.memory.find(shards[i]);
      if (!place) return false;
      if (i == 0) buffer = place->buffer;
      if (place->buffer != buffer) return false;
    }
    return true;
  };
  const emit::DeviceShape& shape = kernel.task().shape;
  return all(batch.inputs, batch.stripe_count * shape.input_shards) &&
         all(batch.outputs, batch.stripe_count * shape.output_shards);
}

// The queue's work, whatever became of it.
Status drain(Core& core, Slot& slot) {
  constexpr int attempts = 3;  // a driver that refuses once may have been out of memory
  Status last = Done{};
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Result<std::unique_ptr<Event>> event = slot.queue().mark();
    last = event ? (*event)->wait(core.options.time_limit) : Status(std::move(event).error());
    if (last) break;
  }
  return last;
}

}  // namespace

Status finish_slot(Core& core, std::unique_ptr<Slot> slot, Result<std::unique_ptr<Event>> event,
                   Writes writes, const std::function<void(Slot&)>& then) {
  Status done = event ? (*event)->wait(core.options.time_limit) : Status(std::move(event).error());
  if (done) {
    if (core.options.profiling) {
      CALPE_TRY(const PhaseSeconds seconds, slot->queue().take_seconds());
      const std::lock_guard lock(core.counters.mutex);
      core.counters.phases.copy_in += seconds.copy_in;
      core.counters.phases.kernel += seconds.kernel;
      core.counters.phases.copy_out += seconds.copy_out;
    }
    if (then) then(*slot);
    core.slots.give_back(std::move(slot));
    return Done{};
  }
  if (!drain(core, *slot)) {
    core.is_lost.store(true, std::memory_order_release);
    if (writes == Writes::host_memory) {
      core.may_still_write.store(true, std::memory_order_release);
    }
    // The device may still use it: better lost than freed.
    static_cast<void>(slot.release());
    if (event) static_cast<void>(event->release());
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
                             " was left: it did not finish its work"));
  }
  return is_reached(core, kernel, batch) ? make_direct_job(core, kernel, batch, forced)
                                         : make_staged_job(core, kernel, batch, forced);
}

}  // namespace calpe::backend::gpu
