// SPDX-License-Identifier: Apache-2.0
// Shards that the device can reach: whole words by the variant that was compiled for the plan, or
// by a table kernel; what is left at the ends of units, byte by byte.
#pragma once
#include <cstddef>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"

namespace calpe::backend::gpu {

struct Reached {
  Place shards = {};  // the table, stripe_count x (inputs, outputs)
  void* n_base = nullptr;
  void* r_base = nullptr;
  std::size_t stripe_count = 1;
  Geometry geometry = {};
  bool accumulate = false;
  // The largest power of two that divides every shard's address, the offset and the strides.
  std::size_t alignment = 1;
};

// `forced`: this variant and no other; null: the one that is ready.
Status enqueue(Core& core, Queue& queue, const GpuKernel& kernel, const Reached& reached,
               const Variant* forced);

}  // namespace calpe::backend::gpu
