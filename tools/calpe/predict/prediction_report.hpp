// SPDX-License-Identifier: Apache-2.0
// Predictions for codes on a GPU out of a file, as a table or JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>

#include "calpe/predict/kernel_counts.hpp"
#include "calpe/predict/prediction.hpp"

namespace calpe::tools {

struct PredictedRow {
  CodeSpec spec;
  CountedKernel kernel;
  Prediction prediction;
};

struct PredictedCodes {
  std::vector<std::string> shapes = {"10+4", "16+16", "223+32"};
  std::string profile = "cauchy";
  unsigned word_bits = 0;  // of the packets layout; 0: 8
};

// Both layouts of every shape, where the profile has them. Fails with invalid_argument for a shape
// that is none and for a code that there is not.
Result<std::vector<PredictedRow>> predict_codes(const GpuDescription& gpu,
                                                const PredictedCodes& codes);

void print_predictions(const GpuDescription& gpu, const std::vector<PredictedRow>& rows);
nlohmann::ordered_json to_json(const GpuDescription& gpu, const std::vector<PredictedRow>& rows);

}  // namespace calpe::tools
