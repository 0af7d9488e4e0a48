// SPDX-License-Identifier: Apache-2.0
// Options of devices behind drivers, the same for OpenCL, CUDA and Vulkan.
#pragma once
#include <chrono>
#include <cstddef>

#include "kernel_cache/cache_folder.hpp"

namespace calpe::backend::gpu {

struct GpuOptions {
  // A job that takes longer counts as hung.
  std::chrono::milliseconds time_limit = std::chrono::seconds(30);
  // Limit of a kernel's first launch, during which a driver may compile it.
  std::chrono::milliseconds compile_limit = std::chrono::minutes(10);
  kernel::CacheLocation cache = {};
  // compile() and the first run of a variant wait for the compiler instead of using table kernels.
  bool waits = false;
  bool profiling = false;
  bool table_only = false;  // no specialised kernels
  bool tunes = true;        // measure the best word and group size; otherwise use the first
  std::size_t slot_bytes = std::size_t{16} << 20U;  // size of a copied chunk
};

// Reads CALPE_DEVICE_TIMEOUT_MS, CALPE_DEVICE_COMPILE_TIMEOUT_MS, CALPE_CACHE_DIR,
// CALPE_WAIT_COMPILE, CALPE_PROFILE, CALPE_DEVICE_KERNELS=table, CALPE_DEVICE_TUNE=0.
GpuOptions options_from_environment();

}  // namespace calpe::backend::gpu
