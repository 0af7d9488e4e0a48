// SPDX-License-Identifier: Apache-2.0
// Which shards are wrong in one column of symbols, from its syndromes.
//
// k of the available shards (the basis) predict the others (the checks); a syndrome is what a check
// shard holds minus what is predicted. With d = losses - missing, an explanation by at most d/2
// wrong shards is the only one of that size, since two of them would differ by a codeword of too
// little weight.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "plan/decode_planner.hpp"
#include "plan/recipe.hpp"

namespace calpe::plan {

class ErrorLocator {
 public:
  // `missing` is ascending. Fails with unrecoverable when the rest does not determine the data, or
  // is not more than that: then there is no check.
  // The planner must outlive this.
  static Result<ErrorLocator> create(const DecodePlanner& planner,
                                     std::span<const ShardIndex> missing);

  // Predicts the checks (writes) from the basis (reads).
  const Recipe& prediction() const noexcept { return prediction_; }

  // syndromes[c] belongs to prediction().writes[c]; not all zero. Returns the smallest set of at
  // most `wrong_max` shards that explains them; empty when there is none or it is not the only one.
  std::optional<std::vector<ShardIndex>> explain(std::span<const gf::Element> syndromes,
                                                 std::size_t wrong_max) const;

 private:
  explicit ErrorLocator(const DecodePlanner& planner) : planner_(&planner) {}
  void prepare_dual();
  gf::Matrix check_columns() const;
  std::optional<std::vector<ShardIndex>> explain_cauchy(std::span<const gf::Element> syndromes,
                                                        std::size_t wrong_max) const;
  std::optional<std::vector<ShardIndex>> explain_by_search(std::span<const gf::Element> syndromes,
                                                           std::size_t wrong_max) const;

  const DecodePlanner* planner_;
  std::vector<ShardIndex> available_;  // basis then checks
  Recipe prediction_;
  std::vector<gf::Element> dual_scales_;  // per check; codes with a Cauchy form
  gf::Matrix columns_;                    // checks x available: what a unit error does; others
};

}  // namespace calpe::plan
