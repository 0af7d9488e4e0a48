// SPDX-License-Identifier: Apache-2.0
// Plans of the code `lch` as additive FFTs, where these take less work than the matrix.
#pragma once
#include <optional>

#include "code/code.hpp"
#include "ir/transform.hpp"
#include "plan/recipe.hpp"

namespace calpe::engine {

// Returns the transform that computes `recipe`, or nullopt for another code, for a recipe without
// such a form, or when the matrix takes less work. Borrows the code's points. A recipe that reads k
// shards is assumed to be correct for the code.
std::optional<ir::Transform> lch_transform(const code::Code& code, const plan::Recipe& recipe);

}  // namespace calpe::engine
