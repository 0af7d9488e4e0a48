// SPDX-License-Identifier: Apache-2.0
// A plan before it is compiled: shards to read, shards to write, and coefficients.
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
  // Writes x reads. May be empty for a plan of a wide code that is a transform.
  gf::Matrix coefficients;
  // Wide codes only: the k shards that determine what is written, ascending; reads are some of
  // them. All data shards if the plan encodes.
  std::vector<ShardIndex> basis = {};
  bool is_transform = false;  // wide codes only: a transform takes less work than the coefficients
};

// Computes all parity from all data.
Recipe encode_recipe(const code::Code& code);

// True if the rows are those of parity shards, over data shards only. Reads must ascend, and
// neither list may be empty.
bool is_encode(const code::Code& code, const Recipe& recipe);

// Computes `writes` from k shards of a wide code, with coefficients where these are less work.
Recipe wide_recipe(const code::Code& code, std::vector<ShardIndex> reads,
                   std::vector<ShardIndex> writes);

// Computes the change of some parity shards (empty: all) when one data shard changes. Reads the
// difference, or the old and the new content, in which case the shard is listed twice.
Result<Recipe> update_recipe(const code::Code& code, ShardIndex data_index,
                             std::span<const ShardIndex> parity, std::size_t addends = 1,
                             std::string_view operand = "parity");

// Returns the columns of `whole` that belong to `held`.
Result<Recipe> partial_recipe(const Recipe& whole, std::span<const ShardIndex> held);

// Fails with invalid_argument, naming the operand, if an index is not below `limit` (at most
// shard_count_max) or occurs twice.
Status check_indices(std::span<const ShardIndex> indices, std::size_t limit,
                     std::string_view operand);

// Returns an ascending copy; fails as check_indices does.
Result<std::vector<ShardIndex>> sorted_indices(std::span<const ShardIndex> indices,
                                               std::size_t limit, std::string_view operand);

}  // namespace calpe::plan
