// SPDX-License-Identifier: Apache-2.0
// Plans in queues of the caller: checks the operands, and hands them to the device.
#include <array>
#include <utility>

#include <calpe/device_queue.hpp>

#include "backend/caller_queues.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/codec_access.hpp"
#include "engine/run/overlap.hpp"
#include "engine/run/regions.hpp"
#include "engine/run/shard_lengths.hpp"

namespace calpe {

namespace {

// Two regions at most: the whole groups, and a shorter one at the end.
struct Regions {
  std::array<backend::Geometry, 2> list = {};
  std::size_t count = 0;
  std::span<const backend::Geometry> get() const noexcept { return std::span(list).first(count); }
};

// Regions that kernels code in place. Bytes that they cannot code so would need the host.
Result<Regions> regions_in_place(const CodeSpec& spec, std::size_t shard_bytes) {
  const engine::Regions all = engine::regions_of(spec, shard_bytes);
  if (!engine::is_empty(all.ragged)) {
    return invalid("shard_bytes is ", shard_bytes, "; in a stream or queue expected a multiple of ",
                   engine::unit_count(spec), " with layout packets");
  }
  Regions regions;
  for (const backend::Geometry& region : {all.whole, all.last}) {
    if (!engine::is_empty(region)) regions.list[regions.count++] = region;
  }
  return regions;
}

}  // namespace

struct QueuePlan::Impl {
  CodecAccess::PlanParts parts;
  backend::CallerQueues* queues = nullptr;
  Regions regions;
  std::size_t shard_bytes = 0;
  bool accumulate = false;

  Status check_stripes(std::size_t stripe_count, const std::byte* const* inputs,
                       std::byte* const* outputs) const {
    if (inputs == nullptr && parts.reads != 0) return invalid("inputs is NULL; expected a list");
    if (outputs == nullptr && parts.writes != 0) return invalid("outputs is NULL; expected a list");
    for (std::size_t stripe = 0; stripe < stripe_count; ++stripe) {
      CALPE_CHECK(engine::check_overlap(std::span(inputs + stripe * parts.reads, parts.reads),
                                        std::span(outputs + stripe * parts.writes, parts.writes),
                                        shard_bytes));
    }
    return Done{};
  }

  Status enqueue(const backend::QueueHandle& queue, std::size_t stripe_count,
                 const std::byte* const* inputs, std::byte* const* outputs, Shard workspace) const {
    if (stripe_count == 0 || regions.count == 0 || parts.writes == 0) return Done{};
    // First, as it also refuses counts that no list has.
    if (const std::size_t needed = queues->workspace_bytes(*parts.kernel, stripe_count);
        workspace.size() < needed) {
      return invalid("workspace has ", workspace.size(), " bytes; expected at least ", needed);
    }
    CALPE_CHECK(check_stripes(stripe_count, inputs, outputs));
    return queues->enqueue(*parts.kernel, queue,
                           {.stripe_count = stripe_count,
                            .inputs = inputs,
                            .outputs = outputs,
                            .regions = regions.get(),
                            .accumulate = accumulate,
                            .workspace = workspace});
  }
};

Result<QueuePlan> QueuePlan::create(const Codec& codec, const Plan& plan, std::size_t shard_bytes,
                                    RunOptions options) {
  return guarded([&]() -> Result<QueuePlan> {
    auto impl = std::make_shared<Impl>();
    CALPE_TRY(impl->parts, CodecAccess::plan_parts(codec, plan));
    impl->queues = impl->parts.device->caller_queues();
    if (impl->queues == nullptr) {
      return invalid("codec runs on ", impl->parts.device->name(),
                     ", which takes no stream or queue of the caller; expected one CUDA or OpenCL "
                     "device");
    }
    const CodeSpec& spec = codec.spec();
    engine::LengthCheck check(spec);
    CALPE_CHECK(check.see(0, shard_bytes, {.list = {"shard_bytes"}}));
    CALPE_CHECK(check.finish());
    CALPE_TRY(impl->regions, regions_in_place(spec, shard_bytes));
    impl->shard_bytes = shard_bytes;
    impl->accumulate = options.accumulate;
    CALPE_CHECK(impl->queues->prepare(*impl->parts.kernel, impl->regions.get(), impl->accumulate));
    return QueuePlan(std::move(impl));
  });
}

std::size_t QueuePlan::shard_bytes() const noexcept {
  return impl_ ? impl_->shard_bytes : 0;
}

std::size_t QueuePlan::workspace_bytes(std::size_t stripe_count) const noexcept {
  return impl_ ? impl_->queues->workspace_bytes(*impl_->parts.kernel, stripe_count) : 0;
}

Status QueuePlan::enqueue_cuda(void* stream, std::size_t stripe_count,
                               const std::byte* const* inputs, std::byte* const* outputs,
                               Shard workspace) const {
  return guarded([&]() -> Status {
    if (!impl_) return invalid("the queue plan is empty; make one with create()");
    return impl_->enqueue({.kind = backend::QueueKind::cuda_stream,
                           .handle = reinterpret_cast<std::uint64_t>(stream)},
                          stripe_count, inputs, outputs, workspace);
  });
}

Status QueuePlan::enqueue_opencl(void* queue, std::size_t stripe_count,
                                 const std::byte* const* inputs, std::byte* const* outputs,
                                 Shard workspace) const {
  return guarded([&]() -> Status {
    if (!impl_) return invalid("the queue plan is empty; make one with create()");
    return impl_->enqueue({.kind = backend::QueueKind::opencl_queue,
                           .handle = reinterpret_cast<std::uint64_t>(queue)},
                          stripe_count, inputs, outputs, workspace);
  });
}

}  // namespace calpe
