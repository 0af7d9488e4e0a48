// SPDX-License-Identifier: Apache-2.0
// Compares our prototypes and constants of the CUDA driver with NVIDIA's header, if available. The
// PTX interpreter was written from ours and would share any mistake.
#include <gtest/gtest.h>
#include <type_traits>

#include "backend/cuda/cuda_api.hpp"

#if __has_include("/usr/local/cuda/include/cuda.h")
#define CALPE_HAS_CUDA_HEADER
#include "/usr/local/cuda/include/cuda.h"
#endif

namespace calpe::backend::cuda {
namespace {

#ifdef CALPE_HAS_CUDA_HEADER

// Handles and enumerations have other names there, but must be passed the same way.
template <class Ours, class Theirs>
constexpr bool are_alike = sizeof(Ours) == sizeof(Theirs) &&
                           bool{std::is_pointer_v<Ours>} == bool{std::is_pointer_v<Theirs>};

template <class... Ours, class Returned, class... Theirs>
constexpr bool is_same_call(const Function<Ours...>* /*ours*/, Returned (* /*theirs*/)(Theirs...)) {
  if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
    return false;
  } else {
    return are_alike<CuResult, Returned> && (are_alike<Ours, Theirs> && ...);
  }
}

TEST(CudaPrototypesTest, FunctionsMatchTheHeader) {
  const CudaApi api;
#define CALPE_CHECK_FUNCTION(ours, theirs)                                       \
  EXPECT_TRUE(is_same_call(&api.ours, static_cast<decltype(&theirs)>(nullptr))); \
  EXPECT_STREQ(api.ours.symbol, #theirs);                                        \
  ++checked;
  unsigned checked = 0;
  CALPE_CHECK_FUNCTION(init, cuInit)
  CALPE_CHECK_FUNCTION(driver_get_version, cuDriverGetVersion)
  CALPE_CHECK_FUNCTION(get_error_name, cuGetErrorName)
  CALPE_CHECK_FUNCTION(get_error_string, cuGetErrorString)
  CALPE_CHECK_FUNCTION(device_get_count, cuDeviceGetCount)
  CALPE_CHECK_FUNCTION(device_get, cuDeviceGet)
  CALPE_CHECK_FUNCTION(device_get_name, cuDeviceGetName)
  CALPE_CHECK_FUNCTION(device_get_attribute, cuDeviceGetAttribute)
  CALPE_CHECK_FUNCTION(device_total_mem, cuDeviceTotalMem_v2)
  CALPE_CHECK_FUNCTION(primary_ctx_retain, cuDevicePrimaryCtxRetain)
  CALPE_CHECK_FUNCTION(primary_ctx_release, cuDevicePrimaryCtxRelease_v2)
  CALPE_CHECK_FUNCTION(ctx_push_current, cuCtxPushCurrent_v2)
  CALPE_CHECK_FUNCTION(ctx_pop_current, cuCtxPopCurrent_v2)
  CALPE_CHECK_FUNCTION(ctx_synchronize, cuCtxSynchronize)
  CALPE_CHECK_FUNCTION(module_load_data_ex, cuModuleLoadDataEx)
  CALPE_CHECK_FUNCTION(module_unload, cuModuleUnload)
  CALPE_CHECK_FUNCTION(module_get_function, cuModuleGetFunction)
  CALPE_CHECK_FUNCTION(func_get_attribute, cuFuncGetAttribute)
  CALPE_CHECK_FUNCTION(mem_alloc, cuMemAlloc_v2)
  CALPE_CHECK_FUNCTION(mem_free, cuMemFree_v2)
  CALPE_CHECK_FUNCTION(mem_host_alloc, cuMemHostAlloc)
  CALPE_CHECK_FUNCTION(mem_free_host, cuMemFreeHost)
  CALPE_CHECK_FUNCTION(mem_host_register, cuMemHostRegister_v2)
  CALPE_CHECK_FUNCTION(mem_host_unregister, cuMemHostUnregister)
  CALPE_CHECK_FUNCTION(pointer_get_attribute, cuPointerGetAttribute)
  CALPE_CHECK_FUNCTION(memcpy_htod_async, cuMemcpyHtoDAsync_v2)
  CALPE_CHECK_FUNCTION(memcpy_dtoh_async, cuMemcpyDtoHAsync_v2)
  CALPE_CHECK_FUNCTION(memcpy_dtod_async, cuMemcpyDtoDAsync_v2)
  CALPE_CHECK_FUNCTION(launch_kernel, cuLaunchKernel)
  CALPE_CHECK_FUNCTION(stream_create, cuStreamCreate)
  CALPE_CHECK_FUNCTION(stream_destroy, cuStreamDestroy_v2)
  CALPE_CHECK_FUNCTION(stream_query, cuStreamQuery)
  CALPE_CHECK_FUNCTION(event_create, cuEventCreate)
  CALPE_CHECK_FUNCTION(event_destroy, cuEventDestroy_v2)
  CALPE_CHECK_FUNCTION(event_record, cuEventRecord)
  CALPE_CHECK_FUNCTION(event_query, cuEventQuery)
  CALPE_CHECK_FUNCTION(event_elapsed_time, cuEventElapsedTime)
  CALPE_CHECK_FUNCTION(exchange_capture_mode, cuThreadExchangeStreamCaptureMode)
  CALPE_CHECK_FUNCTION(stream_get_ctx, cuStreamGetCtx)
  CALPE_CHECK_FUNCTION(device_get_pci_bus_id, cuDeviceGetPCIBusId)
#undef CALPE_CHECK_FUNCTION
  unsigned functions = 0;
#define CALPE_COUNT_FUNCTION(...) ++functions;
  CALPE_CUDA_FUNCTIONS(CALPE_COUNT_FUNCTION)
  CALPE_CUDA_NEWER_FUNCTIONS(CALPE_COUNT_FUNCTION)
#undef CALPE_COUNT_FUNCTION
  EXPECT_EQ(checked, functions);
}

TEST(CudaPrototypesTest, ConstantsMatchTheHeader) {
  EXPECT_EQ(cuda_error_out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuda_error_stub_library, CUDA_ERROR_STUB_LIBRARY);
  EXPECT_EQ(cuda_error_no_device, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(cuda_error_not_ready, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuda_error_unknown, CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(device_attribute_max_grid_dim_x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  EXPECT_EQ(device_attribute_max_grid_dim_x + 2, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  EXPECT_EQ(device_attribute_compute_capability_major,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(device_attribute_compute_capability_minor,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(function_attribute_local_size_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_EQ(pointer_attribute_memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  EXPECT_EQ(pointer_attribute_device_ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
  EXPECT_EQ(pointer_attribute_range_start_addr, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
  EXPECT_EQ(pointer_attribute_range_size, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
  EXPECT_EQ(int{memory_type_device}, int{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(jit_error_log_buffer, CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_EQ(jit_error_log_buffer_size_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  EXPECT_EQ(capture_mode_relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(int{stream_non_blocking}, int{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(int{event_disable_timing}, int{CU_EVENT_DISABLE_TIMING});
  EXPECT_EQ(int{host_portable}, int{CU_MEMHOSTALLOC_PORTABLE});
  EXPECT_EQ(int{host_portable}, int{CU_MEMHOSTREGISTER_PORTABLE});
}

#else

TEST(CudaPrototypesTest, MatchTheHeader) {
  GTEST_SKIP() << "no cuda.h in /usr/local/cuda/include";
}

#endif

}  // namespace
}  // namespace calpe::backend::cuda
