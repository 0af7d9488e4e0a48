// SPDX-License-Identifier: Apache-2.0
#include "calpe/predict/prediction.hpp"

#include <algorithm>

namespace calpe::tools {

Prediction predict(const GpuDescription& gpu, const KernelCounts& counts, const Shape& shape) {
  const double k = shape.data;
  const double m = shape.parity;
  const double clocks = gpu.compute_efficiency * gpu.multiprocessors * gpu.clock_ghz;
  Prediction prediction;
  prediction.bounds = {
      {"MEM", gpu.memory_efficiency * gpu.memory_gb_per_s * k / (k + m)},
      {"ALU", clocks * gpu.alu_lanes_per_clock / counts.alu_per_byte},
      {"ISSUE", clocks * gpu.issue_lanes_per_clock / counts.issue_per_byte},
      {"L2",
       gpu.l2_efficiency * gpu.l2_gb_per_s / (static_cast<double>(counts.row_groups) + m / k)},
  };
  const auto is_slower = [](const Bound& a, const Bound& b) { return a.gb_per_s < b.gb_per_s; };
  prediction.device =
      *std::min_element(prediction.bounds.begin(), prediction.bounds.end(), is_slower);
  const Bound link = {"LINK", std::min(gpu.pcie_gb_per_s, gpu.pcie_gb_per_s * k / m)};
  prediction.host = std::min(link, prediction.device, is_slower);
  return prediction;
}

}  // namespace calpe::tools
