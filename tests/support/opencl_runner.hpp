// SPDX-License-Identifier: Apache-2.0
// The first OpenCL device of the machine, through libOpenCL.so.1 opened at run time, or through
// the library that CALPE_OPENCL_LIBRARY names.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <array>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <variant>
#include <vector>

#include "support/peer_library.hpp"

namespace calpe::tests {

struct OpenClFunctions {
  decltype(&clGetPlatformIDs) get_platforms = nullptr;
  decltype(&clGetDeviceIDs) get_devices = nullptr;
  decltype(&clGetDeviceInfo) get_device_info = nullptr;
  decltype(&clCreateContext) create_context = nullptr;
  decltype(&clCreateCommandQueue) create_queue = nullptr;
  decltype(&clCreateProgramWithSource) create_program = nullptr;
  decltype(&clBuildProgram) build_program = nullptr;
  decltype(&clGetProgramBuildInfo) get_build_info = nullptr;
  decltype(&clCreateKernel) create_kernel = nullptr;
  decltype(&clSetKernelArg) set_argument = nullptr;
  decltype(&clCreateBuffer) create_buffer = nullptr;
  decltype(&clEnqueueNDRangeKernel) enqueue_kernel = nullptr;
  decltype(&clEnqueueReadBuffer) read_buffer = nullptr;
  decltype(&clFinish) finish = nullptr;
  decltype(&clReleaseMemObject) release_buffer = nullptr;
  decltype(&clReleaseKernel) release_kernel = nullptr;
  decltype(&clReleaseProgram) release_program = nullptr;
};

// Everything fails softly: missing() tells why nothing can be run here.
class OpenClRunner {
 public:
  OpenClRunner() : library_(library_name(), "ocl-icd-libopencl1 pocl-opencl-icd") {
    library_.find("clGetPlatformIDs", cl_.get_platforms);
    library_.find("clGetDeviceIDs", cl_.get_devices);
    library_.find("clGetDeviceInfo", cl_.get_device_info);
    library_.find("clCreateContext", cl_.create_context);
    library_.find("clCreateCommandQueue", cl_.create_queue);
    library_.find("clCreateProgramWithSource", cl_.create_program);
    library_.find("clBuildProgram", cl_.build_program);
    library_.find("clGetProgramBuildInfo", cl_.get_build_info);
    library_.find("clCreateKernel", cl_.create_kernel);
    library_.find("clSetKernelArg", cl_.set_argument);
    library_.find("clCreateBuffer", cl_.create_buffer);
    library_.find("clEnqueueNDRangeKernel", cl_.enqueue_kernel);
    library_.find("clEnqueueReadBuffer", cl_.read_buffer);
    library_.find("clFinish", cl_.finish);
    library_.find("clReleaseMemObject", cl_.release_buffer);
    library_.find("clReleaseKernel", cl_.release_kernel);
    library_.find("clReleaseProgram", cl_.release_program);
    missing_ = library_.missing();
    if (missing_.empty()) open();
  }

  const std::string& missing() const { return missing_; }
  std::string device_name() const {
    std::string name(256, '\0');
    std::size_t size = 0;
    cl_.get_device_info(device_, CL_DEVICE_NAME, name.size(), name.data(), &size);
    return name.substr(0, size == 0 ? 0 : size - 1);
  }

  // Ends what was built before.
  testing::AssertionResult build(const std::string& source, const char* options = "-cl-std=CL1.2") {
    if (program_ != nullptr) cl_.release_program(program_);
    const char* start = source.data();
    const std::size_t size = source.size();
    program_ = cl_.create_program(context_, 1, &start, &size, nullptr);
    if (cl_.build_program(program_, 1, &device_, options, nullptr, nullptr) == CL_SUCCESS) {
      return testing::AssertionSuccess();
    }
    std::string log(4000, '\0');
    cl_.get_build_info(program_, device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
    return testing::AssertionFailure() << log.c_str();
  }

  // Arguments in order; none: a null pointer.
  using Argument = std::variant<std::monostate, cl_mem, cl_ulong>;
  struct Range {
    std::array<std::size_t, 3> first = {0, 0, 0};
    std::array<std::size_t, 3> count = {1, 1, 1};
    std::size_t local = 1;  // along x; PoCL compiles a kernel anew for every size
  };
  testing::AssertionResult launch(const std::string& name, const std::vector<Argument>& arguments,
                                  const Range& range) {
    cl_int status = 0;
    cl_kernel kernel = cl_.create_kernel(program_, name.c_str(), &status);
    if (status != CL_SUCCESS) {
      return testing::AssertionFailure() << name << " is no kernel: " << status;
    }
    for (cl_uint i = 0; i < arguments.size() && status == CL_SUCCESS; ++i) {
      if (const cl_mem* memory = std::get_if<cl_mem>(&arguments[i])) {
        status = cl_.set_argument(kernel, i, sizeof *memory, memory);
      } else if (const cl_ulong* number = std::get_if<cl_ulong>(&arguments[i])) {
        status = cl_.set_argument(kernel, i, sizeof *number, number);
      } else {
        status = cl_.set_argument(kernel, i, sizeof(cl_mem), nullptr);
      }
    }
    const std::array<std::size_t, 3> local = {range.local, 1, 1};
    if (status == CL_SUCCESS) {
      status = cl_.enqueue_kernel(queue_, kernel, 3, range.first.data(), range.count.data(),
                                  local.data(), 0, nullptr, nullptr);
    }
    cl_.release_kernel(kernel);
    if (status == CL_SUCCESS) return testing::AssertionSuccess();
    return testing::AssertionFailure() << name << ": " << status;
  }

  // With USE_HOST_PTR a device that shares memory works on `memory` itself.
  cl_mem buffer(void* memory, std::size_t bytes, cl_mem_flags flags = CL_MEM_COPY_HOST_PTR) {
    return cl_.create_buffer(context_, CL_MEM_READ_WRITE | flags, bytes, memory, nullptr);
  }
  testing::AssertionResult read(cl_mem buffer, void* memory, std::size_t bytes) {
    const cl_int status =
        cl_.read_buffer(queue_, buffer, CL_TRUE, 0, bytes, memory, 0, nullptr, nullptr);
    if (status == CL_SUCCESS) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "read: " << status;
  }
  void finish() { cl_.finish(queue_); }
  void release(cl_mem buffer) { cl_.release_buffer(buffer); }

  struct Launch {
    std::string kernel;
    std::size_t first = 0;
    std::size_t count = 1;
    std::vector<cl_ulong> numbers = {};  // arguments behind n and r
  };
  // Launches in order over one pair of buffers; r is read back.
  testing::AssertionResult run(const std::vector<Launch>& launches, const unsigned char* n,
                               std::size_t n_bytes, unsigned char* r, std::size_t r_bytes) {
    cl_mem in = buffer(const_cast<unsigned char*>(n), n_bytes);
    cl_mem out = buffer(r, r_bytes);
    testing::AssertionResult result = testing::AssertionSuccess();
    for (const Launch& each : launches) {
      std::vector<Argument> arguments = {in, out};
      arguments.insert(arguments.end(), each.numbers.begin(), each.numbers.end());
      if (result && each.count != 0) {
        result = launch(each.kernel, arguments,
                        {.first = {each.first, 0, 0}, .count = {each.count, 1, 1}});
      }
    }
    if (result) result = read(out, r, r_bytes);
    release(in);
    release(out);
    return result;
  }

 private:
  void open() {
    cl_platform_id platform = nullptr;
    if (cl_.get_platforms(1, &platform, nullptr) != CL_SUCCESS || platform == nullptr ||
        cl_.get_devices(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) != CL_SUCCESS) {
      missing_ = "no OpenCL device: apt install pocl-opencl-icd";
      return;
    }
    context_ = cl_.create_context(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    queue_ = context_ == nullptr ? nullptr : cl_.create_queue(context_, device_, 0, nullptr);
    if (queue_ == nullptr) missing_ = "the OpenCL device cannot be opened";
  }

  static const char* library_name() {
    const char* given = std::getenv("CALPE_OPENCL_LIBRARY");
    return given != nullptr && *given != '\0' ? given : "libOpenCL.so.1";
  }

  PeerLibrary library_;
  OpenClFunctions cl_;
  std::string missing_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

}  // namespace calpe::tests
