// SPDX-License-Identifier: Apache-2.0
// The results of a run. The grid fills them; the table and the JSON print them.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/conditions.hpp"
#include "bench/harness/machine.hpp"
#include "bench/harness/operation.hpp"
#include "bench/harness/statistics.hpp"

namespace calpe::bench {

// The basis of a rate: bytes counted per call, and seconds per call.
struct Timing {
  std::size_t bytes = 0;
  double best = 0;
  double median = 0;
  double p10 = 0;
  double p90 = 0;
};

// GB/s for encode and decode; microseconds per pattern for plan.
struct Figure {
  double best = 0;
  double median = 0;
  Timing timing = {};  // not for plan
};

struct MethodFigure {
  std::string method;
  Figure figure;
};

struct PeerFigure {
  std::string name;
  std::string method;  // the best of its techniques
  Figure figure;
  RatioSummary ratio;                 // ours over theirs; above 1 we are faster
  std::vector<MethodFigure> methods;  // all of its techniques; not for plan
};

// GB/s of the memory system for the working set of a cell.
struct MemoryLimits {
  std::size_t working_set_bytes = 0;
  Figure copy;
  Figure read;
  Figure write;
};

// The same work on one thread, from the same rounds.
struct Alone {
  Figure figure;
  Figure roof;  // the better one; 0 if the roof ran on one thread anyway
};

struct Row {
  Shape shape;
  std::size_t shard_bytes = 0;  // 0 for plan, which touches no shard
  Operation operation = Operation::encode;
  std::string path;  // backend used by Calpe: "cpu:avx512-gfni"
  std::size_t lost_shards = 0;
  std::size_t rounds = 0;
  Figure figure;
  // One per peer of the run, in order; empty if a peer cannot do the shape.
  std::vector<std::optional<PeerFigure>> peers;
  // Not for plan.
  std::size_t stripes = 1;  // taken in turn, or in one batch
  Figure roof_plain;
  Figure roof_nt;              // with non-temporal stores
  std::optional<Alone> alone;  // only if several threads worked
  MemoryLimits limits;

  // The faster of both.
  const Figure& roof() const { return roof_plain.best > roof_nt.best ? roof_plain : roof_nt; }
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
  unsigned word_bits = 0;  // 0 = the profile's default, as for packet_bytes
  unsigned packet_bytes = 0;
  Effort effort = Effort::fast;
  Conditions conditions;
  std::vector<PeerInfo> peers;
  std::vector<Row> rows;
  std::vector<SkippedCell> skipped;
};

}  // namespace calpe::bench
