// SPDX-License-Identifier: Apache-2.0
// Identifies the code that wrote some shards: solves for the parity rows from the bytes alone and
// compares them with every profile. Needs no header, so it works for shards of other libraries.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::store {

struct IdentifyOptions {
  std::size_t data_shards = 0;   // 0: the smallest number that explains the rest
  std::size_t packet_bytes = 0;  // 0: try powers of two, 8 to 64 KiB, and 1/w of a shard
};

struct Identification {
  // Family custom if no profile has these rows.
  CodeSpec spec;
  std::vector<std::string> profiles;  // all with these rows for this k and m
  std::vector<std::uint16_t> rows;    // m x k, row-major
};

// Takes shards in order, data first, all of the same length. Returns the simplest explanation:
// fewest data shards, bytes before packets, wide words and small packets first. Fails with
// invalid_argument if the shards differ in length or there are fewer than two, with ambiguous if
// their bytes are too regular (for example all zero), and with unrecoverable if no linear code of
// the known layouts and word sizes explains them.
Result<Identification> identify(std::span<const ConstShard> shards,
                                const IdentifyOptions& options = {});

}  // namespace calpe::store
