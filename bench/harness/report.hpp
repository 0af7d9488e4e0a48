// SPDX-License-Identifier: Apache-2.0
// The results of a run: what the grid fills and the table and the JSON print.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/machine.hpp"
#include "bench/harness/operation.hpp"
#include "bench/harness/statistics.hpp"

namespace calpe::bench {

// A speed in GB/s for encode and decode; microseconds per pattern for plan.
struct Figure {
  double best = 0;
  double median = 0;
};

struct PeerFigure {
  std::string name;
  std::string method;  // which of its techniques was best
  Figure figure;
  RatioSummary ratio;  // ours over theirs: above 1 we are faster
};

// GB/s of the memory system with the working set of a cell.
struct MemoryLimits {
  std::size_t working_set_bytes = 0;
  double memcpy_gb_per_s = 0;
  double read_gb_per_s = 0;
  double write_gb_per_s = 0;
};

struct Row {
  Shape shape;
  std::size_t shard_bytes = 0;  // 0 for plan, which touches no shard
  Operation operation = Operation::encode;
  std::string path;  // backend that did our part, "cpu:avx512-gfni"
  std::size_t lost_shards = 0;
  std::size_t rounds = 0;
  Figure figure;
  // One per peer of the run, in its order; empty where a peer cannot do the shape.
  std::vector<std::optional<PeerFigure>> peers;
  // Not for plan.
  double roof_gb_per_s = 0;
  std::optional<double> roof_nt_gb_per_s;
  MemoryLimits limits;
};

struct SkippedCell {
  Shape shape;
  std::size_t shard_bytes = 0;
  std::string reason;
};

struct PeerInfo {
  std::string name;
  std::string version;
  std::string library;
};

struct Report {
  MachineInfo machine;
  std::string path;
  std::string profile;
  unsigned threads = 1;
  unsigned pool_threads = 1;
  std::vector<PeerInfo> peers;
  std::vector<Row> rows;
  std::vector<SkippedCell> skipped;
};

// The report as JSON text, indented; docs/benchmarking.md names every field.
std::string to_json(const Report& report);

}  // namespace calpe::bench
