// SPDX-License-Identifier: Apache-2.0
// Predicted GPU rates as sections of a run file, each marked as a prediction, with its formula.
// Also two figures of M. L. Curry et al., "Gibraltar" (2011) that need no GPU.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "calpe/bench/bench_extent.hpp"
#include "calpe/predict/gpu_file.hpp"

namespace calpe::tools {

// Predicted rates of some codes on each GPU.
Result<nlohmann::ordered_json> predict_rates(const std::vector<GpuDescription>& gpus,
                                             const BenchExtent& extent);

// Figure 4: link rate minus kernel rate, for m = 2..16 over k. For the paper's GPU it uses the
// paper's own lookup rates; for the first of `gpus` it uses our formulas.
Result<nlohmann::ordered_json> predict_excess(const std::vector<GpuDescription>& gpus,
                                              const BenchExtent& extent);

nlohmann::ordered_json bank_conflict_rows(const BenchExtent& extent);

}  // namespace calpe::tools
