// SPDX-License-Identifier: Apache-2.0
// What table and JSON of `calpe reram` both say, so that they agree.
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
  std::vector<std::string> plots;  // paths that were written
};

std::string counted(std::uint64_t count, std::string_view thing);  // "1 row", "2 rows"

// "matrix", "combination" or "xor".
std::string_view mode_of(const ReramRun& run);
// The same for a person, with grid, copies and SSDs.
std::string mode_text(const ReramRun& run);
std::string work_text(const ReramRun& run);  // "encode 10+4", "rebuild shards 0, 3 of 10+4"

struct NamedParameter {
  std::string name;
  double value = 0;
  std::string origin;
};
std::vector<NamedParameter> list_parameters(const sim::Parameters& parameters);

// Writes of the most written row per simulated second, and seconds until `endurance` of them; none
// where rows are written only when a matrix is mapped.
struct WearRate {
  double writes_per_second = 0;
  double seconds_to_endurance = 0;
};
std::optional<WearRate> wear_rate(const ReramReport& report);

// How many times as fast the simulated hardware is; none where nothing was measured.
std::optional<double> speed_up(const ReramRun& run, const Baseline& baseline);

// What is not as it should be: sums beyond the converter, bits that noise may spoil.
std::vector<std::string> warnings_of(const ReramReport& report);
// Which parameters the paper's own results were used for.
std::string calibration_text(const sim::Parameters& parameters);
// What may be concluded from the figures of this run, and what may not.
std::vector<std::string> conclusions_of(const ReramReport& report);

}  // namespace calpe::tools
