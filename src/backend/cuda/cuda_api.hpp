// SPDX-License-Identifier: Apache-2.0
// The CUDA driver functions that Calpe uses, looked up at run time. Own prototypes make CUDA
// headers unnecessary; the driver guarantees that a name with its `_v2` keeps its parameters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

#include "base/text.hpp"

namespace calpe::backend::cuda {

using CuResult = int;
using CuDevice = int;
using CuCaptureMode = int;
using CuDevicePointer = std::uint64_t;  // CUdeviceptr
// Opaque handles.
using CuContext = struct CuContextObject*;
using CuModule = struct CuModuleObject*;
using CuFunction = struct CuFunctionObject*;
using CuStream = struct CuStreamObject*;
using CuEvent = struct CuEventObject*;

// Values of the driver's enumerations.
inline constexpr CuResult cuda_success = 0;
inline constexpr CuResult cuda_error_out_of_memory = 2;
inline constexpr CuResult cuda_error_stub_library = 34;
inline constexpr CuResult cuda_error_no_device = 100;
inline constexpr CuResult cuda_error_not_ready = 600;
inline constexpr CuResult cuda_error_unknown = 999;
inline constexpr int device_attribute_max_grid_dim_x = 5;  // y and z are 6 and 7
inline constexpr int device_attribute_compute_capability_major = 75;
inline constexpr int device_attribute_compute_capability_minor = 76;
inline constexpr int function_attribute_local_size_bytes = 3;
inline constexpr int pointer_attribute_memory_type = 2;
inline constexpr int pointer_attribute_device_ordinal = 9;
inline constexpr int pointer_attribute_range_start_addr = 11;
inline constexpr int pointer_attribute_range_size = 12;
inline constexpr unsigned memory_type_device = 2;
inline constexpr int jit_error_log_buffer = 5;
inline constexpr int jit_error_log_buffer_size_bytes = 6;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr CuCaptureMode capture_mode_relaxed = 2;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned host_portable = 1;  // flag for allocating and registering

// A function and its name in the library, for messages.
template <class... Parameters>
struct Function {
  const char* symbol = nullptr;
  CuResult (*address)(Parameters...) = nullptr;
};

// X(name in Calpe, name in the library, parameters)
#define CALPE_CUDA_FUNCTIONS(X)                                                                    \
  X(init, "cuInit", unsigned)                                                                      \
  X(driver_get_version, "cuDriverGetVersion", int*)                                                \
  X(get_error_name, "cuGetErrorName", CuResult, const char**)                                      \
  X(get_error_string, "cuGetErrorString", CuResult, const char**)                                  \
  X(device_get_count, "cuDeviceGetCount", int*)                                                    \
  X(device_get, "cuDeviceGet", CuDevice*, int)                                                     \
  X(device_get_name, "cuDeviceGetName", char*, int, CuDevice)                                      \
  X(device_get_attribute, "cuDeviceGetAttribute", int*, int, CuDevice)                             \
  X(device_total_mem, "cuDeviceTotalMem_v2", std::size_t*, CuDevice)                               \
  X(primary_ctx_retain, "cuDevicePrimaryCtxRetain", CuContext*, CuDevice)                          \
  X(primary_ctx_release, "cuDevicePrimaryCtxRelease_v2", CuDevice)                                 \
  X(ctx_push_current, "cuCtxPushCurrent_v2", CuContext)                                            \
  X(ctx_pop_current, "cuCtxPopCurrent_v2", CuContext*)                                             \
  X(ctx_synchronize, "cuCtxSynchronize")                                                           \
  X(module_load_data_ex, "cuModuleLoadDataEx", CuModule*, const void*, unsigned, int*, void**)     \
  X(module_unload, "cuModuleUnload", CuModule)                                                     \
  X(module_get_function, "cuModuleGetFunction", CuFunction*, CuModule, const char*)                \
  X(func_get_attribute, "cuFuncGetAttribute", int*, int, CuFunction)                               \
  X(mem_alloc, "cuMemAlloc_v2", CuDevicePointer*, std::size_t)                                     \
  X(mem_free, "cuMemFree_v2", CuDevicePointer)                                                     \
  X(mem_host_alloc, "cuMemHostAlloc", void**, std::size_t, unsigned)                               \
  X(mem_free_host, "cuMemFreeHost", void*)                                                         \
  X(mem_host_register, "cuMemHostRegister_v2", void*, std::size_t, unsigned)                       \
  X(mem_host_unregister, "cuMemHostUnregister", void*)                                             \
  X(pointer_get_attribute, "cuPointerGetAttribute", void*, int, CuDevicePointer)                   \
  X(memcpy_htod_async, "cuMemcpyHtoDAsync_v2", CuDevicePointer, const void*, std::size_t,          \
    CuStream)                                                                                      \
  X(memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2", void*, CuDevicePointer, std::size_t, CuStream)      \
  X(memcpy_dtod_async, "cuMemcpyDtoDAsync_v2", CuDevicePointer, CuDevicePointer, std::size_t,      \
    CuStream)                                                                                      \
  X(launch_kernel, "cuLaunchKernel", CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, \
    unsigned, unsigned, CuStream, void**, void**)                                                  \
  X(stream_create, "cuStreamCreate", CuStream*, unsigned)                                          \
  X(stream_destroy, "cuStreamDestroy_v2", CuStream)                                                \
  X(stream_query, "cuStreamQuery", CuStream)                                                       \
  X(event_create, "cuEventCreate", CuEvent*, unsigned)                                             \
  X(event_destroy, "cuEventDestroy_v2", CuEvent)                                                   \
  X(event_record, "cuEventRecord", CuEvent, CuStream)                                              \
  X(event_query, "cuEventQuery", CuEvent)                                                          \
  X(event_elapsed_time, "cuEventElapsedTime", float*, CuEvent, CuEvent)

// Null in older drivers.
#define CALPE_CUDA_NEWER_FUNCTIONS(X)                                           \
  X(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", CuCaptureMode*) \
  X(stream_get_ctx, "cuStreamGetCtx", CuStream, CuContext*)                     \
  X(device_get_pci_bus_id, "cuDeviceGetPCIBusId", char*, int, CuDevice)

struct CudaApi {
#define CALPE_CUDA_MEMBER(name, symbol, ...) Function<__VA_ARGS__> name = {symbol, nullptr};
  CALPE_CUDA_FUNCTIONS(CALPE_CUDA_MEMBER)
  CALPE_CUDA_NEWER_FUNCTIONS(CALPE_CUDA_MEMBER)
#undef CALPE_CUDA_MEMBER
  std::string path = {};  // of the loaded library

  // "cuMemAlloc_v2: 2, CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
  std::string describe(std::string_view symbol, CuResult result) const;
  // Returns out_of_memory or device_failed.
  Error error(std::string_view symbol, CuResult result) const;

  template <class... Parameters, class... Arguments>
  Status call(const Function<Parameters...>& function, Arguments... arguments) const {
    const CuResult result = function.address(arguments...);
    if (result == cuda_success) return Done{};
    return error(function.symbol, result);
  }
};

// The driver named by CALPE_CUDA_DRIVER, or libcuda.so.1. Loads and initialises it once and never
// unloads it. Fails with backend_unavailable and the reason.
Result<const CudaApi*> open_cuda_api();

}  // namespace calpe::backend::cuda
