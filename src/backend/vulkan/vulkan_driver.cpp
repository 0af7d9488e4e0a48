// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/vulkan_driver.hpp"

#include <algorithm>

#include "backend/gpu/first_launch.hpp"
#include "backend/vulkan/vulkan_context.hpp"
#include "backend/vulkan/vulkan_module.hpp"
#include "backend/vulkan/vulkan_queue.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::vulkan {

namespace {

// Candidates that the device supports. All devices support 64 and 128.
std::vector<unsigned> group_sizes(const VkPhysicalDeviceLimits& limits) {
  const std::uint32_t most =
      std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  std::vector<unsigned> sizes = {128, 256, 64};
  std::erase_if(sizes, [&](unsigned wanted) { return wanted > most; });
  return sizes;
}

gpu::DriverInfo info_of(const FoundDevice& found, std::string name,
                        const VkPhysicalDeviceMemoryProperties& memory) {
  const VkPhysicalDeviceLimits& limits = found.properties.limits;
  gpu::DriverInfo info;
  info.name = std::move(name);
  info.description = description_of(found);
  info.identity = found.identity;
  info.language = emit::DeviceLanguage::spirv;
  info.word_bytes = {16, 4};
  info.group_items = group_sizes(limits);
  // An integrated GPU shares memory, but not at the host's addresses.
  info.shares_memory = false;
  info.has_addresses = true;
  info.has_unified_addresses = false;
  if (found.is_cpu) info.terms_max = gpu::terms_max_of_cpus;
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
      info.memory_bytes = std::max<std::size_t>(info.memory_bytes, memory.memoryHeaps[i].size);
  }
  info.allocation_max = static_cast<std::size_t>(found.allocation_max);
  info.grid_max = std::min(limits.maxComputeWorkGroupCount[1], limits.maxComputeWorkGroupCount[2]);
  info.words_max =
      std::size_t{limits.maxComputeWorkGroupCount[0]} * *std::ranges::min_element(info.group_items);
  // Kernels count work-items in 32 bits.
  info.words_max = std::min(info.words_max, std::size_t{1} << 31U);
  return info;
}

class VulkanDriver : public gpu::Driver {
 public:
  VulkanDriver(gpu::DriverInfo info, ContextRef context, std::chrono::milliseconds limit)
      : info_(std::move(info)), context_(std::move(context)), first_launch_limit_(limit) {}

  const gpu::DriverInfo& info() const noexcept override { return info_; }

  Result<std::unique_ptr<gpu::Module>> build(const emit::DeviceText& text,
                                             const emit::DeviceForm& form) override {
    if (form.language != emit::DeviceLanguage::spirv)
      return invalid(info_.name, " takes SPIR-V only");
    return launch_first(
        VulkanModule::build(context_, text.text, text.entries, form.group_items, {}));
  }
  Result<std::unique_ptr<gpu::Module>> load(std::span<const std::byte> binary,
                                            const emit::DeviceText& text,
                                            const emit::DeviceForm& form) override {
    return launch_first(VulkanModule::load(context_, binary, text.entries, form.group_items));
  }
  Result<std::vector<std::byte>> binary(const gpu::Module& module) override {
    return static_cast<const VulkanModule&>(module).binary();
  }

  Result<gpu::Place> allocate(std::size_t bytes) override {
    CALPE_TRY(const std::uint64_t address, context_->allocate(bytes));
    return gpu::Place{.at = address};
  }
  void release(const gpu::Place& place) override { context_->release(place.at); }
  Result<std::byte*> allocate_host(std::size_t bytes) override {
    return context_->allocate_host(bytes);
  }
  void release_host(std::byte* memory) override { context_->release_host(memory); }
  Status register_host(std::byte* memory, std::size_t bytes) override {
    return context_->register_host(memory, bytes);
  }
  void unregister_host(std::byte* memory) override { context_->unregister_host(memory); }
  Result<gpu::Place> import(HandleKind /*kind*/, std::uint64_t /*handle*/,
                            std::size_t /*bytes*/) override {
    return invalid(info_.name, " imports no memory; allocate it with this codec");
  }
  void forget(const gpu::Place& /*place*/) override {}

  Result<std::unique_ptr<gpu::Queue>> open_queue(const QueueOptions& options) override {
    return VulkanQueue::open(context_, options.profiling);
  }

 private:
  // With arguments of 0: kernels of plans and of tables have no work then.
  Result<std::unique_ptr<gpu::Module>> launch_first(Result<std::unique_ptr<VulkanModule>> built) {
    if (!built) return std::move(built).error();
    const std::size_t entries = (*built)->entry_count();
    std::unique_ptr<gpu::Module> module = *std::move(built);
    CALPE_TRY(std::unique_ptr<gpu::Queue> queue, open_queue({}));
    for (std::size_t entry = 0; entry < entries; ++entry)
      CALPE_CHECK(queue->launch(*module, {.entry = entry}));
    CALPE_CHECK(
        gpu::wait_for_first_launch(std::move(queue), module, info_.name, first_launch_limit_));
    return module;
  }

  gpu::DriverInfo info_;
  ContextRef context_;
  std::chrono::milliseconds first_launch_limit_;
};

}  // namespace

std::string description_of(const FoundDevice& found) {
  return text(found.name, ", driver ", found.driver);
}

Result<std::unique_ptr<gpu::Driver>> open_vulkan_driver(const Api& api,
                                                        const VulkanTarget& target) {
  const FoundDevice& found = target.device;
  if (!found.missing.empty()) {
    return make_error(ErrorCode::backend_unavailable, found.name, " ", found.missing);
  }
  CALPE_TRY(ContextRef context, VulkanContext::open(api, found));
  VkPhysicalDeviceMemoryProperties memory = {};
  api.vkGetPhysicalDeviceMemoryProperties(found.handle, &memory);
  return std::unique_ptr<gpu::Driver>(std::make_unique<VulkanDriver>(
      info_of(found, target.name, memory), std::move(context), target.first_launch_limit));
}

}  // namespace calpe::backend::vulkan
