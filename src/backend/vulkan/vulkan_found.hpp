// SPDX-License-Identifier: Apache-2.0
// The Vulkan devices of this machine, and what Calpe needs to know of them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "backend/vulkan/vulkan_api.hpp"

namespace calpe::backend::vulkan {

struct FoundDevice {
  VkPhysicalDevice handle = nullptr;
  std::string name = {};
  std::string driver = {};    // name and version
  std::string identity = {};  // of device and driver, and of all versions
  std::string uuid = {};      // "6d657361-3232-2e33-2e36-000000000000"
  std::string pci = {};       // "0000:3b:00.0", or empty
  bool is_cpu = false;
  bool imports_host_memory = false;  // VK_EXT_external_memory_host
  std::uint32_t family = 0;          // of queues that compute
  std::uint32_t queues = 1;
  std::uint32_t timestamp_bits = 0;  // 0: its queues have no timestamps
  std::string missing = {};          // why it cannot be used, or empty

  VkPhysicalDeviceProperties properties = {};
  VkDeviceSize allocation_max = 0;
  VkDeviceSize import_alignment = 0;
};

// GPUs first, so that numbers depend little on what else is installed. Devices that run on the CPU
// are left out unless CALPE_VULKAN_CPU is set: many desktops have one by chance, and it is slower
// than Calpe's own code. Fails with backend_unavailable if none is left.
Result<std::vector<FoundDevice>> find_devices(const Api& api);

}  // namespace calpe::backend::vulkan
