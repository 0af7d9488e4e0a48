// SPDX-License-Identifier: Apache-2.0
// Sections of `calpe bench` about codes as equations: XOR counts per style, and the speed of
// emitted C code, for comparison with P. Sobe, "Parallel coding for storage systems" (2012).
#pragma once
#include <nlohmann/json.hpp>

#include <calpe/result.hpp>

#include "calpe/bench/bench_extent.hpp"

namespace calpe::tools {

// Rows with direct, iterative and optimised XOR counts, and the published ones where known.
Result<nlohmann::ordered_json> count_xors(const BenchExtent& extent);

// 4+2, w = 3, units of 32 and 64 KiB, direct and iterative, sequential and OpenMP with one thread
// per core: emitted as C, compiled here, compared with the reference, timed together with the roof.
// {"status": "not measured", "reason": ...} without a C compiler or OpenMP.
Result<nlohmann::ordered_json> measure_emitted(const BenchExtent& extent);

}  // namespace calpe::tools
