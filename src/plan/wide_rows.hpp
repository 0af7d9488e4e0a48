// SPDX-License-Identifier: Apache-2.0
// Coefficients of wide codes: lch over GF(2^16), with up to 65,536 shards. A matrix of all
// coefficients may not fit into memory, so plans have one only where few shards are written.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <calpe/code_spec.hpp>

#include "code/code.hpp"
#include "gf/matrix.hpp"

namespace calpe::plan {

// Position of a shard of lch among the points: parity first, then data.
inline std::uint16_t lch_place(const code::Code& code, ShardIndex shard) noexcept {
  const std::size_t k = code.data_shards();
  const std::size_t place =
      shard < k ? (std::size_t{1} << code.lch->log_size) + shard : std::size_t{shard} - k;
  return static_cast<std::uint16_t>(place);
}

std::vector<std::uint16_t> lch_places(const code::Code& code, std::span<const ShardIndex> shards);

// The most coefficients of a plan: the tables of more do not stay in any cache.
inline constexpr std::size_t wide_cells_max = std::size_t{1} << 20;

// True if multiplying by coefficients takes less work than transforms.
bool prefers_rows(const code::Code& code, std::span<const ShardIndex> reads,
                  std::span<const ShardIndex> writes);

// Returns the writes x reads coefficients when the k shards of `basis` determine everything. Reads
// are among these, writes are not.
gf::Matrix wide_rows(const code::Code& code, std::span<const ShardIndex> basis,
                     std::span<const ShardIndex> reads, std::span<const ShardIndex> writes);

// For each of `shards`, the log of its scale in the dual code of the `available` shards: the sum
// over these of scale * shard * point^l is 0 for l < available - k.
std::vector<std::uint32_t> wide_dual_logs(const code::Code& code,
                                          std::span<const ShardIndex> available,
                                          std::span<const ShardIndex> shards);

}  // namespace calpe::plan
