// SPDX-License-Identifier: Apache-2.0
// The Vulkan functions that Calpe calls, looked up at run time, so that a build with this backend
// starts on machines without Vulkan.
#pragma once
#define VK_NO_PROTOTYPES
#include <string>
#include <string_view>
#include <vulkan/vulkan.h>

#include <calpe/result.hpp>

namespace calpe::backend::vulkan {

#define CALPE_VULKAN_FUNCTIONS(F)             \
  F(vkEnumeratePhysicalDevices)               \
  F(vkEnumerateDeviceExtensionProperties)     \
  F(vkGetPhysicalDeviceProperties)            \
  F(vkGetPhysicalDeviceProperties2)           \
  F(vkGetPhysicalDeviceFeatures2)             \
  F(vkGetPhysicalDeviceMemoryProperties)      \
  F(vkGetPhysicalDeviceQueueFamilyProperties) \
  F(vkCreateDevice)                           \
  F(vkDestroyDevice)                          \
  F(vkGetDeviceQueue)                         \
  F(vkCreateBuffer)                           \
  F(vkDestroyBuffer)                          \
  F(vkGetBufferMemoryRequirements)            \
  F(vkGetBufferDeviceAddress)                 \
  F(vkAllocateMemory)                         \
  F(vkFreeMemory)                             \
  F(vkBindBufferMemory)                       \
  F(vkMapMemory)                              \
  F(vkCreateShaderModule)                     \
  F(vkDestroyShaderModule)                    \
  F(vkCreatePipelineLayout)                   \
  F(vkDestroyPipelineLayout)                  \
  F(vkCreatePipelineCache)                    \
  F(vkDestroyPipelineCache)                   \
  F(vkGetPipelineCacheData)                   \
  F(vkCreateComputePipelines)                 \
  F(vkDestroyPipeline)                        \
  F(vkCreateSemaphore)                        \
  F(vkDestroySemaphore)                       \
  F(vkGetSemaphoreCounterValue)               \
  F(vkWaitSemaphores)                         \
  F(vkCreateCommandPool)                      \
  F(vkDestroyCommandPool)                     \
  F(vkAllocateCommandBuffers)                 \
  F(vkFreeCommandBuffers)                     \
  F(vkBeginCommandBuffer)                     \
  F(vkEndCommandBuffer)                       \
  F(vkCmdPipelineBarrier)                     \
  F(vkCmdCopyBuffer)                          \
  F(vkCmdBindPipeline)                        \
  F(vkCmdPushConstants)                       \
  F(vkCmdDispatch)                            \
  F(vkCreateQueryPool)                        \
  F(vkDestroyQueryPool)                       \
  F(vkCmdResetQueryPool)                      \
  F(vkCmdWriteTimestamp)                      \
  F(vkGetQueryPoolResults)                    \
  F(vkQueueSubmit)

struct Api {
  VkInstance instance = nullptr;
#define CALPE_VULKAN_MEMBER(name) PFN_##name name = nullptr;
  CALPE_VULKAN_FUNCTIONS(CALPE_VULKAN_MEMBER)
  // Null unless a driver has the extension.
  CALPE_VULKAN_MEMBER(vkGetMemoryHostPointerPropertiesEXT)
#undef CALPE_VULKAN_MEMBER
};

// Loads CALPE_VULKAN_LIBRARY or libvulkan.so.1 and creates an instance once. Neither is ever
// closed, because drivers leave threads behind. Fails with backend_unavailable.
Result<const Api*> open_api();

// "VK_ERROR_DEVICE_LOST (-4)"
std::string describe(VkResult result);

// Returns out_of_memory, or `otherwise`, for a result other than VK_SUCCESS.
Status check(VkResult result, std::string_view call,
             ErrorCode otherwise = ErrorCode::device_failed);

}  // namespace calpe::backend::vulkan
