// SPDX-License-Identifier: Apache-2.0
// Launches kernels on shards that the device can access: whole words by the compiled variant or a
// table kernel, and the rest of each unit byte by byte.
#pragma once
#include <cstddef>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"

namespace calpe::backend::gpu {

struct Reached {
  Place shards = {};  // table of stripe_count x (inputs, outputs)
  void* n_base = nullptr;
  void* r_base = nullptr;
  std::size_t stripe_count = 1;
  Geometry geometry = {};
  bool accumulate = false;
  // The largest power of two that divides every shard address, the offset and the strides.
  std::size_t alignment = 1;
};

// `forced`: use only this variant; null: use the one that is ready.
Status enqueue(Core& core, LaunchQueue& queue, const GpuKernel& kernel, const Reached& reached,
               const Variant* forced);
// Requests the variant that enqueue() would use, unless it is ready.
void request_variant(const Core& core, const GpuKernel& kernel, const Reached& reached);

// The lowest bit set in any of them is the largest power of two that divides all, up to 4096.
std::size_t common_alignment(std::uint64_t bits);
// All bits of the distances between the units that a launch accesses.
std::uint64_t distance_bits(const Geometry& geometry, const emit::DeviceShape& shape);

}  // namespace calpe::backend::gpu
