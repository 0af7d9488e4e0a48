// SPDX-License-Identifier: Apache-2.0
// Reads the description of a GPU that prediction.hpp needs, from a file such as
//
//   # H100 SXM5, data sheet
//   name = H100 SXM5 80 GB
//   multiprocessors = 132
//   clock_ghz = 1.755
//
// Lines of `key = value`, in any order; # starts a comment. calpe-devices(1) lists the keys.
#pragma once
#include <string>
#include <string_view>

#include <calpe/result.hpp>

namespace calpe::tools {

struct GpuDescription {
  std::string name;
  double multiprocessors = 0;
  double clock_ghz = 0;
  double memory_gb_per_s = 0;
  double l2_gb_per_s = 0;
  double pcie_gb_per_s = 0;  // in each direction, achieved by copies
  // Lanes per clock and multiprocessor: logic and integer instructions; all instructions.
  double alu_lanes_per_clock = 64;
  double issue_lanes_per_clock = 128;
  // Fraction of the peak rates above that is reached: estimates, not measurements.
  double memory_efficiency = 0.90;
  double compute_efficiency = 0.85;
  double l2_efficiency = 0.80;
};

// Fails with io if the file cannot be read. Otherwise fails with invalid_argument and names path,
// line, key, value and what was expected.
Result<GpuDescription> read_gpu_file(const std::string& path);
Result<GpuDescription> parse_gpu(std::string_view text, std::string_view path);

}  // namespace calpe::tools
