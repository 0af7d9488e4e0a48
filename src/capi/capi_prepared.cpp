// SPDX-License-Identifier: Apache-2.0
// calpe.h: prepared plans. The calls on raw pointers check nothing, as documented.
#include "capi/capi_stripes.hpp"

using namespace calpe;
using namespace calpe::capi;

struct calpe_prepared {
  PreparedPlan plan;
};

calpe_status calpe_prepare(const calpe_codec* codec, const calpe_plan* plan, size_t shard_bytes,
                           uint32_t flags, calpe_prepared** out, calpe_error* error) {
  return walled(error, [&] {
    if (out != nullptr) *out = nullptr;
    if (codec == nullptr || plan == nullptr || out == nullptr) {
      return null_among({{"codec", codec}, {"plan", plan}, {"out", out}}, error);
    }
    if (!known_flags(flags)) return unknown_flags(error);
    return give(codec->codec.prepare(plan->plan, shard_bytes, to_run_options(flags)), out, error);
  });
}

calpe_status calpe_prepared_run(const calpe_prepared* prepared, const void* const* inputs,
                                void* const* outputs, calpe_error* error) {
  return finish(prepared->plan.run(bytes_of(inputs), bytes_of(outputs)), error);
}

calpe_status calpe_prepared_run_batch(const calpe_prepared* prepared, size_t stripe_count,
                                      const void* const* inputs, void* const* outputs,
                                      calpe_error* error) {
  return finish(prepared->plan.run_batch(stripe_count, bytes_of(inputs), bytes_of(outputs)), error);
}

calpe_status calpe_prepared_run_strided(const calpe_prepared* prepared, size_t stripe_count,
                                        const calpe_strided_inputs* inputs,
                                        const calpe_strided_outputs* outputs, calpe_error* error) {
  return finish(prepared->plan.run_strided(stripe_count,
                                           {.base = static_cast<const std::byte*>(inputs->base),
                                            .shard_stride = inputs->shard_stride,
                                            .stripe_stride = inputs->stripe_stride},
                                           {.base = static_cast<std::byte*>(outputs->base),
                                            .shard_stride = outputs->shard_stride,
                                            .stripe_stride = outputs->stripe_stride}),
                error);
}

void calpe_prepared_destroy(calpe_prepared* prepared) {
  delete prepared;
}
