// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace calpe::backend::vulkan {

// variant: number, PCI address or UUID of a device; empty is "0". CALPE_VULKAN_LIBRARY replaces
// libvulkan.so.1. With CALPE_VULKAN_CPU, devices that run on the CPU are found, too.
Result<std::unique_ptr<Device>> open_vulkan(std::string_view variant);
std::vector<BackendStatus> list_vulkan();

}  // namespace calpe::backend::vulkan
