// SPDX-License-Identifier: Apache-2.0
// State, devices and contexts, and the functions of ptx_interpreter.h.
#include "ptx_interpreter/driver_state.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace calpe::ptx {

DriverState& DriverState::instance() {
  static DriverState& state = *[] {
    auto* made = new DriverState;
    const char* count = std::getenv("CALPE_PTX_DEVICES");
    const int wanted = count == nullptr ? 2 : std::atoi(count);
    for (int i = 0; i < wanted; ++i)
      made->devices.push_back(std::make_unique<Device>(i));
    made->retained.resize(made->devices.size());
    return made;
  }();
  return state;
}

std::shared_ptr<Stream> DriverState::find_stream(const void* handle) {
  if (!is_default_stream(handle)) return streams.find(handle);
  Device& device = need_device();
  const std::lock_guard lock(mutex);
  std::shared_ptr<Stream>& stream = default_streams[device.index];
  if (stream == nullptr) stream = Stream::start(device);
  return stream;
}

thread_local int Inside::depth = 0;

std::vector<Device*>& context_stack() {
  thread_local std::vector<Device*> stack;
  return stack;
}

Device* current_device() {
  return context_stack().empty() ? nullptr : context_stack().back();
}

Device& need_device() {
  Device* device = current_device();
  if (device == nullptr) throw PtxError(invalid_context, "no context is current");
  return *device;
}

namespace {

Device& device_by_index(int index) {
  DriverState& state = DriverState::instance();
  if (index < 0 || static_cast<std::size_t>(index) >= state.devices.size()) {
    throw PtxError(invalid_device, text("no device ", index));
  }
  return *state.devices[static_cast<std::size_t>(index)];
}

struct NamedResult {
  int result;
  const char* name;
  const char* explanation;
};
constexpr NamedResult named_results[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "unsupported PTX version"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "memory range is already registered"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "memory range is not registered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not initiated in this stream"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work"},
    {907, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture from another thread"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const NamedResult* find_result(int result) {
  for (const NamedResult& known : named_results) {
    if (known.result == result) return &known;
  }
  return nullptr;
}

}  // namespace
}  // namespace calpe::ptx

using namespace calpe::ptx;
using calpe::text;

CALPE_PTX_EXPORT int cuInit(unsigned flags) {
  return driver_call("cuInit", false, [&] { return flags == 0 ? success : invalid_value; });
}

CALPE_PTX_EXPORT int cuDriverGetVersion(int* version) {
  return driver_call("cuDriverGetVersion", false, [&] {
    need(version);
    *version = 9000;  // the oldest that supports PTX 6.0
    return success;
  });
}

CALPE_PTX_EXPORT int cuGetErrorName(int result, const char** name) {
  const NamedResult* known = find_result(result);
  *name = known == nullptr ? nullptr : known->name;
  return known == nullptr ? invalid_value : success;
}

// Includes the reason of the last error, for the reader of a failed test.
CALPE_PTX_EXPORT int cuGetErrorString(int result, const char** explanation) {
  thread_local std::string full;
  const NamedResult* known = find_result(result);
  if (known == nullptr) return invalid_value;
  const std::string reason = Controls::instance().message();
  full = reason.empty() ? known->explanation : text(known->explanation, "; ", reason);
  *explanation = full.c_str();
  return success;
}

CALPE_PTX_EXPORT int cuDeviceGetCount(int* count) {
  return driver_call("cuDeviceGetCount", true, [&] {
    need(count);
    *count = static_cast<int>(DriverState::instance().devices.size());
    return success;
  });
}

CALPE_PTX_EXPORT int cuDeviceGet(int* device, int index) {
  return driver_call("cuDeviceGet", true, [&] {
    need(device);
    *device = device_by_index(index).index;
    return success;
  });
}

CALPE_PTX_EXPORT int cuDeviceGetName(char* name, int bytes, int device) {
  return driver_call("cuDeviceGetName", true, [&] {
    device_by_index(device);
    std::snprintf(name, static_cast<std::size_t>(bytes), "%s", device_name);
    return success;
  });
}

CALPE_PTX_EXPORT int cuDeviceGetPCIBusId(char* address, int bytes, int device) {
  return driver_call("cuDeviceGetPCIBusId", true, [&] {
    device_by_index(device);
    std::snprintf(address, static_cast<std::size_t>(bytes), "0000:%02X:00.0", 0x3A + device);
    return success;
  });
}

CALPE_PTX_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return driver_call("cuDeviceGetAttribute", true, [&] {
    need(value);
    device_by_index(device);
    // Compute capability 5.0, the minimum of the emitted code.
    static const std::map<int, std::uint32_t> values = {
        {5, grid_x_max}, {6, grid_yz_max}, {7, grid_yz_max}, {75, 5}, {76, 0}};
    const auto found = values.find(attribute);
    if (found == values.end()) {
      throw PtxError(invalid_value, text("unknown attribute ", attribute));
    }
    *value = static_cast<int>(found->second);
    return success;
  });
}

CALPE_PTX_EXPORT int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return driver_call("cuDeviceTotalMem_v2", true, [&] {
    need(bytes);
    *bytes = device_by_index(device).memory.limit();
    return success;
  });
}

CALPE_PTX_EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  return driver_call("cuDevicePrimaryCtxRetain", true, [&] {
    need(context);
    Device& found = device_by_index(device);
    DriverState& state = DriverState::instance();
    const std::lock_guard lock(state.mutex);
    ++state.retained[static_cast<std::size_t>(device)];
    *context = &found;
    return success;
  });
}

CALPE_PTX_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  return driver_call("cuDevicePrimaryCtxRelease_v2", false, [&] {
    device_by_index(device);
    DriverState& state = DriverState::instance();
    const std::lock_guard lock(state.mutex);
    int& count = state.retained[static_cast<std::size_t>(device)];
    if (count == 0) throw PtxError(invalid_context, "context was not retained");
    --count;
    return success;
  });
}

CALPE_PTX_EXPORT int cuCtxPushCurrent_v2(void* context) {
  return driver_call("cuCtxPushCurrent_v2", false, [&] {
    DriverState& state = DriverState::instance();
    const std::lock_guard lock(state.mutex);
    for (const auto& device : state.devices) {
      if (device.get() != context) continue;
      if (state.retained[static_cast<std::size_t>(device->index)] == 0) break;
      context_stack().push_back(device.get());
      return success;
    }
    throw PtxError(invalid_context, "context that is not retained");
  });
}

CALPE_PTX_EXPORT int cuCtxPopCurrent_v2(void** context) {
  return driver_call("cuCtxPopCurrent_v2", false, [&] {
    Device& device = need_device();
    if (context != nullptr) *context = &device;
    context_stack().pop_back();
    return success;
  });
}

CALPE_PTX_EXPORT void calpe_ptx_reset() {
  Controls::instance().reset();
  Hazards::instance().clear();
  for (const auto& device : DriverState::instance().devices) {
    device->recover();
    for (const auto& stream : device->streams())
      stream->release();
    device->memory.set_limit(std::size_t{1} << 30);
  }
}
CALPE_PTX_EXPORT void calpe_ptx_fail(std::uint64_t index, int code) {
  Controls::instance().fail(index, code, false);
}
CALPE_PTX_EXPORT void calpe_ptx_lose(std::uint64_t index, int code) {
  Controls::instance().fail(index, code, true);
}
CALPE_PTX_EXPORT void calpe_ptx_fail_function(const char* name, std::uint64_t index, int code) {
  Controls::instance().fail_function(name, index, code);
}
CALPE_PTX_EXPORT void calpe_ptx_only_device(int device) {
  Controls::instance().only_device(device);
}
CALPE_PTX_EXPORT void calpe_ptx_fail_launch(std::uint64_t index, int code) {
  Controls::instance().fail_launch(index, {.code = code});
}
CALPE_PTX_EXPORT void calpe_ptx_hang_launch(std::uint64_t index) {
  Controls::instance().fail_launch(index, {.hangs = true});
}
CALPE_PTX_EXPORT void calpe_ptx_spoil_launch(std::uint64_t index) {
  Controls::instance().fail_launch(index, {.is_spoiled = true});
}
CALPE_PTX_EXPORT void calpe_ptx_delay(unsigned least, unsigned most) {
  Controls::instance().set_delay(least, most);
}
CALPE_PTX_EXPORT void calpe_ptx_slow(int device, double factor) {
  Controls::instance().slow(device, factor);
}
CALPE_PTX_EXPORT void calpe_ptx_memory(std::size_t bytes) {
  for (const auto& device : DriverState::instance().devices)
    device->memory.set_limit(bytes);
}
CALPE_PTX_EXPORT void calpe_ptx_local_bytes(int bytes) {
  Controls::instance().set_local_bytes(bytes);
}
CALPE_PTX_EXPORT void calpe_ptx_cache(std::size_t bytes) {
  Controls::instance().set_cache(bytes);
}
CALPE_PTX_EXPORT void calpe_ptx_count(calpe_ptx_counts* counts) {
  *counts = Controls::instance().counts();
}
CALPE_PTX_EXPORT int calpe_ptx_is_inside() {
  return Inside::depth > 0 ? 1 : 0;
}
CALPE_PTX_EXPORT const char* calpe_ptx_message() {
  thread_local std::string message;
  message = Controls::instance().message();
  return message.c_str();
}
