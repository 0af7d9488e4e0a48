// SPDX-License-Identifier: Apache-2.0
// No output may overlap an input or another output: kernels read inputs after writing outputs.
#pragma once
#include <cstddef>
#include <span>

#include <calpe/codec.hpp>

namespace calpe::engine {

// Linear when the buffers lie in order and apart, as they do nearly always.
Status check_overlap(std::span<const ConstShard> inputs, std::span<const Shard> outputs);

// The same for shards of equal length by their addresses.
Status check_overlap(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     std::size_t bytes);

// The same for shards in pieces.
Status check_overlap(std::span<const ConstShardPieces> inputs,
                     std::span<const ShardPieces> outputs);

}  // namespace calpe::engine
