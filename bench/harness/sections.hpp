// SPDX-License-Identifier: Apache-2.0
// The sections of a whole run in addition to its grid: one grid per curve of the report.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/grid.hpp"
#include "bench/harness/latency.hpp"

namespace calpe::bench {

struct SectionGrid {
  GridOptions options;
  bool has_peers = true;
};

struct Section {
  std::string name;                // "over-k", as on the command line; in JSON with underscores
  std::string title;               // displayed title
  std::vector<SectionGrid> grids;  // their rows are concatenated
};

enum class Extent { quick, full };

// `cpu_count` limits the threads. Peers take part in the first four sections.
std::vector<Section> grid_sections(Extent extent, unsigned cpu_count);

// The cells of the latency section.
struct LatencyCell {
  Shape shape;
  std::size_t shard_bytes = 0;
  double seconds = 0;
};
std::vector<LatencyCell> latency_cells(Extent extent);

// Latency of encodes by Calpe and the peers, using each peer's best technique. Checks bytes first,
// as in every cell.
struct LatencyRow {
  LatencyCell cell;
  std::string name;
  std::string method;
  Latency latency;
};
Result<std::vector<LatencyRow>> run_latency(const LatencyCell& cell,
                                            std::span<const NamedPeer> peers);

}  // namespace calpe::bench
