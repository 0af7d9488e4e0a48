// SPDX-License-Identifier: Apache-2.0
// Decodes XOR codes without a field: solves a bit matrix over GF(2) for the lost units.
#pragma once
#include <span>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "ir/program.hpp"

namespace calpe::tools {

struct BitDecoder {
  ir::Program program;  // direct: one equation per unit of a lost shard
  std::vector<ShardIndex> reads;
  std::vector<ShardIndex> writes;
};

// `encoder` computes all parity from all data. Reads the surviving data and as many of the first
// surviving parity shards as needed. Fails with invalid_argument for shards that do not exist or
// are named twice, and with unrecoverable if the survivors do not determine the lost units.
Result<BitDecoder> decode_bits(const ir::Program& encoder, std::span<const ShardIndex> lost);

}  // namespace calpe::tools
