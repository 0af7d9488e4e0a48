// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/gpu_options.hpp"

#include <charconv>

#include "base/env.hpp"

namespace calpe::backend::gpu {

namespace {

// Positive milliseconds; anything else keeps the default.
void read_limit(const char* variable, std::chrono::milliseconds& limit) {
  const auto value = environment(variable);
  if (!value) return;
  long long milliseconds = 0;
  const char* const end = value->data() + value->size();
  const auto parsed = std::from_chars(value->data(), end, milliseconds);
  if (parsed.ec == std::errc() && parsed.ptr == end && milliseconds > 0) {
    limit = std::chrono::milliseconds(milliseconds);
  }
}

}  // namespace

GpuOptions options_from_environment() {
  GpuOptions options;
  read_limit("CALPE_DEVICE_TIMEOUT_MS", options.time_limit);
  read_limit("CALPE_DEVICE_COMPILE_TIMEOUT_MS", options.compile_limit);
  options.cache = kernel::cache_location();
  options.waits = environment("CALPE_WAIT_COMPILE").has_value();
  options.profiling = environment("CALPE_PROFILE").has_value();
  options.table_only = environment("CALPE_DEVICE_KERNELS") == "table";
  options.tunes = environment("CALPE_DEVICE_TUNE") != "0";
  return options;
}

}  // namespace calpe::backend::gpu
