// SPDX-License-Identifier: Apache-2.0
// Decoders of XOR codes that need no field: the lost units of a bit matrix, solved over GF(2).
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

// `encoder` makes all parity from all data. Reads surviving data and the first parity shards that
// are enough. Fails with invalid_argument for shards that do not exist or are named twice, and with
// unrecoverable when the survivors do not determine the lost units.
Result<BitDecoder> decode_bits(const ir::Program& encoder, std::span<const ShardIndex> lost);

}  // namespace calpe::tools
