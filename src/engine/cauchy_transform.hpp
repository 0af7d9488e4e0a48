// SPDX-License-Identifier: Apache-2.0
// Encode of the codes `cauchy` and `hybrid` as additive FFTs, where these take less work than the
// matrix. `default` is `hybrid` where `lch` does not fit, such as 200+56.
//
// Data shard j is at the field element j and parity i at k + i; a coefficient is 1 / (parity +
// data). Let N be a power of two and all parity in one coset of N elements. With s(x) the product
// of x + v over v = 0 .. N-1, and p the polynomial with less than N coefficients through the data d
// of another coset,
//
//   sum of d_y / (x + y) over that coset = p(x) * s' / (s(x) + s(y)),
//
// because s' is constant, and so is s on a coset. So every coset is interpolated, multiplied by s'
// / (s(x) + s(y)) and added; the sum is transformed forward at the parity. Data in the coset of the
// parity and the row of ones of `hybrid` are multiplied as in a matrix. Where `lch` does not fit,
// k + N > 256, so parity is in the last N elements.
//
// Example, N = 2, data d_0, d_1, parity at 2 and 3: s = x (x + 1), s' = 1, s(2) = 6, and p = d_0 +
// (d_0 + d_1) x. At 2 that gives (3 d_0 + 2 d_1) / 6 = d_0 / 2 + d_1 / 3.
#pragma once
#include <optional>

#include "code/code.hpp"
#include "engine/natural_transform.hpp"
#include "plan/recipe.hpp"

namespace calpe::engine {

// Returns the transform that computes `recipe`, or nullopt for another code, for other plans than
// encode (of some parity from some data), or when the matrix takes less work.
std::optional<NaturalTransform> cauchy_transform(const code::Code& code,
                                                 const plan::Recipe& recipe);

}  // namespace calpe::engine
