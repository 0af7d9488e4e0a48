// SPDX-License-Identifier: Apache-2.0
// Predicted rates for GPUs, in the form of a run file: each marked as such, with its formula. And
// two figures of M. L. Curry et al., "Gibraltar" (2011) that nobody needs a GPU for.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "calpe/bench/bench_extent.hpp"
#include "calpe/predict/gpu_file.hpp"

namespace calpe::tools {

// The GPUs of examples/gpus, built in.
Result<std::vector<GpuDescription>> known_gpus();

// Rates of some codes on every GPU.
Result<nlohmann::ordered_json> predict_rates(const std::vector<GpuDescription>& gpus,
                                             const BenchExtent& extent);

// Figure 4: what the link could carry over what the kernel could code, for m = 2..16 over k. On the
// paper's GPU by its own figures for table look-ups; on the first of `gpus` by our formulas.
Result<nlohmann::ordered_json> predict_excess(const std::vector<GpuDescription>& gpus,
                                              const BenchExtent& extent);

nlohmann::ordered_json bank_conflict_rows(const BenchExtent& extent);

}  // namespace calpe::tools
