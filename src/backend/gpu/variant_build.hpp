// SPDX-License-Identifier: Apache-2.0
// From a plan to code that is in use: optimise, emit, compile, compare with the CPU, keep.
#pragma once
#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"

namespace calpe::backend::gpu {

// Ends with the variant ready or failed. Never throws.
void build_variant(Core& core, const GpuKernel& kernel, Variant& variant) noexcept;

}  // namespace calpe::backend::gpu
