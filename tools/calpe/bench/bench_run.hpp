// SPDX-License-Identifier: Apache-2.0
// The sections that a whole run of `calpe bench` adds to the grid; `calpe report` draws them.
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
  std::vector<std::string> names;    // from section_names(), without "all"
  std::vector<std::string> devices;  // "all" or names, as given; empty = none
  std::vector<std::string> gpus;     // files; empty = built-in descriptions
};

// "over-k", "over-bytes", ... in execution order.
std::vector<std::string> section_names();

// Resolves "all" and "none". Fails with invalid_argument for an unknown name.
Result<std::vector<std::string>> sections_asked_for(const std::vector<std::string>& asked);

// Estimated duration of the sections in seconds, for the initial "time left".
double planned_seconds(const SectionRequest& request);

// Measures what must run before anything else lists backends: {} or {"phases": ...}.
nlohmann::ordered_json run_first_section(const SectionRequest& request);

// Each section under its name with underscores. A section that cannot be measured has "status":
// "not measured". Fails with corrupt for wrong bytes.
Result<nlohmann::ordered_json> run_sections(const SectionRequest& request,
                                            std::span<const bench::NamedPeer> peers);

}  // namespace calpe::tools
