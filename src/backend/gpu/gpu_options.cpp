// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/gpu_options.hpp"

#include <charconv>

#include "base/env.hpp"

namespace calpe::backend::gpu {

GpuOptions options_from_environment() {
  GpuOptions options;
  if (const auto limit = environment("CALPE_DEVICE_TIMEOUT_MS")) {
    long long milliseconds = 0;
    const char* const end = limit->data() + limit->size();
    const auto parsed = std::from_chars(limit->data(), end, milliseconds);
    if (parsed.ec == std::errc() && parsed.ptr == end && milliseconds > 0) {
      options.time_limit = std::chrono::milliseconds(milliseconds);
    }
  }
  options.cache = kernel::cache_location();
  options.waits = environment("CALPE_WAIT_COMPILE").has_value();
  options.profiling = environment("CALPE_PROFILE").has_value();
  options.table_only = environment("CALPE_DEVICE_KERNELS") == "table";
  options.tunes = environment("CALPE_DEVICE_TUNE") != "0";
  return options;
}

}  // namespace calpe::backend::gpu
