// SPDX-License-Identifier: Apache-2.0
#include "plan/error_locator.hpp"

#include <algorithm>
#include <numeric>

#include "base/next_subset.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "plan/linear_solve.hpp"
#include "plan/source_choice.hpp"
#include "plan/wide_rows.hpp"

namespace calpe::plan {

namespace {

using gf::Element;

// Subsets tried in one column before giving up; 256 shards in pairs are 32,640.
constexpr std::uint64_t subsets_max = 1'000'000;

// A wide code may have thousands of checks, and the equations for all of them would take hours. So
// many sums find up to 16 wrong shards in a column; an explanation that later columns or the other
// checks contradict fails in the next round of locate().
constexpr std::size_t wide_wrong_max = 16;
constexpr std::size_t wide_sums_max = 2 * wide_wrong_max + 8;

// Chooses the available data shards, plus one parity shard for each missing data shard.
Result<Recipe> basis_by_choice(const DecodePlanner& planner,
                               std::span<const ShardIndex> available) {
  const code::Code& code = planner.code();
  std::vector<Source> sources;
  std::vector<bool> present(code.shards());
  for (const ShardIndex shard : available) {
    sources.push_back({.shard = shard, .cost = 1});
    present[shard] = true;
  }
  std::vector<ShardIndex> absent_data;
  for (std::size_t j = 0; j < code.data_shards(); ++j) {
    if (!present[j]) absent_data.push_back(static_cast<ShardIndex>(j));
  }
  const auto rebuild = choose_sources(code, sources, absent_data);
  if (!rebuild) {
    return make_error(ErrorCode::unrecoverable, "data shards ", join<ShardIndex>(absent_data),
                      " cannot be rebuilt from the shards that are not missing");
  }

  Recipe recipe;
  for (const ShardIndex shard : available) {
    const bool in_basis =
        shard < code.data_shards() || std::ranges::binary_search(rebuild->reads, shard);
    (in_basis ? recipe.reads : recipe.writes).push_back(shard);
  }
  recipe.coefficients = gf::Matrix(recipe.writes.size(), recipe.reads.size());
  for (std::size_t r = 0; r < recipe.writes.size(); ++r) {
    for (std::size_t c = 0; c < recipe.reads.size(); ++c) {
      const ShardIndex shard = recipe.reads[c];
      Element sum =
          shard < code.data_shards() ? code.generator(recipe.writes[r], shard) : Element{0};
      const auto used = std::ranges::lower_bound(rebuild->reads, shard);
      if (used != rebuild->reads.end() && *used == shard) {
        const auto column = static_cast<std::size_t>(used - rebuild->reads.begin());
        for (std::size_t u = 0; u < absent_data.size(); ++u) {
          const Element direct = code.generator(recipe.writes[r], absent_data[u]);
          sum = static_cast<Element>(
              sum ^ code.field->multiply(direct, rebuild->coefficients(u, column)));
        }
      }
      recipe.coefficients(r, c) = sum;
    }
  }
  return recipe;
}

}  // namespace

Result<ErrorLocator> ErrorLocator::create(const DecodePlanner& planner,
                                          std::span<const ShardIndex> missing) {
  const code::Code& code = planner.code();
  ErrorLocator locator(planner);
  std::vector<ShardIndex> available;
  for (std::size_t i = 0; i < code.shards(); ++i) {
    const auto shard = static_cast<ShardIndex>(i);
    if (!std::ranges::binary_search(missing, shard)) available.push_back(shard);
  }
  // Exactly k shards are always consistent, whatever they hold.
  if (available.size() <= code.data_shards()) {
    return make_error(ErrorCode::unrecoverable, "missing names ", missing.size(),
                      " shards; expected at most ", code.parity_shards() - 1,
                      ": no redundancy is left to check with");
  }
  if (planner.has_closed_form()) {
    const auto split = available.begin() + static_cast<std::ptrdiff_t>(code.data_shards());
    locator.prediction_ = planner.recipe_of({available.begin(), split}, {split, available.end()});
  } else {
    CALPE_TRY(locator.prediction_, basis_by_choice(planner, available));
  }
  locator.available_ = locator.prediction_.reads;
  locator.available_.insert(locator.available_.end(), locator.prediction_.writes.begin(),
                            locator.prediction_.writes.end());
  if (planner.has_closed_form()) {
    locator.prepare_dual();
  } else {
    locator.columns_ = locator.check_columns();
  }
  return locator;
}

// The dual of a generalised Reed-Solomon code is one too. With these scales, the sums over all
// available shards of scale * shard * point^l are 0 for l < number of checks, in any codeword.
void ErrorLocator::prepare_dual() {
  const gf::Field& field = *planner_->code().field;
  if (planner_->code().is_wide()) {
    for (const std::uint32_t log :
         wide_dual_logs(planner_->code(), available_, prediction_.writes)) {
      dual_scales_.push_back(field.exp(log));
    }
    return;
  }
  const CauchySolver& solver = *planner_->cauchy();
  for (const ShardIndex z : prediction_.writes) {
    std::uint64_t log = solver.scale_log(z);
    for (const ShardIndex other : available_) {
      if (other != z) log += field.log(static_cast<Element>(solver.point(z) ^ solver.point(other)));
    }
    dual_scales_.push_back(
        field.exp(field.order() - static_cast<std::uint32_t>(log % field.order())));
  }
}

gf::Matrix ErrorLocator::check_columns() const {
  const std::size_t basis = prediction_.reads.size();
  gf::Matrix columns(prediction_.writes.size(), available_.size());
  for (std::size_t c = 0; c < columns.rows(); ++c) {
    for (std::size_t s = 0; s < basis; ++s)
      columns(c, s) = prediction_.coefficients(c, s);
    columns(c, basis + c) = 1;
  }
  return columns;
}

std::optional<std::vector<ShardIndex>> ErrorLocator::explain(std::span<const Element> syndromes,
                                                             std::size_t wrong_max) const {
  return planner_->has_closed_form() ? explain_cauchy(syndromes, wrong_max)
                                     : explain_by_search(syndromes, wrong_max);
}

// Peterson's algorithm: with e wrong shards at points z_i, the power sums S_l = sum of a_i * z_i^l
// satisfy a linear recurrence. The roots of its characteristic polynomial, the product of (x +
// z_i), are the z_i.
std::optional<std::vector<ShardIndex>> ErrorLocator::explain_cauchy(
    std::span<const Element> syndromes, std::size_t wrong_max) const {
  const gf::Field& field = *planner_->code().field;
  const auto point = [&](ShardIndex shard) {
    const code::Code& code = planner_->code();
    return code.is_wide() ? code.lch->points[lch_place(code, shard)]
                          : planner_->cauchy()->point(shard);
  };
  std::size_t checks = syndromes.size();
  if (planner_->code().is_wide()) {
    wrong_max = std::min(wrong_max, wide_wrong_max);
    checks = std::min(checks, wide_sums_max);
  }
  std::vector<Element> sums(checks);
  for (std::size_t c = 0; c < syndromes.size(); ++c) {
    Element term = field.multiply(dual_scales_[c], syndromes[c]);
    for (std::size_t l = 0; l < checks; ++l) {
      sums[l] = static_cast<Element>(sums[l] ^ term);
      term = field.multiply(term, point(prediction_.writes[c]));
    }
  }
  for (std::size_t e = 1; e <= wrong_max && 2 * e <= checks; ++e) {
    gf::Matrix system(checks - e, e);
    std::vector<Element> right(checks - e);
    for (std::size_t l = 0; l < checks - e; ++l) {
      for (std::size_t j = 0; j < e; ++j)
        system(l, j) = sums[l + j];
      right[l] = sums[l + e];
    }
    const auto low = solve_unique(field, std::move(system), std::move(right));
    if (!low) continue;
    std::vector<ShardIndex> wrong;
    for (const ShardIndex z : available_) {
      Element value = 1;  // Horner, leading coefficient 1
      for (std::size_t j = e; j-- > 0;) {
        value = static_cast<Element>(field.multiply(value, point(z)) ^ (*low)[j]);
      }
      if (value == 0) wrong.push_back(z);
    }
    if (wrong.size() != e) return std::nullopt;
    std::ranges::sort(wrong);
    return wrong;
  }
  return std::nullopt;
}

std::optional<std::vector<ShardIndex>> ErrorLocator::explain_by_search(
    std::span<const Element> syndromes, std::size_t wrong_max) const {
  const gf::Field& field = *planner_->code().field;
  std::uint64_t tried = 0;
  for (std::size_t e = 1; e <= wrong_max && e <= available_.size(); ++e) {
    std::optional<std::vector<ShardIndex>> found;
    std::vector<std::size_t> subset(e);
    std::iota(subset.begin(), subset.end(), std::size_t{0});
    for (;;) {
      if (++tried > subsets_max) return std::nullopt;
      gf::Matrix system(syndromes.size(), e);
      for (std::size_t c = 0; c < syndromes.size(); ++c) {
        for (std::size_t i = 0; i < e; ++i)
          system(c, i) = columns_(c, subset[i]);
      }
      if (solve_unique(field, std::move(system), {syndromes.begin(), syndromes.end()})) {
        if (found) return std::nullopt;  // a second explanation of the same size
        found.emplace();
        for (const std::size_t i : subset)
          found->push_back(available_[i]);
      }
      if (!next_subset(std::span(subset), available_.size())) break;
    }
    if (found) {
      std::ranges::sort(*found);
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace calpe::plan
