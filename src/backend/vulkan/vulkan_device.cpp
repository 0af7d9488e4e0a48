// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/vulkan_device.hpp"

#if __has_include(<vulkan/vulkan.h>)
#include <algorithm>
#include <charconv>

#include "backend/gpu/gpu_device.hpp"
#include "backend/gpu/pci_address.hpp"
#include "backend/vulkan/vulkan_driver.hpp"
#include "base/env.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::vulkan {

namespace {

Result<std::size_t> index_of(const std::vector<FoundDevice>& devices, std::string_view variant) {
  if (variant.empty()) return std::size_t{0};
  const bool is_pci = gpu::is_pci_address(variant);
  if (is_pci || variant.find('-') != std::string_view::npos) {
    const auto found =
        std::ranges::find(devices, variant, is_pci ? &FoundDevice::pci : &FoundDevice::uuid);
    if (found != devices.end()) return static_cast<std::size_t>(found - devices.begin());
    return make_error(ErrorCode::backend_unavailable, "no Vulkan device has the ",
                      is_pci ? "PCI address " : "UUID ", variant, "; calpe devices lists them");
  }
  std::size_t index = 0;
  const char* const end = variant.data() + variant.size();
  const auto [parsed_to, error] = std::from_chars(variant.data(), end, index);
  if (error != std::errc() || parsed_to != end) {
    return invalid("vulkan has no variant \"", variant,
                   "\"; expected the number, PCI address or UUID of a device");
  }
  if (index >= devices.size()) {
    return make_error(ErrorCode::backend_unavailable, "no vulkan:", index, ": there are ",
                      devices.size(), " Vulkan devices");
  }
  return index;
}

}  // namespace

Result<std::unique_ptr<Device>> open_vulkan(std::string_view variant) {
  CALPE_TRY(const Api* const api, open_api());
  CALPE_TRY(const std::vector<FoundDevice> devices, find_devices(*api));
  CALPE_TRY(const std::size_t index, index_of(devices, variant));
  const std::string name = text("vulkan:", index);
  const std::string key =
      text(environment("CALPE_VULKAN_LIBRARY").value_or(""), "\n", name, "\n", devices[index].uuid);
  const gpu::GpuOptions options = gpu::options_from_environment();
  return gpu::open_gpu_device(key, options, [&] {
    return open_vulkan_driver(
        *api,
        {.name = name, .device = devices[index], .first_launch_limit = options.compile_limit});
  });
}

std::vector<BackendStatus> list_vulkan() {
  const auto none = [](const Error& error) -> std::vector<BackendStatus> {
    return {{.name = "vulkan",
             .description = "Vulkan devices",
             .available = false,
             .reason = error.message}};
  };
  const Result<const Api*> api = open_api();
  if (!api) return none(api.error());
  const Result<std::vector<FoundDevice>> devices = find_devices(**api);
  if (!devices) return none(devices.error());
  std::vector<BackendStatus> rows;
  for (std::size_t i = 0; i < devices->size(); ++i) {
    const FoundDevice& found = (*devices)[i];
    const bool is_usable = found.missing.empty();
    rows.push_back({.name = text("vulkan:", i),
                    .description = text(description_of(found),
                                        found.pci.empty() ? "" : text(", PCI ", found.pci),
                                        ", UUID ", found.uuid),
                    .available = is_usable,
                    .reason = is_usable ? "" : text(found.name, " ", found.missing)});
  }
  return rows;
}

}  // namespace calpe::backend::vulkan

#else

namespace calpe::backend::vulkan {

namespace {
constexpr const char* reason =
    "built without vulkan/vulkan.h; install libvulkan-dev and build again";
}

Result<std::unique_ptr<Device>> open_vulkan(std::string_view) {
  return Error{ErrorCode::backend_unavailable, reason};
}

std::vector<BackendStatus> list_vulkan() {
  return {
      {.name = "vulkan", .description = "Vulkan devices", .available = false, .reason = reason}};
}

}  // namespace calpe::backend::vulkan

#endif
