// SPDX-License-Identifier: Apache-2.0
// What `calpe bench` measures of codes as equations: how many XORs they need in each style, and how
// fast the emitted texts run, as the table of P. Sobe, "Parallel coding for storage systems"
// (2012).
#pragma once
#include <nlohmann/json.hpp>

#include <calpe/result.hpp>

#include "calpe/bench/bench_extent.hpp"

namespace calpe::tools {

// Rows of direct, iterative and optimised XORs, with the published ones where there are some.
Result<nlohmann::ordered_json> count_xors(const BenchExtent& extent);

// 4+2, w = 3, units of 32 and 64 KiB, direct and iterative, sequential and OpenMP with a thread for
// each core: emitted as C, compiled here, compared with the reference, timed beside the roof.
// {"status": "not measured", "reason": ...} without a C compiler or OpenMP.
Result<nlohmann::ordered_json> measure_emitted(const BenchExtent& extent);

}  // namespace calpe::tools
