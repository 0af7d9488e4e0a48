// SPDX-License-Identifier: Apache-2.0
// Which code wrote these shards: the parity rows are solved for from the bytes alone and compared
// with those of every profile. Needs no header, so it also tells what other libraries wrote.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::store {

struct IdentifyOptions {
  std::size_t data_shards = 0;   // 0: every number is tried, the smallest that explains the rest
  std::size_t packet_bytes = 0;  // 0: powers of two from 8 to 64 KiB, and a shard's w-th part
};

struct Identification {
  // Family custom when no profile has these rows.
  CodeSpec spec;
  std::vector<std::string> profiles;  // all that write these bytes for this k and m
  std::vector<std::uint16_t> rows;    // m x k, row-major
};

// Shards in order, data first, all of one length. The simplest explanation: fewest data shards,
// bytes before packets, wide words and small packets first. Fails with invalid_argument when the
// shards differ in length or there are fewer than two, with ambiguous when their bytes are too
// regular to tell (all zero, say), and with unrecoverable when no linear code of the layouts and
// word sizes that we know explains them.
Result<Identification> identify(std::span<const ConstShard> shards,
                                const IdentifyOptions& options = {});

}  // namespace calpe::store
