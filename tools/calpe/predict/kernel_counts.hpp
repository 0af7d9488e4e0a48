// SPDX-License-Identifier: Apache-2.0
// What the kernels that we would send to an NVIDIA GPU execute per byte of data.
#pragma once
#include <cstddef>
#include <string_view>

#include <calpe/code_spec.hpp>

#include "calpe/predict/prediction.hpp"

namespace calpe::tools {

struct CountedKernel {
  std::string_view style;  // "planes" for the bytes layout, "units" for packets
  std::size_t word_bytes = 4;
  KernelCounts counts;
};

// The encoder of a code, as PTX. Takes up to seconds for wide codes: they are optimised as for a
// device. Fails as parity_rows() does.
Result<CountedKernel> count_kernel(const CodeSpec& spec);

}  // namespace calpe::tools
