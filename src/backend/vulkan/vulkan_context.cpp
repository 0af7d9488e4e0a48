// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/vulkan_context.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::vulkan {

namespace {

constexpr VkBufferUsageFlags copied =
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
// Memory that host and device share without flushes.
constexpr VkMemoryPropertyFlags seen_by_host =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

// The buffer with these bytes, and their offset in it; null if no buffer has them.
template <class Map, class Address>
std::optional<VulkanContext::Part> part_of(const Map& map, Address address, std::size_t bytes) {
  auto next = map.upper_bound(address);
  if (next == map.begin()) return std::nullopt;
  --next;
  const auto offset = static_cast<std::size_t>(address - next->first);
  if (offset > next->second.bytes || bytes > next->second.bytes - offset) return std::nullopt;
  return VulkanContext::Part{next->second.buffer, next->second.before + offset};
}

}  // namespace

Result<ContextRef> VulkanContext::open(const Api& api, const FoundDevice& found) {
  ContextRef context(new VulkanContext(api, found));
  CALPE_CHECK(context->open_device());
  return context;
}

Status VulkanContext::open_device() {
  api_.vkGetPhysicalDeviceMemoryProperties(found_.handle, &memory_);
  const std::vector<float> priorities(found_.queues, 1.0F);
  VkDeviceQueueCreateInfo queues = {};
  queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queues.queueFamilyIndex = found_.family;
  queues.queueCount = found_.queues;
  queues.pQueuePriorities = priorities.data();
  VkPhysicalDeviceVulkan12Features newer = {};
  newer.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  newer.bufferDeviceAddress = VK_TRUE;
  newer.timelineSemaphore = VK_TRUE;
  newer.storageBuffer8BitAccess = VK_TRUE;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &newer;
  features.features.shaderInt64 = VK_TRUE;
  const char* const extension = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
  VkDeviceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queues;
  info.enabledExtensionCount = found_.imports_host_memory ? 1 : 0;
  info.ppEnabledExtensionNames = &extension;
  CALPE_CHECK(check(api_.vkCreateDevice(found_.handle, &info, nullptr, &device_), "vkCreateDevice",
                    ErrorCode::backend_unavailable));
  for (std::uint32_t i = 0; i < found_.queues; ++i) {
    queues_.push_back(std::make_unique<Queue>());
    api_.vkGetDeviceQueue(device_, found_.family, i, &queues_.back()->handle);
  }
  const VkPushConstantRange range = {
      .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .offset = 0, .size = push_bytes};
  VkPipelineLayoutCreateInfo layout = {};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  return check(api_.vkCreatePipelineLayout(device_, &layout, nullptr, &layout_),
               "vkCreatePipelineLayout");
}

VulkanContext::~VulkanContext() {
  if (device_ == nullptr) return;
  for (const auto& [address, buffer] : on_device_)
    destroy(buffer);
  for (const auto& [memory, buffer] : on_host_)
    destroy(buffer);
  api_.vkDestroyPipelineLayout(device_, layout_, nullptr);
  api_.vkDestroyDevice(device_, nullptr);
}

std::optional<std::uint32_t> VulkanContext::memory_type(std::uint32_t types,
                                                        VkMemoryPropertyFlags flags) const {
  for (std::uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
    if ((types >> i & 1U) != 0 && (memory_.memoryTypes[i].propertyFlags & flags) == flags) return i;
  }
  return std::nullopt;
}

Status VulkanContext::create_buffer(Buffer& buffer, VkBufferUsageFlags usage,
                                    VkExternalMemoryHandleTypeFlags handles) const {
  VkExternalMemoryBufferCreateInfo external = {};
  external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  external.handleTypes = handles;
  VkBufferCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = handles != 0 ? &external : nullptr;
  info.size = buffer.before + buffer.bytes;
  info.usage = usage;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  return check(api_.vkCreateBuffer(device_, &info, nullptr, &buffer.buffer), "vkCreateBuffer");
}

// Destroys the buffer on failure.
Status VulkanContext::bind_memory(Buffer& buffer, std::uint32_t type, const void* next) const {
  VkMemoryRequirements needs = {};
  api_.vkGetBufferMemoryRequirements(device_, buffer.buffer, &needs);
  VkMemoryAllocateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = next;
  info.allocationSize = needs.size;
  info.memoryTypeIndex = type;
  Status done =
      check(api_.vkAllocateMemory(device_, &info, nullptr, &buffer.memory), "vkAllocateMemory");
  if (done) {
    done = check(api_.vkBindBufferMemory(device_, buffer.buffer, buffer.memory, 0),
                 "vkBindBufferMemory");
  }
  if (!done) destroy(buffer);
  return done;
}

void VulkanContext::destroy(const Buffer& buffer) const {
  api_.vkDestroyBuffer(device_, buffer.buffer, nullptr);
  api_.vkFreeMemory(device_, buffer.memory, nullptr);
}

Result<std::uint64_t> VulkanContext::allocate(std::size_t bytes) {
  if (bytes > found_.allocation_max) {
    return make_error(ErrorCode::out_of_memory, found_.name, " allocates at most ",
                      found_.allocation_max, " bytes at once; ", bytes, " are needed");
  }
  Buffer buffer = {.bytes = std::max<std::size_t>(bytes, 1)};
  CALPE_CHECK(create_buffer(
      buffer,
      copied | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, 0));
  VkMemoryRequirements needs = {};
  api_.vkGetBufferMemoryRequirements(device_, buffer.buffer, &needs);
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .pNext = nullptr,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
                                           .deviceMask = 0};
  // Vulkan guarantees a type that is local to the device, but not for every buffer.
  const auto type = memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
                        .value_or(memory_type(needs.memoryTypeBits, 0).value_or(0));
  CALPE_CHECK(bind_memory(buffer, type, &flags));
  const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                          .pNext = nullptr,
                                          .buffer = buffer.buffer};
  const std::uint64_t address = api_.vkGetBufferDeviceAddress(device_, &info);
  const std::unique_lock lock(mutex_);
  on_device_[address] = buffer;
  return address;
}

void VulkanContext::release(std::uint64_t address) {
  Buffer buffer;
  {
    const std::unique_lock lock(mutex_);
    const auto found = on_device_.find(address);
    if (found == on_device_.end()) return;
    buffer = found->second;
    on_device_.erase(found);
  }
  destroy(buffer);
}

Result<std::byte*> VulkanContext::allocate_host(std::size_t bytes) {
  Buffer buffer = {.bytes = std::max<std::size_t>(bytes, 1)};
  CALPE_CHECK(create_buffer(buffer, copied, 0));
  VkMemoryRequirements needs = {};
  api_.vkGetBufferMemoryRequirements(device_, buffer.buffer, &needs);
  // Vulkan guarantees the second. The CPU reads memory that is not cached slowly.
  const auto type =
      memory_type(needs.memoryTypeBits, seen_by_host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
          .value_or(memory_type(needs.memoryTypeBits, seen_by_host).value_or(0));
  CALPE_CHECK(bind_memory(buffer, type, nullptr));
  void* mapped = nullptr;
  const VkResult result = api_.vkMapMemory(device_, buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped);
  if (result != VK_SUCCESS) {
    destroy(buffer);
    return check(result, "vkMapMemory").error();
  }
  auto* const memory = static_cast<std::byte*>(mapped);
  const std::unique_lock lock(mutex_);
  on_host_[memory] = buffer;
  return memory;
}

void VulkanContext::drop_host(const std::byte* memory) {
  Buffer buffer;
  {
    const std::unique_lock lock(mutex_);
    const auto found = on_host_.find(memory);
    if (found == on_host_.end()) return;
    buffer = found->second;
    on_host_.erase(found);
  }
  destroy(buffer);
}

void VulkanContext::release_host(const std::byte* memory) {
  drop_host(memory);
}

// Drivers import whole pages, so that the buffer begins before the memory and ends after it.
Result<VulkanContext::Buffer> VulkanContext::import_host(std::byte* memory,
                                                         std::size_t bytes) const {
  constexpr auto kind = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  const std::size_t page = found_.import_alignment;
  const std::size_t before = reinterpret_cast<std::uintptr_t>(memory) % page;
  const std::size_t whole = (before + bytes + page - 1) / page * page;
  std::byte* const start = memory - before;
  VkMemoryHostPointerPropertiesEXT properties = {};
  properties.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
  CALPE_CHECK(check(api_.vkGetMemoryHostPointerPropertiesEXT(device_, kind, start, &properties),
                    "vkGetMemoryHostPointerPropertiesEXT"));
  Buffer buffer = {.bytes = whole - before, .before = before};
  CALPE_CHECK(create_buffer(buffer, copied, kind));
  VkMemoryRequirements needs = {};
  api_.vkGetBufferMemoryRequirements(device_, buffer.buffer, &needs);
  const auto type = memory_type(needs.memoryTypeBits & properties.memoryTypeBits, seen_by_host);
  if (!type || needs.size > whole) {
    api_.vkDestroyBuffer(device_, buffer.buffer, nullptr);
    return make_error(ErrorCode::device_failed, found_.name,
                      " cannot register this memory; use it without");
  }
  const VkImportMemoryHostPointerInfoEXT info = {
      .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
      .pNext = nullptr,
      .handleType = kind,
      .pHostPointer = start};
  CALPE_CHECK(bind_memory(buffer, *type, &info));
  buffer.bytes = bytes;
  return buffer;
}

Status VulkanContext::register_host(std::byte* memory, std::size_t bytes) {
  if (bytes == 0) return invalid("memory to register has 0 bytes; expected at least 1");
  if (!found_.imports_host_memory) {
    return make_error(ErrorCode::device_failed, found_.name,
                      " cannot register memory: its driver lacks VK_EXT_external_memory_host");
  }
  CALPE_TRY(const Buffer buffer, import_host(memory, bytes));
  bool is_new = false;
  {
    const std::unique_lock lock(mutex_);
    is_new = on_host_.emplace(memory, buffer).second;
  }
  if (is_new) return Done{};
  destroy(buffer);
  return make_error(ErrorCode::device_failed, "this memory is already registered with ",
                    found_.name);
}

void VulkanContext::unregister_host(const std::byte* memory) {
  drop_host(memory);
}

Result<VulkanContext::Part> VulkanContext::find_device(std::uint64_t address,
                                                       std::size_t bytes) const {
  const std::shared_lock lock(mutex_);
  if (const auto part = part_of(on_device_, address, bytes)) return *part;
  return invalid("copy of ", bytes, " bytes at device address ", address,
                 ", which is not memory of ", found_.name);
}

std::optional<VulkanContext::Part> VulkanContext::find_host(const std::byte* memory,
                                                            std::size_t bytes) const {
  const std::shared_lock lock(mutex_);
  return part_of(on_host_, memory, bytes);
}

Status VulkanContext::submit(std::size_t queue, const VkSubmitInfo& info) {
  const std::lock_guard lock(queues_[queue]->mutex);
  return check(api_.vkQueueSubmit(queues_[queue]->handle, 1, &info, VK_NULL_HANDLE),
               "vkQueueSubmit");
}

}  // namespace calpe::backend::vulkan
