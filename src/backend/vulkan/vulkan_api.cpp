// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/vulkan_api.hpp"

#include <bit>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>

#include "base/env.hpp"
#include "base/process_fork.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::vulkan {

namespace {

constexpr const char* path_variable = "CALPE_VULKAN_LIBRARY";
constexpr const char* default_path = "libvulkan.so.1";

template <class... Parts>
Error unavailable(const Parts&... parts) {
  return make_error(ErrorCode::backend_unavailable, parts...);
}

Result<std::unique_ptr<Api>> load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unavailable("no Vulkan loader: ", dlerror());
  const auto find =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (find == nullptr) return unavailable(path, " is no Vulkan loader");
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(find(nullptr, "vkCreateInstance"));
  const auto enumerate_version =
      reinterpret_cast<PFN_vkEnumerateInstanceVersion>(find(nullptr, "vkEnumerateInstanceVersion"));
  std::uint32_t version = VK_API_VERSION_1_0;
  if (create == nullptr || enumerate_version == nullptr ||
      enumerate_version(&version) != VK_SUCCESS || version < VK_API_VERSION_1_2) {
    return unavailable("Vulkan loader ", path, " is too old; expected Vulkan 1.2");
  }
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                         .pNext = nullptr,
                                         .pApplicationName = "calpe",
                                         .applicationVersion = 0,
                                         .pEngineName = nullptr,
                                         .engineVersion = 0,
                                         .apiVersion = VK_API_VERSION_1_2};
  VkInstanceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  auto api = std::make_unique<Api>();
  const VkResult created = create(&info, nullptr, &api->instance);
  if (created != VK_SUCCESS) return unavailable("vkCreateInstance: ", describe(created));
#define CALPE_VULKAN_RESOLVE(name)                                      \
  api->name = reinterpret_cast<PFN_##name>(find(api->instance, #name)); \
  if (api->name == nullptr) return unavailable("Vulkan loader ", path, " has no ", #name);
  CALPE_VULKAN_FUNCTIONS(CALPE_VULKAN_RESOLVE)
#undef CALPE_VULKAN_RESOLVE
  api->vkGetMemoryHostPointerPropertiesEXT =
      reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
          find(api->instance, "vkGetMemoryHostPointerPropertiesEXT"));
  return api;
}

// A driver serves the process that initialised it, not a forked child.
constinit ProcessClaim loader;

}  // namespace

std::string describe(VkResult result) {
  struct Name {
    VkResult result;
    std::string_view name;
  };
#define CALPE_VULKAN_NAME(name) \
  Name {                        \
    name, #name                 \
  }
  constexpr Name names[] = {
      CALPE_VULKAN_NAME(VK_TIMEOUT),
      CALPE_VULKAN_NAME(VK_ERROR_OUT_OF_HOST_MEMORY),
      CALPE_VULKAN_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY),
      CALPE_VULKAN_NAME(VK_ERROR_INITIALIZATION_FAILED),
      CALPE_VULKAN_NAME(VK_ERROR_DEVICE_LOST),
      CALPE_VULKAN_NAME(VK_ERROR_MEMORY_MAP_FAILED),
      CALPE_VULKAN_NAME(VK_ERROR_LAYER_NOT_PRESENT),
      CALPE_VULKAN_NAME(VK_ERROR_EXTENSION_NOT_PRESENT),
      CALPE_VULKAN_NAME(VK_ERROR_FEATURE_NOT_PRESENT),
      CALPE_VULKAN_NAME(VK_ERROR_INCOMPATIBLE_DRIVER),
      CALPE_VULKAN_NAME(VK_ERROR_TOO_MANY_OBJECTS),
      CALPE_VULKAN_NAME(VK_ERROR_UNKNOWN),
      CALPE_VULKAN_NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE),
  };
#undef CALPE_VULKAN_NAME
  for (const Name& known : names) {
    if (known.result == result) return text(known.name, " (", static_cast<int>(result), ")");
  }
  return text("VkResult ", static_cast<int>(result));
}

Status check(VkResult result, std::string_view call, ErrorCode otherwise) {
  if (result == VK_SUCCESS) return Done{};
  const bool is_memory = result == VK_ERROR_OUT_OF_HOST_MEMORY ||
                         result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                         result == VK_ERROR_TOO_MANY_OBJECTS;
  return make_error(is_memory ? ErrorCode::out_of_memory : otherwise, call, ": ", describe(result));
}

Result<const Api*> open_api() {
  // Tables, parameters and modules are passed to the device in host byte order.
  if constexpr (std::endian::native != std::endian::little) {
    return unavailable("Vulkan needs a little-endian machine");
  }
  if (is_privileged()) {
    return unavailable(
        "Vulkan is disabled in privileged processes (setuid, setgid, capabilities), because "
        "drivers read the environment");
  }
  if (!loader.is_ours()) {
    return unavailable("Vulkan was used by the parent process and cannot be used after fork()");
  }
  static std::mutex& mutex = *new std::mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<const Api>>;

  const std::string path = environment(path_variable).value_or(default_path);
  const std::lock_guard lock(mutex);
  const auto found = loaded.find(path);
  if (found != loaded.end()) return found->second.get();
  CALPE_TRY(std::unique_ptr<Api> api, load(path));
  return loaded.emplace(path, std::move(api)).first->second.get();
}

}  // namespace calpe::backend::vulkan
