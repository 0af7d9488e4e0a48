// SPDX-License-Identifier: Apache-2.0
// Computes the result of `calpe durability`.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calpe/durability/durability_plots.hpp"
#include "durability/decisions.hpp"
#include "durability/known_code.hpp"
#include "durability/mission_simulation.hpp"
#include "durability/rare_losses.hpp"

namespace calpe::tools {

struct DurabilityRequest {
  std::vector<durability::CodeChoice> codes;  // one code, or the codes to compare
  bool is_comparison = false;
  durability::Inputs inputs;
  std::string failures;  // "1.5 % of devices a year (AFR), independent"
  std::string bench;     // file with measured decode rates; empty: none
  double nodes = 0;      // nodes of the fleet; 0: not given
  double target_nines = 11;
  std::uint64_t cycles = 200'000;
  std::uint64_t missions = 0;
  bool is_repair_fixed = false;
  std::uint64_t seed = 1;
  bool has_mttdl = false;
  std::string plot;
};

// All results for one code.
struct DurabilityRow {
  durability::CodeChoice code;
  durability::Scheme scheme;
  durability::Inputs inputs;
  durability::Estimate estimate;
  durability::Sampled sampled;  // per group or pool
  double chain_losses = 0;      // expected value of `sampled`: losses a year per group or pool
  std::optional<durability::MissionResult> missions;
  std::vector<durability::Sensitivity> sensitivities;
  std::optional<durability::Scheme> smallest;  // smallest that meets the target
  durability::RepairTraffic traffic;
  std::string decode_origin;
  std::vector<std::string> notes;
};

struct DurabilityReport {
  DurabilityRequest request;
  std::vector<DurabilityRow> rows;
  // For the repair traffic: an lrc of the same overhead as the MDS code, or the reverse.
  std::optional<DurabilityRow> counterpart;
  std::vector<std::string> plots;  // written files
};

Result<DurabilityReport> run_durability(const DurabilityRequest& request);

// Data of the plots.
LossPlot loss_plot(const DurabilityReport& report);
RebuildPlot rebuild_plot(const DurabilityReport& report);

}  // namespace calpe::tools
