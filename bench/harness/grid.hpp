// SPDX-License-Identifier: Apache-2.0
// A whole run: all operations of all cells, cell by cell.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/codec.hpp>

#include "bench/harness/conditions.hpp"
#include "bench/harness/peers.hpp"
#include "bench/harness/report.hpp"

namespace calpe::bench {

// The default profile to measure.
inline constexpr std::string_view default_profile = "default";

struct GridOptions {
  std::vector<Shape> shapes;
  std::vector<std::size_t> shard_bytes;
  std::vector<Operation> operations;  // plan, if included, runs once per shape of plan_shapes
  std::vector<Shape> plan_shapes;
  std::string profile = std::string(default_profile);
  unsigned word_bits = 0;     // 0 = the profile's default
  unsigned packet_bytes = 0;  // 0 = the profile's default
  Effort effort = Effort::fast;
  std::string backend = "auto";
  Conditions conditions;
  unsigned rounds = 0;  // 0 = as many as `seconds` allows
  double seconds = 30;  // for the whole run
};

// The grids of `calpe bench --quick`, `--full` and `--wide`.
GridOptions quick_grid();
GridOptions full_grid();
GridOptions wide_grid();

struct Progress {
  std::size_t done = 0;
  std::size_t total = 0;    // rows
  double seconds_left = 0;  // estimated from the rows so far
  std::string what;         // current measurement: "encode 10+4 64 KiB"
};

// Callbacks during the run.
struct GridObserver {
  std::function<void(const Report& so_far)> on_start;  // machine, path and peers are filled
  std::function<void(const Progress& progress)> on_progress;
  std::function<void(const Report& so_far, const Row& row)> on_row;
  std::function<void(const SkippedCell& cell)> on_skip;
};

// Skips and reports shapes that the profile refuses. Fails with corrupt for wrong bytes, and with
// invalid_argument or backend_unavailable if nothing can be measured.
Result<Report> run_grid(const GridOptions& options, std::span<const NamedPeer> peers,
                        const GridObserver& observer);

}  // namespace calpe::bench
