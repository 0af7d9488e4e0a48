// SPDX-License-Identifier: Apache-2.0
// gpu::Driver for Vulkan. Kernels are SPIR-V and take addresses of buffers.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include <calpe/result.hpp>

#include "backend/gpu/driver.hpp"
#include "backend/vulkan/vulkan_found.hpp"

namespace calpe::backend::vulkan {

struct VulkanTarget {
  std::string name = {};  // "vulkan:0"
  FoundDevice device = {};
  std::chrono::milliseconds first_launch_limit = {};  // compile time of a kernel
};
// Fails with backend_unavailable if the device lacks something.
Result<std::unique_ptr<gpu::Driver>> open_vulkan_driver(const Api& api, const VulkanTarget& target);

// "NVIDIA GeForce RTX 4090, driver NVIDIA 570.86.16"
std::string description_of(const FoundDevice& found);

}  // namespace calpe::backend::vulkan
