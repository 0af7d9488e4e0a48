// SPDX-License-Identifier: Apache-2.0
// Makes the driver under test fail on request (the OpenCL fault library or the PTX interpreter),
// and lists the published error codes.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "devices/device_setup.hpp"
#include "devices/opencl_faults.h"
#include "ptx_interpreter/ptx_interpreter.h"
#include "support/workshop.hpp"

namespace calpe::tests {

class FaultControls {
 public:
  FaultControls()
      : is_cuda_(tested_backend().starts_with("cuda")),
        library_(path(is_cuda_ ? "CALPE_CUDA_DRIVER" : "CALPE_OPENCL_LIBRARY")),
        prefix_(is_cuda_ ? "calpe_ptx_" : "calpe_cl_") {}

  bool is_cuda() const { return is_cuda_; }
  // True if the device writes to host memory directly.
  bool is_zero_copy() const { return !is_cuda_ && std::getenv("CALPE_DEVICE_COPIES") == nullptr; }
  const char* launch_name() const { return is_cuda_ ? "cuLaunchKernel" : "clEnqueueNDRangeKernel"; }

  void reset() const {
    find<void()>("reset")();
    // Delays find missing waits in other tests; here they only waste time.
    if (is_cuda_) find<void(unsigned, unsigned)>("delay")(0, 0);
    // Lost work keeps its memory. Unlike here, a real lost device does not come back.
    if (is_cuda_) find<void(std::size_t)>("memory")(std::size_t{64} << 30U);
  }
  void fail(std::uint64_t index, int code) const {
    find<void(std::uint64_t, int)>("fail")(index, code);
  }
  void lose(std::uint64_t index, int code) const {
    find<void(std::uint64_t, int)>("lose")(index, code);
  }
  void fail_function(const char* name, std::uint64_t index, int code) const {
    find<void(const char*, std::uint64_t, int)>("fail_function")(name, index, code);
  }
  void hang_launch(std::uint64_t index) const { find<void(std::uint64_t)>("hang_launch")(index); }
  void spoil_launch(std::uint64_t index) const { find<void(std::uint64_t)>("spoil_launch")(index); }

  // OpenCL only.
  void spill(std::uint64_t word_bytes, std::uint64_t bytes) const {
    find<void(std::uint64_t, std::uint64_t)>("spill")(word_bytes, bytes);
  }

  struct Counts {
    std::uint64_t calls = 0;
    std::uint64_t launches = 0;
    std::uint64_t allocations = 0;  // this and the next: CUDA only
    std::uint64_t misuses = 0;
  };
  Counts counts() const {
    if (is_cuda_) {
      calpe_ptx_counts counted = {};
      find<void(calpe_ptx_counts*)>("count")(&counted);
      return {counted.calls, counted.launches, counted.allocations, counted.misuses};
    }
    calpe_cl_counts counted = {};
    find<void(calpe_cl_counts*)>("count")(&counted);
    return {.calls = counted.calls, .launches = counted.launches};
  }

  // All published codes, or out of memory and another one. For CUDA without "not ready", which is
  // not a failure of an event.
  std::vector<int> codes() const {
    if (std::getenv("CALPE_NIGHTLY") == nullptr) {
      return is_cuda_ ? std::vector<int>{2, 600} : std::vector<int>{-4, -36};
    }
    return is_cuda_ ? cuda_codes() : opencl_codes();
  }

 private:
  static std::string path(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr ? value : "";
  }
  template <class Function>
  Function* find(const char* name) const {
    return library_.find<Function>(prefix_ + name);
  }
  static void add(std::vector<int>& codes, int first, int last, int step = 1) {
    for (int code = first; code != last + step; code += step)
      codes.push_back(code);
  }
  // Codes of CL/cl.h, of the ICD loader, and of GPU drivers whose device is gone.
  static std::vector<int> opencl_codes() {
    std::vector<int> codes;
    add(codes, -1, -19, -1);
    add(codes, -30, -72, -1);
    codes.insert(codes.end(), {-1001, -9999});
    return codes;
  }
  // CUresult of CUDA 13.
  static std::vector<int> cuda_codes() {
    std::vector<int> codes = {34,  36,  46,  100, 101, 102, 200, 201,
                              202, 400, 401, 402, 500, 600, 999};
    add(codes, 1, 8);
    add(codes, 205, 226);
    add(codes, 300, 304);
    add(codes, 700, 705);
    add(codes, 708, 721);
    add(codes, 800, 812);
    add(codes, 900, 917);
    return codes;
  }

  bool is_cuda_;
  Loaded library_;
  std::string prefix_;
};

}  // namespace calpe::tests
