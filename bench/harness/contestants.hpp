// SPDX-License-Identifier: Apache-2.0
// The contestants of one measurement and their positions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>

#include "bench/harness/coder.hpp"
#include "bench/harness/operation.hpp"
#include "bench/harness/roof.hpp"
#include "bench/harness/rounds.hpp"

namespace calpe::bench {

struct PeerCoders {
  std::string name;
  std::vector<std::unique_ptr<Coder>> coders;
};

// Everything a line-up refers to; must outlive it.
struct Field {
  const Coder* own = nullptr;
  const Coder* own_alone = nullptr;  // on one thread, to compute scaling; may be null
  const std::vector<PeerCoders>* peers = nullptr;
  const std::vector<StripeBuffers>* lanes = nullptr;
};

struct Match {
  Operation operation = Operation::encode;
  std::vector<ShardIndex> lost;
  std::shared_ptr<const Patterns> patterns;  // for decode_fresh
  bool has_limits = false;                   // also memcpy, read and write
  std::size_t limit_bytes = 0;
};

struct LineUp {
  // 0 is ours; 1 and 2 are the roof with plain and with non-temporal stores.
  std::vector<Contestant> contestants;
  std::size_t limits_at = 0;  // memcpy, read, write; 0 = none
  std::size_t alone_at = 0;   // ours on one thread and, with several lanes, both roofs
  struct PeerPlace {
    std::size_t peer;  // index into Field::peers
    std::string method;
    std::size_t contestant;
  };
  std::vector<PeerPlace> peers;
};

// Fails if a coder fails to prepare.
Result<LineUp> make_line_up(const Field& field, const Match& match);

// Shards are padded to whole pages, so the roof may process slightly more than a short shard.
std::size_t roof_shard_bytes(std::size_t shard_bytes) noexcept;

}  // namespace calpe::bench
