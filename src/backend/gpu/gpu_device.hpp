// SPDX-License-Identifier: Apache-2.0
// A device behind a gpu::Driver; OpenCL, CUDA and Vulkan devices are instances of it.
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

// `key` identifies the device in this process. Codecs with the same key and options share context,
// kernels and memory. `open` is called if the device is not open yet.
Result<std::unique_ptr<Device>> open_gpu_device(
    const std::string& key, const GpuOptions& options,
    const std::function<Result<std::unique_ptr<Driver>>()>& open);

struct KernelReport {
  std::size_t ready_variants = 0;
  std::vector<std::string> failures = {};
  std::vector<std::size_t> word_bytes = {};  // of the ready variants
};
// State of a kernel of such a device, after all pending compilation is done.
KernelReport settle(Device& device, const Kernel& kernel);

}  // namespace calpe::backend::gpu
