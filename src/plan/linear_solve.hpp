// SPDX-License-Identifier: Apache-2.0
// Small linear systems and subsets, for locating errors.
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

// The next ascending subset of 0..limit-1 in lexicographic order; false after the last.
bool next_subset(std::vector<std::size_t>& subset, std::size_t limit);

}  // namespace calpe::plan
