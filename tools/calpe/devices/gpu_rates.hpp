// SPDX-License-Identifier: Apache-2.0
// Measures a GPU where `calpe devices --predict` predicts: several codes, both layouts, encode and
// decode, in device memory and through copies.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calpe/predict/prediction_report.hpp"

namespace calpe::tools {

// Codes that are measured and predicted.
PredictedCodes gpu_rate_codes();

// Finds the description of examples/gpus whose file name is in the device's description, such as
// "rtx4090" in "NVIDIA GeForce RTX 4090, driver 13.0".
std::optional<GpuDescription> find_known_gpu(const std::string& device);

// Returns an array with one entry per code, layout, operation and kind of memory. `rows` are
// predictions for gpu_rate_codes(), or counts with a GPU of which nothing is known; only with
// `has_prediction` their rates are meaningful.
nlohmann::ordered_json measure_gpu(const std::string& backend,
                                   const std::vector<PredictedRow>& rows, bool has_prediction);

// Time of a call that does almost nothing, in device memory: microseconds.
nlohmann::ordered_json measure_call(const std::string& backend);

}  // namespace calpe::tools
