// SPDX-License-Identifier: Apache-2.0
// An open device with its queues and its memory. Shared by everything that was created in it.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include <calpe/result.hpp>

#include "backend/vulkan/vulkan_api.hpp"
#include "backend/vulkan/vulkan_found.hpp"

namespace calpe::backend::vulkan {

// 64-bit push constants of every kernel, see spirv_arguments.hpp.
inline constexpr std::uint32_t push_bytes = 13 * 8;

class VulkanContext {
 public:
  static Result<std::shared_ptr<VulkanContext>> open(const Api& api, const FoundDevice& found);
  VulkanContext(const VulkanContext&) = delete;
  VulkanContext& operator=(const VulkanContext&) = delete;
  ~VulkanContext();

  const Api& api() const noexcept { return api_; }
  VkDevice device() const noexcept { return device_; }
  const FoundDevice& found() const noexcept { return found_; }
  VkPipelineLayout layout() const noexcept { return layout_; }

  // Memory of the device by its address, and memory of the host that the device copies.
  Result<std::uint64_t> allocate(std::size_t bytes);
  void release(std::uint64_t address);
  Result<std::byte*> allocate_host(std::size_t bytes);
  void release_host(const std::byte* memory);
  Status register_host(std::byte* memory, std::size_t bytes);
  void unregister_host(const std::byte* memory);

  struct Part {
    VkBuffer buffer = nullptr;
    VkDeviceSize offset = 0;
  };
  // Fails with invalid_argument unless all of it is memory of this device.
  Result<Part> find_device(std::uint64_t address, std::size_t bytes) const;
  // nullopt if the device cannot copy it.
  std::optional<Part> find_host(const std::byte* memory, std::size_t bytes) const;

  // The queue for the next user; several share one. Submits under its lock.
  std::size_t next_queue() noexcept { return turn_.fetch_add(1) % queues_.size(); }
  Status submit(std::size_t queue, const VkSubmitInfo& info);

 private:
  struct Buffer {
    VkBuffer buffer = nullptr;
    VkDeviceMemory memory = nullptr;
    std::size_t bytes = 0;
    std::size_t before = 0;  // registered memory: bytes before it in the buffer
  };
  struct Queue {
    VkQueue handle = nullptr;
    std::mutex mutex = {};
  };

  VulkanContext(const Api& api, const FoundDevice& found) : api_(api), found_(found) {}
  Status open_device();
  Status create_buffer(Buffer& buffer, VkBufferUsageFlags usage,
                       VkExternalMemoryHandleTypeFlags handles) const;
  Status bind_memory(Buffer& buffer, std::uint32_t type, const void* next) const;
  void destroy(const Buffer& buffer) const;
  // The first type of these that has all flags.
  std::optional<std::uint32_t> memory_type(std::uint32_t types, VkMemoryPropertyFlags flags) const;
  Result<Buffer> import_host(std::byte* memory, std::size_t bytes) const;
  void drop_host(const std::byte* memory);

  const Api& api_;
  FoundDevice found_;
  VkPhysicalDeviceMemoryProperties memory_ = {};
  VkDevice device_ = nullptr;
  VkPipelineLayout layout_ = nullptr;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::atomic<std::size_t> turn_ = 0;

  mutable std::shared_mutex mutex_;  // guards the maps
  std::map<std::uint64_t, Buffer> on_device_;
  std::map<const std::byte*, Buffer> on_host_;
};
using ContextRef = std::shared_ptr<VulkanContext>;

}  // namespace calpe::backend::vulkan
