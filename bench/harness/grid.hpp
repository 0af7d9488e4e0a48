// SPDX-License-Identifier: Apache-2.0
// A whole run: every operation of every cell, cell by cell.
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

// The code to measure unless another is asked for.
inline constexpr std::string_view default_profile = "default";

struct GridOptions {
  std::vector<Shape> shapes;
  std::vector<std::size_t> shard_bytes;
  std::vector<Operation> operations;  // plan, if in it, is done once per shape of plan_shapes
  std::vector<Shape> plan_shapes;
  std::string profile = std::string(default_profile);
  unsigned word_bits = 0;     // 0: the profile's own
  unsigned packet_bytes = 0;  // 0: the profile's own
  Effort effort = Effort::fast;
  std::string backend = "auto";
  Conditions conditions;
  unsigned rounds = 0;  // 0: as many as `seconds` allow
  double seconds = 30;  // for the whole run
};

// The run of `calpe bench --quick`, and all that docs/performance.md talks about.
GridOptions quick_grid();
GridOptions full_grid();

struct Progress {
  std::size_t done = 0;
  std::size_t total = 0;    // rows
  double seconds_left = 0;  // as far as can be told from the time that the rows so far took
  std::string what;         // is measured now: "encode 10+4 64 KiB"
};

// Told as the run goes on.
struct GridObserver {
  std::function<void(const Report& so_far)> on_start;  // machine, path and peers are filled
  std::function<void(const Progress& progress)> on_progress;
  std::function<void(const Report& so_far, const Row& row)> on_row;
  std::function<void(const SkippedCell& cell)> on_skip;
};

// A shape that the profile refuses is skipped and reported. Fails with corrupt for wrong bytes,
// with invalid_argument or backend_unavailable when nothing at all can be measured.
Result<Report> run_grid(const GridOptions& options, std::span<const NamedPeer> peers,
                        const GridObserver& observer);

}  // namespace calpe::bench
