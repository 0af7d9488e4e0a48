// SPDX-License-Identifier: Apache-2.0
// Refuses outputs that overlap an input or another output, as kernels read inputs after writing
// outputs.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include <calpe/codec.hpp>

#include "engine/run/operand_names.hpp"

namespace calpe::engine {

// An output that overlaps an input or a previous output, by position.
struct Overlap {
  std::size_t output = 0;
  std::size_t other = 0;
  bool is_input = false;
};

// Linear time when the outputs ascend and no input lies between them, which is the usual case;
// else every pair is compared.
std::optional<Overlap> find_overlap(std::span<const ConstShard> inputs,
                                    std::span<const Shard> outputs);

// Fails with invalid_argument.
Status check_overlap(std::span<const ConstShard> inputs, std::span<const Shard> outputs,
                     const StripeNames& names = {});

// The same for shards of equal length, given by address.
Status check_overlap(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     std::size_t bytes);

// The same for shards in pieces, in any order: n log n in their number. Allocates when the outputs
// have more than 1024 pieces.
Status check_overlap(std::span<const ConstShardPieces> inputs, std::span<const ShardPieces> outputs,
                     const StripeNames& names = {});

Error overlap_error(const ShardName& output, const ShardName& other);

}  // namespace calpe::engine
