// SPDX-License-Identifier: Apache-2.0
// What a plan is before it is compiled: shards to read, shards to write, and the coefficients.
#pragma once
#include <span>
#include <vector>

#include <calpe/code_spec.hpp>

#include "code/code.hpp"
#include "gf/matrix.hpp"

namespace calpe::plan {

struct Recipe {
  std::vector<ShardIndex> reads;   // ascending
  std::vector<ShardIndex> writes;  // in the caller's order
  gf::Matrix coefficients;         // writes x reads
};

// All parity from all data.
Recipe encode_recipe(const code::Code& code);

// What is added to some parity (empty: all) when one data shard changes; reads the change, or two
// addends of it (what the shard held, and holds), in which case the shard is read twice.
Result<Recipe> update_recipe(const code::Code& code, ShardIndex data_index,
                             std::span<const ShardIndex> parity, std::size_t addends = 1);

// The columns of `whole` that belong to `held`.
Result<Recipe> partial_recipe(const Recipe& whole, std::span<const ShardIndex> held);

// Fails with invalid_argument, naming the operand, when an index is not below `limit`, which is at
// most shard_count_max, or occurs twice.
Status check_indices(std::span<const ShardIndex> indices, std::size_t limit,
                     std::string_view operand);

// An ascending copy; fails as check_indices does.
Result<std::vector<ShardIndex>> sorted_indices(std::span<const ShardIndex> indices,
                                               std::size_t limit, std::string_view operand);

}  // namespace calpe::plan
