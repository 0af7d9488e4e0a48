// SPDX-License-Identifier: Apache-2.0
// What `calpe durability` computes, before it is printed.
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
  std::vector<durability::CodeChoice> codes;  // one, or those that are compared
  bool is_comparison = false;
  durability::Inputs inputs;
  std::string failures;  // "1.5 % a year (AFR)"
  std::string bench;     // a file; empty: decoding is no limit, unless inputs say so
  double nodes = 0;      // of the fleet; 0: not asked
  double target_nines = 11;
  std::uint64_t cycles = 200'000;
  std::uint64_t missions = 0;
  bool is_repair_fixed = false;
  std::uint64_t seed = 1;
  bool has_mttdl = false;
  std::string plot;
};

// One code with everything said about it.
struct DurabilityRow {
  durability::CodeChoice code;
  durability::Scheme scheme;
  durability::Inputs inputs;
  durability::Estimate estimate;
  durability::Sampled sampled;  // of one group or pool
  double chain_losses = 0;      // what it samples: of one group or pool, a year
  std::optional<durability::MissionResult> missions;
  std::vector<durability::Sensitivity> sensitivities;
  std::optional<durability::Scheme> smallest;  // that meets the target
  durability::RepairTraffic traffic;
  std::string decode_origin;
  std::vector<std::string> notes;
};

struct DurabilityReport {
  DurabilityRequest request;
  std::vector<DurabilityRow> rows;
  // The same overhead the other way, for the traffic: an lrc for an MDS code and back.
  std::optional<DurabilityRow> counterpart;
  std::vector<std::string> plots;  // paths that were written
};

Result<DurabilityReport> run_durability(const DurabilityRequest& request);

// Curves for the pictures.
LossPlot loss_plot(const DurabilityReport& report);
RebuildPlot rebuild_plot(const DurabilityReport& report);

}  // namespace calpe::tools
