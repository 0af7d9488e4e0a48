// SPDX-License-Identifier: Apache-2.0
// `calpe bench --devices`: rates of each backend in three ways, as in M. L. Curry et al.,
// "Gibraltar" (2011), and the cost of the first use phase by phase, as in P. Sobe, "Parallel coding
// for storage systems" (2012).
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "calpe/bench/bench_extent.hpp"

namespace calpe::tools {

// Resolves "all" to the names of all measurable backends. Fails with invalid_argument for an
// unknown name.
Result<std::vector<std::string>> devices_asked_for(const std::vector<std::string>& asked);

// Forks and measures in the child, because an open driver has already done part of the work. Call
// it before anything else lists backends.
nlohmann::ordered_json measure_phases(const std::vector<std::string>& asked);

// 10+4 with 1 MiB shards: data in host memory, data on the device, transfers alone.
nlohmann::ordered_json measure_devices(const std::vector<std::string>& devices,
                                       const BenchExtent& extent);

}  // namespace calpe::tools
