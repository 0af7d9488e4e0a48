// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/vulkan_module.hpp"

#include <cstring>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::vulkan {

namespace {

// Errors that do not blame the code keep their meaning.
Status check_compiled(VkResult result, std::string_view call) {
  return check(
      result, call,
      result == VK_ERROR_DEVICE_LOST ? ErrorCode::device_failed : ErrorCode::compile_failed);
}

// Drivers must ignore the cache of another device, but not all check more than its length.
bool is_cache_of(const VkPhysicalDeviceProperties& device, std::span<const std::byte> cache) {
  VkPipelineCacheHeaderVersionOne header = {};
  if (cache.size() < sizeof header) return false;
  std::memcpy(&header, cache.data(), sizeof header);
  return header.headerSize >= sizeof header && header.headerSize <= cache.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         header.vendorID == device.vendorID && header.deviceID == device.deviceID &&
         std::memcmp(header.pipelineCacheUUID, device.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

}  // namespace

Result<std::unique_ptr<VulkanModule>> VulkanModule::build(ContextRef context, std::string code,
                                                          std::span<const std::string> entries,
                                                          unsigned group_items,
                                                          std::span<const std::byte> cache) {
  std::unique_ptr<VulkanModule> module(
      new VulkanModule(std::move(context), std::move(code), group_items));
  CALPE_CHECK(module->create(entries, cache));
  return module;
}

Status VulkanModule::create(std::span<const std::string> entries,
                            std::span<const std::byte> cache) {
  const Api& api = context_->api();
  const VkDevice device = context_->device();
  VkPipelineCacheCreateInfo cache_info = {};
  cache_info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  cache_info.initialDataSize = cache.size();
  cache_info.pInitialData = cache.data();
  CALPE_CHECK(check_compiled(api.vkCreatePipelineCache(device, &cache_info, nullptr, &cache_),
                             "vkCreatePipelineCache"));
  std::vector<std::uint32_t> words(code_.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), code_.data(), words.size() * sizeof(std::uint32_t));
  VkShaderModuleCreateInfo shader_info = {};
  shader_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  shader_info.codeSize = words.size() * sizeof(std::uint32_t);
  shader_info.pCode = words.data();
  VkShaderModule shader = nullptr;
  CALPE_CHECK(check_compiled(api.vkCreateShaderModule(device, &shader_info, nullptr, &shader),
                             "vkCreateShaderModule"));
  Status done = Done{};
  for (const std::string& entry : entries) {
    VkComputePipelineCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = entry.c_str();
    info.layout = context_->layout();
    VkPipeline pipeline = nullptr;
    done =
        check_compiled(api.vkCreateComputePipelines(device, cache_, 1, &info, nullptr, &pipeline),
                       "vkCreateComputePipelines");
    if (!done) break;
    pipelines_.push_back(pipeline);
  }
  api.vkDestroyShaderModule(device, shader, nullptr);
  return done;
}

VulkanModule::~VulkanModule() {
  for (const VkPipeline pipeline : pipelines_)
    context_->api().vkDestroyPipeline(context_->device(), pipeline, nullptr);
  context_->api().vkDestroyPipelineCache(context_->device(), cache_, nullptr);
}

// Bytes of the module in 64 bits, the module, the cache.
Result<std::vector<std::byte>> VulkanModule::binary() const {
  const Api& api = context_->api();
  std::size_t bytes = 0;
  CALPE_CHECK(check(api.vkGetPipelineCacheData(context_->device(), cache_, &bytes, nullptr),
                    "vkGetPipelineCacheData"));
  const std::uint64_t code_bytes = code_.size();
  const std::size_t head = sizeof code_bytes + code_.size();
  std::vector<std::byte> all(head + bytes);
  std::memcpy(all.data(), &code_bytes, sizeof code_bytes);
  std::memcpy(all.data() + sizeof code_bytes, code_.data(), code_.size());
  CALPE_CHECK(
      check(api.vkGetPipelineCacheData(context_->device(), cache_, &bytes, all.data() + head),
            "vkGetPipelineCacheData"));
  all.resize(head + bytes);
  return all;
}

Result<std::unique_ptr<VulkanModule>> VulkanModule::load(ContextRef context,
                                                         std::span<const std::byte> binary,
                                                         std::span<const std::string> entries,
                                                         unsigned group_items) {
  std::uint64_t code_bytes = 0;
  if (binary.size() < sizeof code_bytes) {
    return make_error(ErrorCode::compile_failed, "binary has ", binary.size(), " bytes");
  }
  std::memcpy(&code_bytes, binary.data(), sizeof code_bytes);
  binary = binary.subspan(sizeof code_bytes);
  if (code_bytes > binary.size()) {
    return make_error(ErrorCode::compile_failed, "binary ends within its code");
  }
  std::string code(reinterpret_cast<const char*>(binary.data()),
                   static_cast<std::size_t>(code_bytes));
  const std::span<const std::byte> cache = binary.subspan(static_cast<std::size_t>(code_bytes));
  if (!is_cache_of(context->found().properties, cache)) {
    return make_error(ErrorCode::compile_failed, "binary is of another device or driver");
  }
  return build(std::move(context), std::move(code), entries, group_items, cache);
}

}  // namespace calpe::backend::vulkan
