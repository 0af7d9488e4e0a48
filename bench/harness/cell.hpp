// SPDX-License-Identifier: Apache-2.0
// One cell of the grid: a shape and a shard length, all contestants prepared and checked.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "bench/harness/peers.hpp"
#include "bench/harness/report.hpp"
#include "bench/harness/roof.hpp"
#include "bench/harness/rounds.hpp"

namespace calpe::bench {

struct CellOptions {
  Shape shape;
  std::size_t shard_bytes = 0;
  std::vector<Operation> operations;  // without plan
  std::string profile;
  unsigned threads = 1;  // that code at once, each its own stripe
  bool has_nt_roof = false;
};

class Cell {
 public:
  // Prepares every coder, allocates one stripe per thread and checks the bytes of all of them.
  // Fails with corrupt for wrong bytes; otherwise says why the cell cannot be measured.
  static Result<Cell> create(const CellOptions& options, const Codec& codec,
                             std::span<const NamedPeer> peers);

  // The memory's limits are measured with the first call and repeated in later rows.
  Result<Row> measure(Operation operation, const RoundOptions& rounds);

 private:
  struct PeerCoders {
    std::string name;
    std::vector<std::unique_ptr<Coder>> coders;
  };
  // Ours is the first contestant, the roof the second, its non-temporal form the third if wanted.
  struct LineUp {
    std::vector<Contestant> contestants;
    std::size_t limits_at = 0;
    std::size_t peers_at = 0;  // every coder of every peer, in the order of peers_
  };
  explicit Cell(CellOptions options) : options_(std::move(options)) {}
  std::vector<ShardIndex> lost_shards(Operation operation) const;
  Result<Contestant> contestant(const std::string& name, const Coder& coder,
                                Operation operation) const;
  Contestant roof(Stores stores, std::size_t output_count) const;
  void add_limits(std::vector<Contestant>& contestants) const;
  Result<LineUp> line_up(Operation operation, bool with_limits) const;
  std::vector<std::optional<PeerFigure>> peer_figures(const std::vector<Samples>& samples,
                                                      std::size_t peers_at) const;

  CellOptions options_;
  std::size_t losses_max_ = 0;  // that the code promises to rebuild
  std::unique_ptr<Coder> own_;
  std::vector<PeerCoders> peers_;
  std::vector<StripeBuffers> stripes_;
  MemoryLimits limits_;
};

}  // namespace calpe::bench
