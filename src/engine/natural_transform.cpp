// SPDX-License-Identifier: Apache-2.0
#include "engine/natural_transform.hpp"

namespace calpe::engine {

// s_(i+1)(x) = s_i(x) * s_i(x + 2^i), and s_i is additive.
std::vector<gf::Element> natural_points(const gf::Field& field, unsigned layers) {
  const std::size_t size = field.size();
  std::vector<gf::Element> points(layers * size);
  std::vector<gf::Element> s(size);
  for (std::size_t x = 0; x < size; ++x)
    s[x] = static_cast<gf::Element>(x);
  for (unsigned layer = 0; layer < layers; ++layer) {
    const gf::Element at_basis = s[std::size_t{1} << layer];
    for (std::size_t i = 0; i < size >> layer; ++i)
      points[layer * size + i] = field.divide(s[i << layer], at_basis);
    for (gf::Element& value : s)
      value = field.multiply(value, static_cast<gf::Element>(value ^ at_basis));
  }
  return points;
}

}  // namespace calpe::engine
