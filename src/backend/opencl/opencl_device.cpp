// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl_device.hpp"

#if __has_include(<CL/cl.h>)
#include <charconv>

#include "backend/gpu/gpu_device.hpp"
#include "backend/gpu/pci_address.hpp"
#include "backend/opencl/opencl_driver.hpp"
#include "base/env.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::opencl {

namespace {

struct Selection {
  std::string pci = {};  // instead of the index
  unsigned index = 0;
  unsigned parts = 1;
  unsigned part = 0;
};

Result<Selection> parse(std::string_view variant) {
  Selection selection;
  if (variant.empty()) return selection;
  const char* at = variant.data();
  const char* const end = at + variant.size();
  const std::string_view first = variant.substr(0, variant.find('/'));
  const auto number = [&](unsigned& value) {
    const auto parsed = std::from_chars(at, end, value);
    at = parsed.ptr;
    return parsed.ec == std::errc();
  };
  const auto separator = [&](char wanted) { return at != end && *at++ == wanted; };
  bool is_sound = true;
  if (gpu::is_pci_address(first)) {
    selection.pci = first;
    at += first.size();
  } else {
    is_sound = number(selection.index);
  }
  if (is_sound && at != end) {
    is_sound = separator('/') && number(selection.parts) && separator('.') &&
               number(selection.part) && selection.part < selection.parts;
  }
  if (is_sound && at == end) return selection;
  return invalid("opencl has no variant \"", variant,
                 "\"; expected a device number or PCI address, or number/parts.part as in 0/2.1");
}

Result<unsigned> index_of(const Api& api, const std::vector<FoundDevice>& devices,
                          const Selection& selection) {
  if (selection.pci.empty()) return selection.index;
  for (unsigned i = 0; i < devices.size(); ++i) {
    if (device_pci_address(api, devices[i].id) == selection.pci) return i;
  }
  return make_error(ErrorCode::backend_unavailable, "no OpenCL device has the PCI address ",
                    selection.pci, "; calpe devices lists them");
}

}  // namespace

Result<std::unique_ptr<Device>> open_opencl(std::string_view variant) {
  CALPE_TRY(Selection selection, parse(variant));
  CALPE_TRY(const Api* const api, open_api());
  CALPE_TRY(const std::vector<FoundDevice> devices, find_devices(*api));
  if (devices.empty()) {
    return make_error(ErrorCode::backend_unavailable,
                      "OpenCL has no device; install pocl-opencl-icd to run it on the CPU");
  }
  CALPE_TRY(selection.index, index_of(*api, devices, selection));
  if (selection.index >= devices.size()) {
    return make_error(ErrorCode::backend_unavailable, "OpenCL has ", devices.size(),
                      " devices, opencl:", selection.index, " is not among them");
  }
  const gpu::GpuOptions options = gpu::options_from_environment();
  const OpenClTarget target = {
      .name = text("opencl:", selection.index,
                   selection.parts == 1 ? "" : text("/", selection.parts, ".", selection.part)),
      .device = devices[selection.index],
      .parts = selection.parts,
      .part = selection.part,
      .copies = environment("CALPE_DEVICE_COPIES").has_value(),
      .first_launch_limit = options.compile_limit};
  const std::string key = text(environment("CALPE_OPENCL_LIBRARY").value_or(""), "\n", target.name,
                               target.copies ? " copies" : "");
  return gpu::open_gpu_device(key, options, [&] { return OpenClDriver::open(*api, target); });
}

std::vector<BackendStatus> list_opencl() {
  const auto none = [](std::string reason) {
    return std::vector<BackendStatus>{{.name = "opencl",
                                       .description = "OpenCL devices",
                                       .available = false,
                                       .reason = std::move(reason)}};
  };
  const Result<const Api*> api = open_api();
  if (!api) return none(api.error().message);
  const Result<std::vector<FoundDevice>> devices = find_devices(**api);
  if (!devices) return none(devices.error().message);
  if (devices->empty()) {
    return none("OpenCL has no device; install pocl-opencl-icd to run it on the CPU");
  }
  std::vector<BackendStatus> rows;
  for (std::size_t i = 0; i < devices->size(); ++i) {
    const std::string pci = device_pci_address(**api, (*devices)[i].id);
    rows.push_back(
        {.name = text("opencl:", i),
         .description = text(device_text(**api, (*devices)[i].id, CL_DEVICE_NAME), ", driver ",
                             device_text(**api, (*devices)[i].id, CL_DRIVER_VERSION),
                             pci.empty() ? "" : ", PCI ", pci),
         .available = true,
         .reason = {}});
  }
  return rows;
}

}  // namespace calpe::backend::opencl

#else

namespace calpe::backend::opencl {

namespace {
constexpr const char* reason = "built without CL/cl.h; install opencl-c-headers and build again";
}

Result<std::unique_ptr<Device>> open_opencl(std::string_view) {
  return Error{ErrorCode::backend_unavailable, reason};
}

std::vector<BackendStatus> list_opencl() {
  return {
      {.name = "opencl", .description = "OpenCL devices", .available = false, .reason = reason}};
}

}  // namespace calpe::backend::opencl

#endif
