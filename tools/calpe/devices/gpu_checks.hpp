// SPDX-License-Identifier: Apache-2.0
// Checks of a device beyond the self-test: large jobs, every kind of memory, work of several
// threads at once, the cache of kernels. Small stand-ins for devices cannot show most of what can
// go wrong here. Every result is compared with that of the backend cpu.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::tools {

struct GpuCheckOptions {
  std::string backend;
  bool is_small = false;     // small jobs, for stand-ins and CPUs
  bool plant_error = false;  // corrupt the result of the first check
};

struct GpuCheck {
  std::string_view name;
  std::string_view shows;  // fault that the check would find
  std::vector<std::string> failures = {};
  std::vector<std::string> remarks = {};
  double seconds = 0;
};

// Runs all checks in order. Calls `on_start` with the name of each before it starts, so that a
// crash of the machine is attributed to it.
std::vector<GpuCheck> check_gpu(const GpuCheckOptions& options,
                                const std::function<void(std::string_view)>& on_start);

}  // namespace calpe::tools
