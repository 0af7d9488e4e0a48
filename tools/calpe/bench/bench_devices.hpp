// SPDX-License-Identifier: Apache-2.0
// What `calpe bench --devices` measures of every backend: three ways, as M. L. Curry et al.,
// "Gibraltar" (2011) do, and what a first use costs phase by phase, as P. Sobe, "Parallel coding
// for storage systems" (2012) does.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "calpe/bench/bench_extent.hpp"

namespace calpe::tools {

// Names of backends that can be measured, or all that there are; fails with invalid_argument for a
// name that is none.
Result<std::vector<std::string>> devices_asked_for(const std::vector<std::string>& asked);

// Runs in a process of its own, made by fork(): a driver that this process had opened before would
// have done part of the work already. Call it before anything else asks for backends.
nlohmann::ordered_json measure_phases(const std::vector<std::string>& asked);

// 10+4, shards of 1 MiB: data in the host's memory, data on the device, transfers alone.
nlohmann::ordered_json measure_devices(const std::vector<std::string>& devices,
                                       const BenchExtent& extent);

}  // namespace calpe::tools
