// SPDX-License-Identifier: Apache-2.0
// Linked into a copy of the plugin with --wrap=calpe_run. It rebuilds one wrong bit, which the
// tests must detect.
#include <calpe/calpe.h>

extern "C" {
calpe_status __real_calpe_run(const calpe_codec* codec, const calpe_plan* plan,
                              const void* const* inputs, void* const* outputs, size_t shard_bytes,
                              uint32_t flags, calpe_error* error);

calpe_status __wrap_calpe_run(const calpe_codec* codec, const calpe_plan* plan,
                              const void* const* inputs, void* const* outputs, size_t shard_bytes,
                              uint32_t flags, calpe_error* error) {
  const calpe_status status =
      __real_calpe_run(codec, plan, inputs, outputs, shard_bytes, flags, error);
  if (shard_bytes != 0) static_cast<unsigned char*>(outputs[0])[0] ^= 1;
  return status;
}
}
