// SPDX-License-Identifier: Apache-2.0
// calpe.h: plans in a stream or queue of the caller.
#include <calpe/device_queue.hpp>

#include "capi/capi_stripes.hpp"

using namespace calpe;
using namespace calpe::capi;

struct calpe_queue_plan {
  QueuePlan plan;
};

calpe_status calpe_queue_plan_create(const calpe_codec* codec, const calpe_plan* plan,
                                     size_t shard_bytes, uint32_t flags, calpe_queue_plan** out,
                                     calpe_error* error) {
  return walled(error, [&] {
    if (out != nullptr) *out = nullptr;
    if (codec == nullptr || plan == nullptr || out == nullptr) {
      return null_among({{"codec", codec}, {"plan", plan}, {"out", out}}, error);
    }
    if (!known_flags(flags)) return unknown_flags(error);
    return give(QueuePlan::create(codec->codec, plan->plan, shard_bytes, to_run_options(flags)),
                out, error);
  });
}

size_t calpe_queue_plan_workspace_bytes(const calpe_queue_plan* plan, size_t stripe_count) {
  return plan->plan.workspace_bytes(stripe_count);
}

calpe_status calpe_enqueue_cuda(const calpe_queue_plan* plan, void* stream, size_t stripe_count,
                                const void* const* inputs, void* const* outputs, void* workspace,
                                size_t workspace_bytes, calpe_error* error) {
  return walled(error, [&] {
    if (plan == nullptr) return null_argument("plan is NULL", error);
    return finish(plan->plan.enqueue_cuda(stream, stripe_count, bytes_of(inputs), bytes_of(outputs),
                                          {static_cast<std::byte*>(workspace), workspace_bytes}),
                  error);
  });
}

calpe_status calpe_enqueue_opencl(const calpe_queue_plan* plan, void* queue, size_t stripe_count,
                                  const void* const* inputs, void* const* outputs, void* workspace,
                                  size_t workspace_bytes, calpe_error* error) {
  return walled(error, [&] {
    if (plan == nullptr) return null_argument("plan is NULL", error);
    return finish(
        plan->plan.enqueue_opencl(queue, stripe_count, bytes_of(inputs), bytes_of(outputs),
                                  {static_cast<std::byte*>(workspace), workspace_bytes}),
        error);
  });
}

void calpe_queue_plan_destroy(calpe_queue_plan* plan) {
  delete plan;
}
