// SPDX-License-Identifier: Apache-2.0
// A whole run of `calpe bench`: the sections that `calpe report` draws, beside the grid.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "bench/harness/peers.hpp"
#include "calpe/bench/bench_extent.hpp"

namespace calpe::tools {

struct SectionRequest {
  BenchExtent extent;
  std::vector<std::string> names;    // of section_names(), without "all"
  std::vector<std::string> devices;  // as given: "all", or names; empty: none
  std::vector<std::string> gpus;     // files; empty: those that are built in
};

// "over-k", "over-bytes", ... in the order in which they run.
std::vector<std::string> section_names();

// "all" and "none" are understood; fails with invalid_argument for a name that is none.
Result<std::vector<std::string>> sections_asked_for(const std::vector<std::string>& asked);

// About as many seconds as the sections will take; for a first guess of the time left.
double planned_seconds(const SectionRequest& request);

// What must be measured before anything else asks for backends: {} or {"phases": ...}.
nlohmann::ordered_json run_first_section(const SectionRequest& request);

// Every section under its name with underscores. A section that cannot be measured says so in its
// "status"; fails with corrupt for wrong bytes.
Result<nlohmann::ordered_json> run_sections(const SectionRequest& request,
                                            std::span<const bench::NamedPeer> peers);

}  // namespace calpe::tools
