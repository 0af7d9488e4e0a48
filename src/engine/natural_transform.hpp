// SPDX-License-Identifier: Apache-2.0
// Additive FFTs over the basis 1, 2, 4, .., in which position z is the field element z.
#pragma once
#include <vector>

#include "gf/field.hpp"
#include "ir/transform.hpp"

namespace calpe::engine {

struct NaturalTransform {
  std::vector<gf::Element> points;
  ir::Transform transform;  // borrows the points
};

// Points of `layers` layers, one after the other. With s_i the product of x + v over v = 0 .. 2^i -
// 1, those of layer i at position p are s_i(p) / s_i(2^i).
std::vector<gf::Element> natural_points(const gf::Field& field, unsigned layers);

}  // namespace calpe::engine
