// SPDX-License-Identifier: Apache-2.0
#include "plan/recipe.hpp"

#include <algorithm>
#include <numeric>

#include "base/short_array.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "plan/wide_rows.hpp"

namespace calpe::plan {

Status check_indices(std::span<const ShardIndex> indices, std::size_t limit,
                     std::string_view operand) {
  ShortArray<bool> is_named(limit);
  std::ranges::fill(is_named, false);
  for (const ShardIndex index : indices) {
    if (index >= limit) return invalid(operand, " names shard ", index, "; expected below ", limit);
    if (is_named[index]) return invalid(operand, " names shard ", index, " twice");
    is_named[index] = true;
  }
  return Done{};
}

Result<std::vector<ShardIndex>> sorted_indices(std::span<const ShardIndex> indices,
                                               std::size_t limit, std::string_view operand) {
  CALPE_CHECK(check_indices(indices, limit, operand));
  std::vector<ShardIndex> sorted(indices.begin(), indices.end());
  if (!std::ranges::is_sorted(sorted)) std::ranges::sort(sorted);
  return sorted;
}

Recipe wide_recipe(const code::Code& code, std::vector<ShardIndex> reads,
                   std::vector<ShardIndex> writes) {
  Recipe recipe{.reads = std::move(reads), .writes = std::move(writes), .coefficients = {}};
  recipe.basis = recipe.reads;
  recipe.is_transform = !prefers_rows(code, recipe.reads, recipe.writes);
  // Callers may list the coefficients, so small plans have them in any case.
  constexpr std::size_t listed_max = 65'536;
  if (!recipe.is_transform || recipe.reads.size() * recipe.writes.size() <= listed_max) {
    recipe.coefficients = wide_rows(code, recipe.basis, recipe.reads, recipe.writes);
  }
  return recipe;
}

Recipe encode_recipe(const code::Code& code) {
  Recipe recipe;
  recipe.reads.resize(code.data_shards());
  std::iota(recipe.reads.begin(), recipe.reads.end(), ShardIndex{0});
  recipe.writes.resize(code.parity_shards());
  std::iota(recipe.writes.begin(), recipe.writes.end(),
            static_cast<ShardIndex>(code.data_shards()));
  if (code.is_wide()) return wide_recipe(code, std::move(recipe.reads), std::move(recipe.writes));
  recipe.coefficients = code.parity;
  return recipe;
}

bool is_encode(const code::Code& code, const Recipe& recipe) {
  if (std::ranges::min(recipe.writes) < code.data_shards() ||
      recipe.reads.back() >= code.data_shards()) {
    return false;
  }
  for (std::size_t r = 0; r < recipe.writes.size(); ++r) {
    for (std::size_t c = 0; c < recipe.reads.size(); ++c) {
      if (recipe.coefficients(r, c) != code.generator(recipe.writes[r], recipe.reads[c])) {
        return false;
      }
    }
  }
  return true;
}

Result<Recipe> update_recipe(const code::Code& code, ShardIndex data_index,
                             std::span<const ShardIndex> parity, std::size_t addends,
                             std::string_view operand) {
  if (data_index >= code.data_shards()) {
    return invalid("data_index is ", data_index, "; expected below ", code.data_shards());
  }
  Recipe recipe;
  recipe.reads.assign(addends, data_index);
  if (parity.empty()) {
    recipe.writes.resize(code.parity_shards());
    std::iota(recipe.writes.begin(), recipe.writes.end(),
              static_cast<ShardIndex>(code.data_shards()));
  } else {
    CALPE_CHECK(check_indices(parity, code.shards(), operand));
    recipe.writes.assign(parity.begin(), parity.end());
  }
  recipe.coefficients = gf::Matrix(recipe.writes.size(), addends);
  for (std::size_t r = 0; r < recipe.writes.size(); ++r) {
    if (recipe.writes[r] < code.data_shards()) {
      return invalid(operand, " names shard ", recipe.writes[r],
                     "; expected a parity shard: ", code.data_shards(), "..", code.shards() - 1);
    }
    std::ranges::fill(recipe.coefficients.row(r), code.generator(recipe.writes[r], data_index));
  }
  return recipe;
}

Result<Recipe> partial_recipe(const Recipe& whole, std::span<const ShardIndex> held) {
  Recipe part;
  CALPE_TRY(part.reads, sorted_indices(held, shard_count_max, "held"));
  part.writes = whole.writes;
  part.basis = whole.basis;
  part.is_transform = whole.is_transform && !part.reads.empty();
  const bool has_coefficients = whole.coefficients.rows() > 0 || !part.is_transform;
  if (has_coefficients) part.coefficients = gf::Matrix(whole.writes.size(), part.reads.size());
  for (std::size_t c = 0; c < part.reads.size(); ++c) {
    const auto found = std::ranges::lower_bound(whole.reads, part.reads[c]);
    if (found == whole.reads.end() || *found != part.reads[c]) {
      return invalid("held names shard ", part.reads[c], ", which the plan does not read");
    }
    const auto column = static_cast<std::size_t>(found - whole.reads.begin());
    for (std::size_t r = 0; has_coefficients && r < part.writes.size(); ++r) {
      part.coefficients(r, c) = whole.coefficients(r, column);
    }
  }
  return part;
}

}  // namespace calpe::plan
