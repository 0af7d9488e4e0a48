// SPDX-License-Identifier: Apache-2.0
// Counts the instructions per byte of data in the kernels emitted for NVIDIA GPUs.
#pragma once
#include <cstddef>
#include <string_view>

#include <calpe/code_spec.hpp>

#include "calpe/predict/prediction.hpp"
#include "emit/device_kernel.hpp"

namespace calpe::tools {

struct CountedKernel {
  std::string_view style;  // "planes" for the bytes layout, "units" for packets
  std::size_t word_bytes = 4;
  KernelCounts counts;
  // What was counted.
  emit::DeviceText text;
  emit::DeviceForm form;
  emit::DeviceShape shape;
};

// Counts the PTX of the encoder, as a device gets it in the background. Can take seconds for wide
// codes, which are optimised as for a device. Fails as parity_rows() does.
Result<CountedKernel> count_kernel(const CodeSpec& spec);

}  // namespace calpe::tools
