// SPDX-License-Identifier: Apache-2.0
// Memory that a caller allocated with the driver's own functions (OpenCL or CUDA, not Vulkan, which
// imports none), for tests of
// importing it; and the counts of the interpreter behind CUDA.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

#include <calpe/device_memory.hpp>

#include "devices/device_setup.hpp"
#include "ptx_interpreter/ptx_interpreter.h"

namespace calpe::tests {

// A function of a library that the backend has already opened.
template <class Function>
Function* driver_function(const char* variable, const char* usual, const char* name) {
  const char* path = std::getenv(variable);
  void* const library = dlopen(path != nullptr ? path : usual, RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

template <class Function>
Function* opencl_function(const char* name) {
  return driver_function<Function>("CALPE_OPENCL_LIBRARY", "libOpenCL.so.1", name);
}
template <class Function>
Function* cuda_function(const char* name) {
  return driver_function<Function>("CALPE_CUDA_DRIVER", "libcuda.so.1", name);
}

inline bool is_cuda() {
  return tested_backend().starts_with("cuda");
}
inline bool imports_memory() {
  return !tested_backend().starts_with("vulkan");
}

// All bytes that crossed the link; zeros if they are not counted.
struct CopyCount {
  std::uint64_t in = 0;
  std::uint64_t out = 0;

  static CopyCount now() {
    if (!is_cuda()) return {};
    auto* const count = cuda_function<decltype(calpe_ptx_count)>("calpe_ptx_count");
    if (count == nullptr) return {};
    calpe_ptx_counts counts = {};
    count(&counts);
    return {.in = counts.copy_in_bytes, .out = counts.copy_out_bytes};
  }
  CopyCount operator-(const CopyCount& other) const {
    return {.in = in - other.in, .out = out - other.out};
  }
};

class NativeMemory {
 public:
  enum class Owner { codec_context, own_context };

  NativeMemory(const Codec& codec, std::size_t bytes, Owner owner) {
    is_cuda() ? make_cuda(codec, bytes, owner) : make_opencl(codec, bytes, owner);
  }
  NativeMemory(const NativeMemory&) = delete;
  NativeMemory& operator=(const NativeMemory&) = delete;
  ~NativeMemory() {
    if (pointer_ != 0)
      in_context([&] { cuda_function<int(std::uint64_t)>("cuMemFree_v2")(pointer_); });
    if (queue_ != nullptr)
      opencl_function<decltype(clReleaseCommandQueue)>("clReleaseCommandQueue")(queue_);
    if (buffer_ != nullptr)
      opencl_function<decltype(clReleaseMemObject)>("clReleaseMemObject")(buffer_);
    if (own_context_ != nullptr)
      opencl_function<decltype(clReleaseContext)>("clReleaseContext")(own_context_);
  }

  // CUDA: its address.
  std::byte* address() const { return reinterpret_cast<std::byte*>(pointer_); }
  // Why there is none, or empty.
  const std::string& missing() const { return missing_; }

  Result<DeviceMemory> import(const Codec& codec, std::size_t bytes) const {
    return is_cuda() ? DeviceMemory::import_cuda(codec, pointer_, bytes)
                     : DeviceMemory::import_opencl(codec, buffer_, bytes);
  }
  // A handle that claims to belong to the other driver.
  Result<DeviceMemory> import_as_other_kind(const Codec& codec, std::size_t bytes) const {
    return is_cuda()
               ? DeviceMemory::import_opencl(codec, reinterpret_cast<void*>(pointer_), bytes)
               : DeviceMemory::import_cuda(codec, reinterpret_cast<std::uint64_t>(buffer_), bytes);
  }

  // Its own context, for a device that works through copies.
  bool is_elsewhere(const Codec& codec) const {
    return own_context_ != nullptr && !codec_shares_memory(codec);
  }

  // Uses the driver's functions directly.
  std::vector<std::byte> read(std::size_t offset, std::size_t bytes) const {
    std::vector<std::byte> to(bytes);
    if (is_cuda()) {
      in_context([&] {
        EXPECT_EQ((cuda_function<int(void*, std::uint64_t, std::size_t)>("cuMemcpyDtoH_v2")(
                      to.data(), pointer_ + offset, bytes)),
                  0);
      });
    } else {
      EXPECT_EQ(opencl_function<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer")(
                    queue_, buffer_, CL_TRUE, offset, bytes, to.data(), 0, nullptr, nullptr),
                CL_SUCCESS);
    }
    return to;
  }

 private:
  template <class Call>
  void in_context(const Call& call) const {
    EXPECT_EQ(cuda_function<int(void*)>("cuCtxPushCurrent_v2")(cuda_context_), 0);
    call();
    void* popped = nullptr;
    EXPECT_EQ(cuda_function<int(void**)>("cuCtxPopCurrent_v2")(&popped), 0);
  }

  void make_cuda(const Codec& codec, std::size_t bytes, Owner owner) {
    if (owner == Owner::own_context) {
      missing_ = "memory of a CUDA device belongs to its one primary context";
      return;
    }
    cuda_context_ = DeviceMemory::native_context(codec);
    auto* const allocate = cuda_function<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2");
    if (cuda_context_ == nullptr || allocate == nullptr) {
      missing_ = "no cuMemAlloc_v2";
      return;
    }
    in_context([&] { EXPECT_EQ(allocate(&pointer_, bytes), 0); });
  }

  void make_opencl(const Codec& codec, std::size_t bytes, Owner owner) {
    auto* const create_buffer = opencl_function<decltype(clCreateBuffer)>("clCreateBuffer");
    if (create_buffer == nullptr) {
      missing_ = "no libOpenCL.so.1";
      return;
    }
    auto* context = static_cast<cl_context>(DeviceMemory::native_context(codec));
    cl_device_id device = nullptr;
    EXPECT_EQ(opencl_function<decltype(clGetContextInfo)>("clGetContextInfo")(
                  context, CL_CONTEXT_DEVICES, sizeof device, &device, nullptr),
              CL_SUCCESS);
    cl_int status = CL_SUCCESS;
    if (owner == Owner::own_context) {
      own_context_ = opencl_function<decltype(clCreateContext)>("clCreateContext")(
          nullptr, 1, &device, nullptr, nullptr, &status);
      EXPECT_EQ(status, CL_SUCCESS);
      context = own_context_;
    }
    buffer_ = create_buffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    EXPECT_EQ(status, CL_SUCCESS);
    queue_ = opencl_function<decltype(clCreateCommandQueue)>("clCreateCommandQueue")(
        context, device, 0, &status);
    EXPECT_EQ(status, CL_SUCCESS);
  }

  std::string missing_;
  void* cuda_context_ = nullptr;
  std::uint64_t pointer_ = 0;
  cl_context own_context_ = nullptr;
  cl_mem buffer_ = nullptr;
  cl_command_queue queue_ = nullptr;
};

}  // namespace calpe::tests
