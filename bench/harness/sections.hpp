// SPDX-License-Identifier: Apache-2.0
// What a whole run measures beside its grid: one grid for each curve of the report.
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
  std::string title;               // what it shows, for people
  std::vector<SectionGrid> grids;  // rows of all of them together
};

enum class Extent { quick, full };

// `cpu_count` bounds the threads. Peers take part in the first four.
std::vector<Section> grid_sections(Extent extent, unsigned cpu_count);

// The cells whose single calls are timed.
struct LatencyCell {
  Shape shape;
  std::size_t shard_bytes = 0;
  double seconds = 0;
};
std::vector<LatencyCell> latency_cells(Extent extent);

// Encodes by ours and by the peers, call by call. A peer's best technique counts. Bytes are checked
// first, as in every cell.
struct LatencyRow {
  LatencyCell cell;
  std::string name;
  std::string method;
  Latency latency;
};
Result<std::vector<LatencyRow>> run_latency(const LatencyCell& cell,
                                            std::span<const NamedPeer> peers);

}  // namespace calpe::bench
