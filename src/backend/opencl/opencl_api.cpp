// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl_api.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>

#include "backend/gpu/pci_address.hpp"
#include "base/address.hpp"
#include "base/env.hpp"
#include "base/process_fork.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::opencl {

namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<std::unique_ptr<const Api>> load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return make_error(ErrorCode::backend_unavailable, path,
                      " cannot be opened; install ocl-icd-libopencl1 and a driver, such as "
                      "pocl-opencl-icd for the CPU");
  }
  auto api = std::make_unique<Api>();
  const char* missing = nullptr;
#define CALPE_OPENCL_FIND(name) \
  if (!find(library, #name, api->name)) missing = #name;
  CALPE_OPENCL_FUNCTIONS(CALPE_OPENCL_FIND)
  if (missing != nullptr) {
    return make_error(ErrorCode::backend_unavailable, path, " has no ", missing);
  }
  CALPE_OPENCL_SVM_FUNCTIONS(CALPE_OPENCL_FIND)
#undef CALPE_OPENCL_FIND
  api->has_svm = missing == nullptr;
  return std::unique_ptr<const Api>(std::move(api));
}

// A driver has threads and locks that a forked child does not inherit.
constinit ProcessClaim driver;

struct StatusName {
  cl_int status;
  std::string_view name;
};
constexpr std::array status_names = {
    StatusName{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    StatusName{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    StatusName{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    StatusName{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    StatusName{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    StatusName{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    StatusName{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    StatusName{CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    StatusName{CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    StatusName{CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    StatusName{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    StatusName{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    StatusName{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

bool is_out_of_memory(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
         status == CL_OUT_OF_HOST_MEMORY;
}

}  // namespace

Result<const Api*> open_api() {
  if (is_privileged()) {
    return make_error(ErrorCode::backend_unavailable,
                      "OpenCL is disabled in privileged processes (setuid, setgid, "
                      "capabilities), because drivers read the environment");
  }
  if (!driver.is_ours()) {
    return make_error(ErrorCode::backend_unavailable,
                      "OpenCL was used by the parent process and cannot be used after fork()");
  }
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const Api>> loaded;
  const std::string path = environment("CALPE_OPENCL_LIBRARY").value_or("libOpenCL.so.1");
  const std::lock_guard lock(mutex);
  if (const auto found = loaded.find(path); found != loaded.end()) return found->second.get();
  CALPE_TRY(std::unique_ptr<const Api> api, load(path));
  return (loaded[path] = std::move(api)).get();
}

std::string describe(cl_int status) {
  for (const StatusName& row : status_names) {
    if (row.status == status) return text(row.name, " (", status, ")");
  }
  return text("OpenCL error ", status);
}

Status check(cl_int status, std::string_view call, ErrorCode otherwise) {
  if (status == CL_SUCCESS) return Done{};
  return make_error(is_out_of_memory(status) ? ErrorCode::out_of_memory : otherwise, call,
                    " failed with ", describe(status));
}

Result<std::vector<FoundDevice>> find_devices(const Api& api) {
  cl_uint platform_count = 0;
  const cl_int status = api.clGetPlatformIDs(0, nullptr, &platform_count);
  if (status == -1001 || platform_count == 0) return std::vector<FoundDevice>();
  CALPE_CHECK(check(status, "clGetPlatformIDs", ErrorCode::backend_unavailable));
  std::vector<cl_platform_id> platforms(platform_count);
  CALPE_CHECK(check(api.clGetPlatformIDs(platform_count, platforms.data(), nullptr),
                    "clGetPlatformIDs", ErrorCode::backend_unavailable));
  std::vector<FoundDevice> found;
  for (const cl_platform_id platform : platforms) {
    cl_uint count = 0;
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) {
      continue;  // a platform without devices
    }
    std::vector<cl_device_id> ids(count);
    CALPE_CHECK(check(api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr),
                      "clGetDeviceIDs", ErrorCode::backend_unavailable));
    for (const cl_device_id id : ids)
      found.push_back({.platform = platform, .id = id});
  }
  return found;
}

bool is_object_like(std::uint64_t handle, const void* object) {
  if (handle == 0 || handle % alignof(void*) != 0) return false;
  const void* theirs = nullptr;
  const void* ours = nullptr;
  std::memcpy(&theirs, pointer_at<const void>(handle), sizeof theirs);
  std::memcpy(&ours, object, sizeof ours);
  return theirs == ours;
}

std::string device_text(const Api& api, cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  if (api.clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string value(bytes, '\0');
  if (api.clGetDeviceInfo(device, what, bytes, value.data(), nullptr) != CL_SUCCESS) return {};
  value.resize(value.find('\0') == std::string::npos ? value.size() : value.find('\0'));
  return value;
}

std::string device_pci_address(const Api& api, cl_device_id device) {
  constexpr cl_device_info pci_bus_info = 0x410F;
  std::array<cl_uint, 4> parts = {};
  if (api.clGetDeviceInfo(device, pci_bus_info, sizeof parts, parts.data(), nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  return gpu::pci_address(parts[0], parts[1], parts[2], parts[3]);
}

}  // namespace calpe::backend::opencl
