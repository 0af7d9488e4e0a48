// SPDX-License-Identifier: Apache-2.0
// A batch on its way through a device. In place where the device reaches every shard: the host's
// memory where that is shared, its own otherwise. Through copies elsewhere.
#pragma once
#include <functional>
#include <memory>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"

namespace calpe::backend::gpu {

// `forced`: null, or the variant to be used. Core and kernel outlive the completion.
Completion submit(Core& core, const GpuKernel& kernel, const Batch& batch, const Variant* forced);

// --- for direct_job.cpp and staged_job.cpp
// --------------------------------------------------------

std::unique_ptr<Completion::Pending> make_direct_job(Core& core, const GpuKernel& kernel,
                                                     const Batch& batch, const Variant* forced);
std::unique_ptr<Completion::Pending> make_staged_job(Core& core, const GpuKernel& kernel,
                                                     const Batch& batch, const Variant* forced);

// Whose memory a queue writes until it is done.
enum class Writes : std::uint8_t { own_memory, host_memory };

// Waits for the queue's work, takes its times and gives the slot back. When the work failed, the
// rest of it is waited for; when that does not end, the device is lost and the slot left alone.
// `then` is called in between when the work went well.
Status finish_slot(Core& core, std::unique_ptr<Slot> slot, Result<std::unique_ptr<Event>> event,
                   Writes writes, const std::function<void(Slot&)>& then = {});

}  // namespace calpe::backend::gpu
