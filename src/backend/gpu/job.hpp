// SPDX-License-Identifier: Apache-2.0
// A batch that runs on a device: in place if the device can access every shard (shared host memory
// or device memory), otherwise through copies.
#pragma once
#include <functional>
#include <memory>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"

namespace calpe::backend::gpu {

// `forced`: the variant to use, or null. Core and kernel must outlive the completion.
Completion submit(Core& core, const GpuKernel& kernel, const Batch& batch, const Variant* forced);

// Used by direct_job.cpp and staged_job.cpp.

std::unique_ptr<Completion::Pending> make_direct_job(Core& core, const GpuKernel& kernel,
                                                     const Batch& batch, const Variant* forced);
std::unique_ptr<Completion::Pending> make_staged_job(Core& core, const GpuKernel& kernel,
                                                     const Batch& batch, const Variant* forced);

// Queues a batch whose shards the device accesses directly.
Status enqueue_direct(Core& core, Slot& slot, const GpuKernel& kernel, const Batch& batch,
                      const Variant* forced);

// Memory that a queue writes until it is done.
enum class Writes : std::uint8_t { own_memory, host_memory };

// Waits for the queue's work, collects its times and returns the slot. Calls `then` before that if
// the work succeeded. If it failed, waits for the rest; if that does not end, the device is lost
// and the slot is abandoned.
Status finish_slot(Core& core, std::unique_ptr<Slot> slot, Result<std::unique_ptr<Event>> event,
                   Writes writes, const std::function<void(Slot&)>& then = {});

}  // namespace calpe::backend::gpu
