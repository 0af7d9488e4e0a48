// SPDX-License-Identifier: Apache-2.0
// Turns a loss pattern into a recipe: in closed form for a Cauchy form, otherwise by elimination.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "code/code.hpp"
#include "plan/cauchy_solver.hpp"
#include "plan/recipe.hpp"

namespace calpe::plan {

// Immutable; shared by the threads of a codec. Holds a reference to the code.
class DecodePlanner {
 public:
  explicit DecodePlanner(const code::Code& code);

  // See Codec::plan_decode.
  Result<Recipe> plan(std::span<const ShardIndex> available, std::span<const ShardIndex> wanted,
                      std::span<const std::uint32_t> costs) const;

  // Computes `writes` from k shards, `reads`, in closed form. Requires has_closed_form().
  Recipe recipe_of(std::vector<ShardIndex> reads, std::vector<ShardIndex> writes) const;

  // True if any k shards determine all others by a formula.
  bool has_closed_form() const noexcept { return cauchy_ || code_.is_wide(); }
  // Present if the code has a Cauchy form and is not wide.
  const std::optional<CauchySolver>& cauchy() const noexcept { return cauchy_; }
  const code::Code& code() const noexcept { return code_; }

 private:
  const code::Code& code_;
  std::optional<CauchySolver> cauchy_;
};

}  // namespace calpe::plan
