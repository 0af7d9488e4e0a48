// SPDX-License-Identifier: Apache-2.0
// Plans of the code `lch` as additive FFTs, where these are less work than the matrix.
#pragma once
#include <optional>

#include "code/code.hpp"
#include "ir/transform.hpp"
#include "plan/recipe.hpp"

namespace calpe::engine {

// The transform that computes what `recipe` does; empty when the code is another, the recipe has no
// such form or the matrix is less work. Borrows the code's points. A recipe that reads k shards is
// taken to be right for the code.
std::optional<ir::Transform> lch_transform(const code::Code& code, const plan::Recipe& recipe);

}  // namespace calpe::engine
