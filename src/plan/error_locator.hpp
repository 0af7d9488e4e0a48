// SPDX-License-Identifier: Apache-2.0
// Finds the wrong shards in one column of symbols from its syndromes.
//
// k of the available shards (the basis) predict the others (the checks). A syndrome is the value of
// a check shard minus its prediction. With d = losses - missing, an explanation by at most d/2
// wrong shards is unique: two such explanations would differ by a codeword of too little weight.
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
  // `missing` is ascending. Fails with unrecoverable if the other shards do not determine the data,
  // or leave no check. The planner must outlive this object.
  static Result<ErrorLocator> create(const DecodePlanner& planner,
                                     std::span<const ShardIndex> missing);

  // Predicts the checks (writes) from the basis (reads).
  const Recipe& prediction() const noexcept { return prediction_; }

  // syndromes[c] belongs to prediction().writes[c]; not all may be zero. Returns the smallest set
  // of at most `wrong_max` shards that explains them, or nullopt if there is none, it is not unique
  // or the search takes too long. Wide codes: at most 16 shards.
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
  std::vector<ShardIndex> available_;  // basis, then checks
  Recipe prediction_;
  std::vector<gf::Element>
      dual_scales_;     // per check; only for wide codes and those with a Cauchy form
  gf::Matrix columns_;  // checks x available: effect of a unit error; only for other codes
};

}  // namespace calpe::plan
