// SPDX-License-Identifier: Apache-2.0
// Builds a kernel variant: optimise, emit, compile, compare with the CPU, store.
#pragma once
#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"

namespace calpe::backend::gpu {

// The variant ends up ready or failed. Never throws.
void build_variant(Core& core, const GpuKernel& kernel, Variant& variant) noexcept;

}  // namespace calpe::backend::gpu
