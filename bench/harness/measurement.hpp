// SPDX-License-Identifier: Apache-2.0
// One cell of the grid: a shape and a shard length, with all contestants prepared and checked.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <calpe/result.hpp>

#include "bench/harness/calpe_coder.hpp"
#include "bench/harness/conditions.hpp"
#include "bench/harness/contestants.hpp"
#include "bench/harness/latency.hpp"
#include "bench/harness/peers.hpp"
#include "bench/harness/report.hpp"

namespace calpe::bench {

// Makes the codecs for a cell's code with the given number of threads.
using CodecMaker = std::function<Result<OwnCodecs>(unsigned pool_threads)>;

struct CellOptions {
  Shape shape;
  std::size_t shard_bytes = 0;
  std::vector<Operation> operations;  // without plan; batch alone or not at all
  std::string profile;
  Conditions conditions;
};

class Cell {
 public:
  // Prepares every coder, allocates the stripes of each thread and checks the bytes of all coders.
  // Fails with corrupt for wrong bytes; any other error means that the cell cannot be measured.
  static Result<Cell> create(const CellOptions& options, const CodecMaker& make_codecs,
                             std::span<const NamedPeer> peers);

  // Measures the memory limits in the first call and repeats them in later rows.
  Result<Row> measure(Operation operation, const RoundOptions& rounds);

  // Times single encode calls: ours, then every technique of every peer.
  Result<std::vector<Latency>> latencies(double seconds) const;

 private:
  explicit Cell(CellOptions options) : options_(std::move(options)) {}
  Status check() const;
  Match match_of(Operation operation) const;
  std::size_t bytes_per_call(Operation operation, std::size_t shard_bytes) const;
  std::vector<std::optional<PeerFigure>> peer_figures(const LineUp& line_up,
                                                      const std::vector<Samples>& samples,
                                                      std::size_t bytes) const;

  CellOptions options_;
  std::size_t losses_max_ = 0;  // guaranteed by the code
  std::unique_ptr<Coder> own_;
  std::unique_ptr<Coder> own_alone_;  // null unless several threads work
  std::vector<PeerCoders> peers_;
  std::vector<StripeBuffers> lanes_;
  std::shared_ptr<const Patterns> patterns_;
  MemoryLimits limits_;
};

}  // namespace calpe::bench
