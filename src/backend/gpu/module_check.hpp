// SPDX-License-Identifier: Apache-2.0
// Nothing that a driver compiled is used before it gave the CPU's bytes.
#pragma once
#include <calpe/result.hpp>

#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"

namespace calpe::backend::gpu {

// Runs the kernel over random shards, words and odd ends, and compares all bytes with the cpu
// device's. `variant`: that one; null: the table kernels. Fails with device_failed.
Status check_module(Core& core, const GpuKernel& kernel, const Variant* variant, bool accumulate);

}  // namespace calpe::backend::gpu
