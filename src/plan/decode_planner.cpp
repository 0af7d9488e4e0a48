// SPDX-License-Identifier: Apache-2.0
#include "plan/decode_planner.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/short_array.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "plan/source_choice.hpp"

namespace calpe::plan {

namespace {

Error too_few(const code::Code& code, std::span<const ShardIndex> wanted,
              std::span<const Source> sources) {
  std::vector<bool> present(code.shards());
  for (const Source& source : sources)
    present[source.shard] = true;
  std::vector<ShardIndex> absent;
  for (std::size_t i = 0; i < code.shards(); ++i) {
    if (!present[i]) absent.push_back(static_cast<ShardIndex>(i));
  }
  const bool is_mds = code.proof.losses == code.parity_shards();
  return make_error(ErrorCode::unrecoverable, "shards ", join(wanted), " cannot be rebuilt from ",
                    sources.size(), " of ", code.shards(),
                    " shards; absent: ", join<ShardIndex>(absent),
                    is_mds ? text("; needed: any ", code.data_shards()) : std::string());
}

}  // namespace

DecodePlanner::DecodePlanner(const code::Code& code) : code_(code) {
  if (code.cauchy) cauchy_.emplace(code);
}

Recipe DecodePlanner::recipe_of(std::vector<ShardIndex> reads,
                                std::vector<ShardIndex> writes) const {
  if (code_.is_wide()) return wide_recipe(code_, std::move(reads), std::move(writes));
  Recipe recipe{.reads = std::move(reads), .writes = std::move(writes), .coefficients = {}};
  recipe.coefficients = cauchy_->coefficients(recipe.reads, recipe.writes);
  return recipe;
}

Result<Recipe> DecodePlanner::plan(std::span<const ShardIndex> available,
                                   std::span<const ShardIndex> wanted,
                                   std::span<const std::uint32_t> costs) const {
  if (!costs.empty() && costs.size() != available.size()) {
    return invalid("costs has ", costs.size(),
                   " entries; expected one per available shard: ", available.size());
  }
  CALPE_CHECK(check_indices(available, code_.shards(), "available"));
  CALPE_CHECK(check_indices(wanted, code_.shards(), "wanted"));
  if (wanted.empty()) return Recipe{};
  ShortArray<bool> is_wanted(code_.shards());
  std::ranges::fill(is_wanted, false);
  for (const ShardIndex shard : wanted)
    is_wanted[shard] = true;
  if (has_closed_form() && costs.empty() && std::ranges::is_sorted(available)) {
    // Usual case: any k shards of an MDS code work, and the first ones are data.
    std::vector<ShardIndex> reads;
    reads.reserve(code_.data_shards());
    for (const ShardIndex shard : available) {
      if (reads.size() == code_.data_shards()) break;
      if (!is_wanted[shard]) reads.push_back(shard);
    }
    if (reads.size() == code_.data_shards()) {
      return recipe_of(std::move(reads), {wanted.begin(), wanted.end()});
    }
  }

  std::vector<Source> sources;
  sources.reserve(available.size());
  for (std::size_t i = 0; i < available.size(); ++i) {
    if (is_wanted[available[i]]) continue;
    sources.push_back({.shard = available[i], .cost = costs.empty() ? 1 : costs[i]});
  }
  if (!has_closed_form()) {
    auto recipe = choose_sources(code_, sources, wanted);
    if (!recipe) return too_few(code_, wanted, sources);
    return *std::move(recipe);
  }

  // MDS: read the k cheapest. Ties go to the lowest, which are data shards.
  const std::size_t k = code_.data_shards();
  if (sources.size() < k) return too_few(code_, wanted, sources);
  const auto rank = [](const Source& s) { return std::make_tuple(s.cost, s.shard); };
  std::ranges::sort(sources, {}, rank);
  std::vector<ShardIndex> reads;
  reads.reserve(k);
  for (std::size_t i = 0; i < k; ++i)
    reads.push_back(sources[i].shard);
  std::ranges::sort(reads);
  return recipe_of(std::move(reads), {wanted.begin(), wanted.end()});
}

}  // namespace calpe::plan
