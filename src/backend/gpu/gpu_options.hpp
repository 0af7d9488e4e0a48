// SPDX-License-Identifier: Apache-2.0
// How devices behind drivers work; the same for OpenCL and CUDA.
#pragma once
#include <chrono>
#include <cstddef>

#include "kernel_cache/cache_folder.hpp"

namespace calpe::backend::gpu {

struct GpuOptions {
  // A device that takes longer for one piece of work is taken for hung.
  std::chrono::milliseconds time_limit = std::chrono::seconds(30);
  kernel::CacheLocation cache = {};
  // compile() and the first run of a variant wait for the compiler instead of using tables.
  bool waits = false;
  bool profiling = false;
  bool table_only = false;  // nothing is specialised
  bool tunes = true;        // measures which word and group size is best; otherwise the first
  std::size_t slot_bytes = std::size_t{16} << 20U;  // of a piece of work that is copied
};

// CALPE_DEVICE_TIMEOUT_MS, CALPE_CACHE_DIR, CALPE_WAIT_COMPILE, CALPE_PROFILE,
// CALPE_DEVICE_KERNELS=table, CALPE_DEVICE_TUNE=0.
GpuOptions options_from_environment();

}  // namespace calpe::backend::gpu
