// SPDX-License-Identifier: Apache-2.0
// Predicts the coding rate of a GPU from its data sheet and our kernels' instructions per byte. A
// roofline model: the smallest of the rates that each unit could sustain.
//
//   MEM    memory_efficiency * memory * k / (k + m)                every byte crosses once
//   ALU    compute_efficiency * multiprocessors * clock * alu_lanes / ALU per byte
//   ISSUE  compute_efficiency * multiprocessors * clock * issue_lanes / instructions per byte
//   L2     l2_efficiency * l2 / (row groups + m / k)               each row group reads all data
//   LINK   min(pcie, pcie * k / m), when data and parity live in the host's memory
//
// Example: H100, 10+4: MEM 0.9 * 3352 * 10/14 = 2155 GB/s of data; from the host LINK 52 GB/s.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "calpe/predict/gpu_file.hpp"

namespace calpe::tools {

// Printed with every prediction.
inline constexpr std::string_view prediction_note = "predicted, never measured by us";

struct KernelCounts {
  double alu_per_byte = 0;  // of data
  double issue_per_byte = 0;
  std::size_t row_groups = 1;
};

struct Bound {
  std::string_view unit;  // MEM, ALU, ISSUE, L2 or LINK
  double gb_per_s = 0;    // 10^9 bytes of data
};

struct Shape {
  unsigned data = 0;
  unsigned parity = 0;
};

struct Prediction {
  std::vector<Bound> bounds;  // MEM, ALU, ISSUE, L2
  Bound device;               // data in the GPU's memory: the smallest of them
  Bound host;                 // data in the host's memory: that or LINK
};

Prediction predict(const GpuDescription& gpu, const KernelCounts& counts, const Shape& shape);

}  // namespace calpe::tools
