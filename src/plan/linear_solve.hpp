// SPDX-License-Identifier: Apache-2.0
// Small linear systems, for locating errors.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::plan {

// The x with system * x = right, when there is exactly one; rows >= columns.
std::optional<std::vector<gf::Element>> solve_unique(const gf::Field& field, gf::Matrix system,
                                                     std::vector<gf::Element> right);

}  // namespace calpe::plan
