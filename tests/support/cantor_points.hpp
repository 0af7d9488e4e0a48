// SPDX-License-Identifier: Apache-2.0
// Points of a Cantor basis of any field of 2, 4, 8 or 16 bits, by search.
#pragma once
#include <vector>

#include "gf/field.hpp"

namespace calpe::conformance {

// w_0 .. w_(2^w - 1): basis b_0 = 1, b_i^2 + b_i = b_(i-1).
inline std::vector<gf::Element> cantor_points(const gf::Field& field) {
  std::vector<gf::Element> points = {0};
  gf::Element b = 1;
  for (unsigned i = 0; i < field.word_bits(); ++i) {
    const std::size_t half = points.size();
    for (std::size_t j = 0; j < half; ++j)
      points.push_back(static_cast<gf::Element>(points[j] ^ b));
    gf::Element next = 0;
    while (i + 1 < field.word_bits() && (field.multiply(next, next) ^ next) != b)
      ++next;
    b = next;
  }
  return points;
}

}  // namespace calpe::conformance
