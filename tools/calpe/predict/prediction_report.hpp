// SPDX-License-Identifier: Apache-2.0
// Prints predictions for codes on a described GPU, as a table or JSON.
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

// Predicts every shape in each layout that the profile has. Fails with invalid_argument for a
// malformed shape or an unknown profile.
Result<std::vector<PredictedRow>> predict_codes(const GpuDescription& gpu,
                                                const PredictedCodes& codes);

void print_predictions(const GpuDescription& gpu, const std::vector<PredictedRow>& rows);
nlohmann::ordered_json to_json(const GpuDescription& gpu, const std::vector<PredictedRow>& rows);

}  // namespace calpe::tools
