// SPDX-License-Identifier: Apache-2.0
// Plans of the code `vandermonde` as additive FFTs, where these take less work than the matrix.
//
// Shard z is the value at the field element z of a polynomial with k coefficients. Over the basis
// 1, 2, 4, .. the transform has other coefficients than over a Cantor basis: with s_i the product
// of x + v over v = 0 .. 2^i - 1, those of layer i at position p are s_i(p) / s_i(2^i). Data is
// interpolated, and the polynomial transformed forward at the parity. Example, k = 2: layer 0 has
// s_0(p) / s_0(1) = p, so x and y give f = x + (x + y) z, and parity 2 is x + 2 (x + y).
#pragma once
#include <optional>

#include "code/code.hpp"
#include "engine/natural_transform.hpp"
#include "plan/recipe.hpp"

namespace calpe::engine {

// Returns the transform that computes `recipe`, or nullopt for another code, for reads other than
// the first k shards or an aligned 2^i = k of them, or when the matrix takes less work. A recipe
// that reads k shards is assumed to be correct for the code.
std::optional<NaturalTransform> vandermonde_transform(const code::Code& code,
                                                      const plan::Recipe& recipe);

}  // namespace calpe::engine
