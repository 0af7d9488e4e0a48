// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/vulkan_found.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "backend/gpu/pci_address.hpp"
#include "base/env.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::vulkan {

namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : bytes) {
    out.push_back(digits[byte >> 4U]);
    out.push_back(digits[byte & 15U]);
  }
  return out;
}

std::string uuid_text(std::span<const std::uint8_t> bytes) {
  std::string out = hex(bytes);
  for (const std::size_t at : {20U, 16U, 12U, 8U})
    out.insert(at, "-");
  return out;
}

std::vector<std::string> extensions_of(const Api& api, VkPhysicalDevice device) {
  std::uint32_t count = 0;
  api.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> all(count);
  api.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, all.data());
  all.resize(count);
  std::vector<std::string> names;
  for (const VkExtensionProperties& one : all)
    names.emplace_back(one.extensionName);
  return names;
}

// What the kernels and queues need; Vulkan 1.3 requires the first two.
std::string missing_feature(const Api& api, VkPhysicalDevice device) {
  VkPhysicalDeviceVulkan12Features newer = {};
  newer.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &newer;
  api.vkGetPhysicalDeviceFeatures2(device, &features);
  if (newer.bufferDeviceAddress == VK_FALSE) return "bufferDeviceAddress";
  if (newer.timelineSemaphore == VK_FALSE) return "timelineSemaphore";
  if (newer.storageBuffer8BitAccess == VK_FALSE) return "storageBuffer8BitAccess";
  if (features.features.shaderInt64 == VK_FALSE) return "shaderInt64";
  return {};
}

// Prefers a family that only computes, which graphics do not delay.
void find_family(const Api& api, FoundDevice& found) {
  std::uint32_t count = 0;
  api.vkGetPhysicalDeviceQueueFamilyProperties(found.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.vkGetPhysicalDeviceQueueFamilyProperties(found.handle, &count, families.data());
  constexpr std::uint32_t queues_max = 4;
  found.queues = 0;
  bool is_alone = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const VkQueueFamilyProperties& family = families[i];
    if ((family.queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || family.queueCount == 0) continue;
    const bool has_graphics = (family.queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
    if (found.queues != 0 && (is_alone || has_graphics)) continue;
    is_alone = !has_graphics;
    found.family = i;
    found.queues = std::min(family.queueCount, queues_max);
    found.timestamp_bits = family.timestampValidBits;
  }
  if (found.queues == 0) found.missing = "has no queue that computes";
}

FoundDevice describe_device(const Api& api, VkPhysicalDevice device) {
  FoundDevice found = {.handle = device};
  api.vkGetPhysicalDeviceProperties(device, &found.properties);
  found.name = found.properties.deviceName;
  found.is_cpu = found.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  if (found.properties.apiVersion < VK_API_VERSION_1_2) {
    found.missing = text("has Vulkan ", VK_API_VERSION_MAJOR(found.properties.apiVersion), ".",
                         VK_API_VERSION_MINOR(found.properties.apiVersion), "; expected 1.2");
    return found;
  }
  const std::vector<std::string> extensions = extensions_of(api, device);
  const auto has = [&](const char* name) {
    return std::ranges::find(extensions, name) != extensions.end();
  };
  VkPhysicalDevicePCIBusInfoPropertiesEXT bus = {};
  bus.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT;
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {};
  host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
  VkPhysicalDeviceMaintenance3Properties sizes = {};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  VkPhysicalDeviceDriverProperties driver = {};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  driver.pNext = &sizes;
  VkPhysicalDeviceIDProperties ids = {};
  ids.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  ids.pNext = &driver;
  VkPhysicalDeviceProperties2 all = {};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &ids;
  const bool has_bus = has(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  found.imports_host_memory = has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) &&
                              api.vkGetMemoryHostPointerPropertiesEXT != nullptr;
  if (has_bus) {
    bus.pNext = all.pNext;
    all.pNext = &bus;
  }
  if (found.imports_host_memory) {
    host.pNext = all.pNext;
    all.pNext = &host;
  }
  api.vkGetPhysicalDeviceProperties2(device, &all);
  found.driver = text(driver.driverName, " ", driver.driverInfo);
  found.uuid = uuid_text(ids.deviceUUID);
  found.allocation_max = sizes.maxMemoryAllocationSize;
  found.import_alignment = host.minImportedHostPointerAlignment;
  if (has_bus)
    found.pci = gpu::pci_address(bus.pciDomain, bus.pciBus, bus.pciDevice, bus.pciFunction);
  const VkPhysicalDeviceProperties& properties = found.properties;
  found.identity =
      text("vulkan ", found.name, "\n", found.driver, "\n", properties.apiVersion, " ",
           properties.driverVersion, " ", properties.vendorID, " ", properties.deviceID, "\n",
           hex(properties.pipelineCacheUUID), "\n", hex(ids.driverUUID), "\n", found.uuid);
  find_family(api, found);
  if (const std::string feature = missing_feature(api, device); !feature.empty())
    found.missing = text("lacks the feature ", feature);
  return found;
}

int rank_of(const FoundDevice& found) {
  switch (found.properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 4;
    default:
      return 3;
  }
}

}  // namespace

Result<std::vector<FoundDevice>> find_devices(const Api& api) {
  std::uint32_t count = 0;
  CALPE_CHECK(check(api.vkEnumeratePhysicalDevices(api.instance, &count, nullptr),
                    "vkEnumeratePhysicalDevices", ErrorCode::backend_unavailable));
  std::vector<VkPhysicalDevice> handles(count);
  if (count != 0) {
    CALPE_CHECK(check(api.vkEnumeratePhysicalDevices(api.instance, &count, handles.data()),
                      "vkEnumeratePhysicalDevices", ErrorCode::backend_unavailable));
    handles.resize(count);  // one may be gone
  }
  std::vector<FoundDevice> all;
  for (const VkPhysicalDevice handle : handles)
    all.push_back(describe_device(api, handle));
  std::ranges::stable_sort(all, {}, rank_of);
  std::string on_cpu;
  if (!environment("CALPE_VULKAN_CPU")) {
    const auto first = std::ranges::find(all, true, &FoundDevice::is_cpu);
    if (first != all.end()) on_cpu = first->name;
    std::erase_if(all, [](const FoundDevice& found) { return found.is_cpu; });
  }
  if (!all.empty()) return all;
  if (on_cpu.empty()) {
    return make_error(ErrorCode::backend_unavailable,
                      "Vulkan has no device; install the driver of your GPU");
  }
  return make_error(ErrorCode::backend_unavailable, "Vulkan has no GPU, only ", on_cpu,
                    ", which runs on the CPU; set CALPE_VULKAN_CPU=1 to use it");
}

}  // namespace calpe::backend::vulkan
