// SPDX-License-Identifier: Apache-2.0
// The OpenCL functions that Calpe calls, looked up at run time, so that a build with this backend
// starts on machines without OpenCL.
#pragma once
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue, the only one in OpenCL 1.2
                                           // drivers
#include <CL/cl.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::backend::opencl {

#define CALPE_OPENCL_FUNCTIONS(F) \
  F(clGetPlatformIDs)             \
  F(clGetPlatformInfo)            \
  F(clGetDeviceIDs)               \
  F(clGetDeviceInfo)              \
  F(clCreateSubDevices)           \
  F(clCreateContext)              \
  F(clReleaseContext)             \
  F(clGetContextInfo)             \
  F(clCreateCommandQueue)         \
  F(clReleaseCommandQueue)        \
  F(clGetCommandQueueInfo)        \
  F(clCreateProgramWithSource)    \
  F(clCreateProgramWithBinary)    \
  F(clReleaseProgram)             \
  F(clBuildProgram)               \
  F(clGetProgramBuildInfo)        \
  F(clGetProgramInfo)             \
  F(clCreateKernel)               \
  F(clReleaseKernel)              \
  F(clGetKernelInfo)              \
  F(clGetKernelWorkGroupInfo)     \
  F(clSetKernelArg)               \
  F(clCreateBuffer)               \
  F(clReleaseMemObject)           \
  F(clGetMemObjectInfo)           \
  F(clEnqueueNDRangeKernel)       \
  F(clEnqueueReadBuffer)          \
  F(clEnqueueWriteBuffer)         \
  F(clEnqueueCopyBuffer)          \
  F(clEnqueueFillBuffer)          \
  F(clEnqueueBarrierWithWaitList) \
  F(clEnqueueMapBuffer)           \
  F(clEnqueueUnmapMemObject)      \
  F(clFlush)                      \
  F(clFinish)                     \
  F(clGetEventInfo)               \
  F(clGetEventProfilingInfo)      \
  F(clSetEventCallback)           \
  F(clReleaseEvent)
// OpenCL 2.0; only used if device and host share memory.
#define CALPE_OPENCL_SVM_FUNCTIONS(F) \
  F(clSVMAlloc)                       \
  F(clSVMFree)                        \
  F(clSetKernelArgSVMPointer)         \
  F(clSetKernelExecInfo)              \
  F(clEnqueueSVMMemcpy)               \
  F(clEnqueueSVMMemFill)

struct Api {
#define CALPE_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  CALPE_OPENCL_FUNCTIONS(CALPE_OPENCL_MEMBER)
  CALPE_OPENCL_SVM_FUNCTIONS(CALPE_OPENCL_MEMBER)
#undef CALPE_OPENCL_MEMBER
  bool has_svm = false;
};

// Loads CALPE_OPENCL_LIBRARY or libOpenCL.so.1. Never closed, because drivers leave threads behind.
// Fails with backend_unavailable.
Result<const Api*> open_api();

// "CL_OUT_OF_RESOURCES (-5)"
std::string describe(cl_int status);

// Returns out_of_memory, or `otherwise`, for a status other than CL_SUCCESS.
Status check(cl_int status, std::string_view call, ErrorCode otherwise = ErrorCode::device_failed);

struct FoundDevice {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
};
// Devices of all platforms in order: "opencl:1" is the second. No device is not an error.
Result<std::vector<FoundDevice>> find_devices(const Api& api);

// Whether `handle` can be an object of the platform that made `object`: objects of one platform
// begin with the same dispatch pointer. Anything else is no object of it; querying it would crash.
bool is_object_like(std::uint64_t handle, const void* object);

std::string device_text(const Api& api, cl_device_id device, cl_device_info what);
// "0000:3b:00.0" (cl_khr_pci_bus_info), or empty.
std::string device_pci_address(const Api& api, cl_device_id device);

}  // namespace calpe::backend::opencl
