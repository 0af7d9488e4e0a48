// SPDX-License-Identifier: Apache-2.0
// Checks that compiled kernels compute the same bytes as the CPU before they are used.
#pragma once
#include <calpe/result.hpp>

#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"

namespace calpe::backend::gpu {

// Runs the kernel over random shards, including odd lengths, and compares all bytes with the cpu
// device. `variant`: tests this one; null: the table kernels. Fails with device_failed.
Status check_module(Core& core, const GpuKernel& kernel, const Variant* variant, bool accumulate);

}  // namespace calpe::backend::gpu
