// SPDX-License-Identifier: Apache-2.0
// The device behind a driver: OpenCL's and CUDA's are this one, with another gpu::Driver below.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/gpu/driver.hpp"
#include "backend/gpu/gpu_options.hpp"

namespace calpe::backend::gpu {

// `key` names the device in this process: codecs that ask for the same one with the same options
// share context, kernels and memory. `open` is called when nobody has it open.
Result<std::unique_ptr<Device>> open_gpu_device(
    const std::string& key, const GpuOptions& options,
    const std::function<Result<std::unique_ptr<Driver>>()>& open);

struct KernelReport {
  std::size_t ready_variants = 0;
  std::vector<std::string> failures = {};
};
// Of a kernel of such a device, after all that is being compiled is done.
KernelReport settle(Device& device, const Kernel& kernel);

}  // namespace calpe::backend::gpu
