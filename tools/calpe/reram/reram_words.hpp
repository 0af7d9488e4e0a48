// SPDX-License-Identifier: Apache-2.0
// Texts that the table and JSON of `calpe reram` share.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calpe/reram/reram_baselines.hpp"
#include "calpe/reram/reram_run.hpp"

namespace calpe::tools {

struct ReramReport {
  ReramRequest request;
  ReramRun run;
  std::vector<Baseline> baselines;
  std::vector<std::string> plots;  // written files
};

std::string counted(std::uint64_t count, std::string_view thing);  // "1 row", "2 rows"

// "matrix", "combination" or "xor".
std::string_view mode_of(const ReramRun& run);
// Description with grid, copies and SSDs.
std::string mode_text(const ReramRun& run);
std::string work_text(const ReramRun& run);  // "encode 10+4", "rebuild shards 0, 3 of 10+4"

struct NamedParameter {
  std::string name;
  double value = 0;
  std::string origin;
};
std::vector<NamedParameter> list_parameters(const reram::Parameters& parameters);

// Writes to the most written row per simulated second, and seconds until it reaches `endurance`.
// nullopt if rows are written only to map a matrix.
struct WearRate {
  double writes_per_second = 0;
  double seconds_to_endurance = 0;
};
std::optional<WearRate> wear_rate(const ReramReport& report);

// Simulated rate divided by the baseline rate; nullopt if the baseline has no rate.
std::optional<double> speed_up(const ReramRun& run, const Baseline& baseline);

// Sums beyond the converter range, and error rates above the target.
std::vector<std::string> warnings_of(const ReramReport& report);
// Names the parameters that were fitted to the paper's results.
std::string calibration_text(const reram::Parameters& parameters);
// Sentences that say what follows from this run, and what does not.
std::vector<std::string> conclusions_of(const ReramReport& report);

}  // namespace calpe::tools
