// SPDX-License-Identifier: Apache-2.0
// Plans of wide codes as additive FFTs, and as matrices for builds without these.
#pragma once
#include <calpe/result.hpp>

#include "code/code.hpp"
#include "gf/matrix.hpp"
#include "ir/transform.hpp"
#include "plan/recipe.hpp"

namespace calpe::engine {

// Requires a recipe of a wide code that has a basis. Borrows the code's points.
ir::Transform wide_transform(const code::Code& code, const plan::Recipe& recipe);

// The same as coefficients. Refuses more than plan::wide_cells_max of them.
Result<gf::Matrix> wide_matrix(const code::Code& code, const plan::Recipe& recipe);

}  // namespace calpe::engine
