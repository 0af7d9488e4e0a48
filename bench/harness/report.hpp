// SPDX-License-Identifier: Apache-2.0
// The results of a run: what the grid fills and the table and the JSON print.
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/conditions.hpp"
#include "bench/harness/machine.hpp"
#include "bench/harness/operation.hpp"
#include "bench/harness/statistics.hpp"

namespace calpe::bench {

// A speed in GB/s for encode and decode; microseconds per pattern for plan.
struct Figure {
  double best = 0;
  double median = 0;
};

struct MethodFigure {
  std::string method;
  Figure figure;
};

struct PeerFigure {
  std::string name;
  std::string method;  // which of its techniques was best
  Figure figure;
  RatioSummary ratio;                 // ours over theirs: above 1 we are faster
  std::vector<MethodFigure> methods;  // all of its techniques; not for plan
};

// GB/s of the memory system with the working set of a cell.
struct MemoryLimits {
  std::size_t working_set_bytes = 0;
  double memcpy_gb_per_s = 0;
  double read_gb_per_s = 0;
  double write_gb_per_s = 0;
};

// The same work on one thread, measured in the same rounds.
struct Alone {
  double gb_per_s = 0;
  double roof_gb_per_s = 0;  // the better one; 0 when the roof had one thread anyway
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
  std::size_t stripes = 1;  // taken in turn, or in one batch
  double roof_plain_gb_per_s = 0;
  double roof_nt_gb_per_s = 0;  // with non-temporal stores
  std::optional<Alone> alone;   // when several threads worked
  MemoryLimits limits;

  // The one that counts.
  double roof_gb_per_s() const { return std::max(roof_plain_gb_per_s, roof_nt_gb_per_s); }
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
  unsigned word_bits = 0;  // 0: the profile's own, like packet_bytes
  unsigned packet_bytes = 0;
  Effort effort = Effort::fast;
  Conditions conditions;
  std::vector<PeerInfo> peers;
  std::vector<Row> rows;
  std::vector<SkippedCell> skipped;
};

// The report as JSON text, indented; docs/benchmarking.md names every field.
std::string to_json(const Report& report);

}  // namespace calpe::bench
