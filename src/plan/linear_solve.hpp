// SPDX-License-Identifier: Apache-2.0
// Solves small linear systems, to locate errors.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::plan {

// Returns x with system * x = right if it is unique; rows >= columns.
std::optional<std::vector<gf::Element>> solve_unique(const gf::Field& field, gf::Matrix system,
                                                     std::vector<gf::Element> right);

}  // namespace calpe::plan
