// SPDX-License-Identifier: Apache-2.0
// The first OpenCL device of the machine, through libOpenCL.so.1 or the library named by
// CALPE_OPENCL_LIBRARY, opened at run time.
#pragma once
#include <array>
#include <gtest/gtest.h>
#include <string>
#include <variant>
#include <vector>

#include "backend/opencl/opencl_api.hpp"

namespace calpe::tests {

// Never fails hard; missing() gives the reason if nothing can run.
class OpenClRunner {
 public:
  OpenClRunner() {
    const Result<const backend::opencl::Api*> api = backend::opencl::open_api();
    if (!api) {
      missing_ = api.error().message;
      return;
    }
    cl_ = *api;
    open();
  }

  const std::string& missing() const { return missing_; }
  std::string device_name() const {
    return backend::opencl::device_text(*cl_, device_, CL_DEVICE_NAME);
  }

  // Replaces the previous program.
  testing::AssertionResult build(const std::string& source, const char* options = "-cl-std=CL1.2") {
    if (program_ != nullptr) cl_->clReleaseProgram(program_);
    const char* start = source.data();
    const std::size_t size = source.size();
    program_ = cl_->clCreateProgramWithSource(context_, 1, &start, &size, nullptr);
    if (cl_->clBuildProgram(program_, 1, &device_, options, nullptr, nullptr) == CL_SUCCESS) {
      return testing::AssertionSuccess();
    }
    std::string log(4000, '\0');
    cl_->clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(),
                               nullptr);
    return testing::AssertionFailure() << log.c_str();
  }

  // Arguments in order; no buffer means a null pointer.
  using Argument = std::variant<std::monostate, cl_mem, cl_ulong>;
  struct Range {
    std::array<std::size_t, 3> first = {0, 0, 0};
    std::array<std::size_t, 3> count = {1, 1, 1};
    std::size_t local = 1;  // along x; PoCL recompiles a kernel for every size
  };
  testing::AssertionResult launch(const std::string& name, const std::vector<Argument>& arguments,
                                  const Range& range) {
    cl_int status = 0;
    cl_kernel kernel = cl_->clCreateKernel(program_, name.c_str(), &status);
    if (status != CL_SUCCESS) {
      return testing::AssertionFailure() << name << " is not a kernel: " << status;
    }
    for (cl_uint i = 0; i < arguments.size() && status == CL_SUCCESS; ++i) {
      if (const cl_mem* memory = std::get_if<cl_mem>(&arguments[i])) {
        status = cl_->clSetKernelArg(kernel, i, sizeof *memory, memory);
      } else if (const cl_ulong* number = std::get_if<cl_ulong>(&arguments[i])) {
        status = cl_->clSetKernelArg(kernel, i, sizeof *number, number);
      } else {
        status = cl_->clSetKernelArg(kernel, i, sizeof(cl_mem), nullptr);
      }
    }
    const std::array<std::size_t, 3> local = {range.local, 1, 1};
    if (status == CL_SUCCESS) {
      status = cl_->clEnqueueNDRangeKernel(queue_, kernel, 3, range.first.data(),
                                           range.count.data(), local.data(), 0, nullptr, nullptr);
    }
    cl_->clReleaseKernel(kernel);
    if (status == CL_SUCCESS) return testing::AssertionSuccess();
    return testing::AssertionFailure() << name << ": " << status;
  }

  // With USE_HOST_PTR a device that shares memory works on `memory` itself.
  cl_mem buffer(void* memory, std::size_t bytes, cl_mem_flags flags = CL_MEM_COPY_HOST_PTR) {
    return cl_->clCreateBuffer(context_, CL_MEM_READ_WRITE | flags, bytes, memory, nullptr);
  }
  testing::AssertionResult read(cl_mem buffer, void* memory, std::size_t bytes) {
    const cl_int status =
        cl_->clEnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, bytes, memory, 0, nullptr, nullptr);
    if (status == CL_SUCCESS) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "read: " << status;
  }
  void finish() { cl_->clFinish(queue_); }
  void release(cl_mem buffer) { cl_->clReleaseMemObject(buffer); }

  struct Launch {
    std::string kernel;
    std::size_t first = 0;
    std::size_t count = 1;
    std::vector<cl_ulong> numbers = {};  // arguments after n and r
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
    const auto devices = backend::opencl::find_devices(*cl_);
    if (!devices || devices->empty()) {
      missing_ =
          devices ? "no OpenCL device; apt install pocl-opencl-icd" : devices.error().message;
      return;
    }
    device_ = devices->front().id;
    context_ = cl_->clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    queue_ =
        context_ == nullptr ? nullptr : cl_->clCreateCommandQueue(context_, device_, 0, nullptr);
    if (queue_ == nullptr) missing_ = "cannot open the OpenCL device";
  }

  const backend::opencl::Api* cl_ = nullptr;
  std::string missing_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

}  // namespace calpe::tests
