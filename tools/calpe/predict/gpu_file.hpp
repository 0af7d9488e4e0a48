// SPDX-License-Identifier: Apache-2.0
// A GPU in a small file: what the formulas of prediction.hpp need to know of it.
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
  double pcie_gb_per_s = 0;  // in each direction, as copies reach it
  // Lanes that a multiprocessor executes in a clock: logic and integer; all kinds.
  double alu_lanes_per_clock = 64;
  double issue_lanes_per_clock = 128;
  // What part of the figures above is reached: judgement, not measurement.
  double memory_efficiency = 0.90;
  double compute_efficiency = 0.85;
  double l2_efficiency = 0.80;
};

// Fails with io when the file cannot be read, and with invalid_argument, naming path, line, key,
// what is there and what is expected.
Result<GpuDescription> read_gpu_file(const std::string& path);
Result<GpuDescription> parse_gpu(std::string_view text, std::string_view path);

}  // namespace calpe::tools
