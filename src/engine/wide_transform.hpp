// SPDX-License-Identifier: Apache-2.0
// Plans of wide codes as additive FFTs.
#pragma once
#include "code/code.hpp"
#include "ir/transform.hpp"
#include "plan/recipe.hpp"

namespace calpe::engine {

// Requires a recipe of a wide code that has a basis. Borrows the code's points.
ir::Transform wide_transform(const code::Code& code, const plan::Recipe& recipe);

}  // namespace calpe::engine
