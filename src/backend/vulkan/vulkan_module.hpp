// SPDX-License-Identifier: Apache-2.0
// Compute pipelines of a SPIR-V module. Its binary is the module and the driver's pipeline cache:
// drivers need the module to find their own code in the cache.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "backend/gpu/driver.hpp"
#include "backend/vulkan/vulkan_context.hpp"

namespace calpe::backend::vulkan {

class VulkanModule : public gpu::Module {
 public:
  static Result<std::unique_ptr<VulkanModule>> build(ContextRef context, std::string code,
                                                     std::span<const std::string> entries,
                                                     unsigned group_items,
                                                     std::span<const std::byte> cache);
  // From binary().
  static Result<std::unique_ptr<VulkanModule>> load(ContextRef context,
                                                    std::span<const std::byte> binary,
                                                    std::span<const std::string> entries,
                                                    unsigned group_items);
  VulkanModule(const VulkanModule&) = delete;
  VulkanModule& operator=(const VulkanModule&) = delete;
  ~VulkanModule() override;

  Result<std::vector<std::byte>> binary() const;
  VkPipeline entry(std::size_t index) const { return pipelines_[index]; }
  std::size_t entry_count() const noexcept { return pipelines_.size(); }
  unsigned group_items() const noexcept { return group_items_; }

 private:
  VulkanModule(ContextRef context, std::string code, unsigned group_items)
      : context_(std::move(context)), code_(std::move(code)), group_items_(group_items) {}
  Status create(std::span<const std::string> entries, std::span<const std::byte> cache);

  ContextRef context_;
  std::string code_;
  unsigned group_items_;
  VkPipelineCache cache_ = nullptr;
  std::vector<VkPipeline> pipelines_;
};

}  // namespace calpe::backend::vulkan
