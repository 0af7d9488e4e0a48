// SPDX-License-Identifier: Apache-2.0
// Decoding `lch` in O(n log n): the erasure locator of a loss, as factors of an ir::Locator.
//
// Data shard j is at position N + j and parity i at i; s(z) = points[z / N]. The values of the
// transform, over the shards read, are
//   v_i = sum over lost data z of  s(z) data_z / (w_i + w_z)   for every parity i that is read.
// E is all positions below N + k that are not read, at most N. With L(x) = product over E of
// (x + w_z), O = v L is zero at the unknown positions of the first coset. So O is known on this
// coset, and as a polynomial of degree < N it follows from it. Then
//   data z:    data_z = O(w_z) / (s(z) L'(w_z))
//   parity p:  its value (of the data read) + O'(w_p) / L'(w_p)
// Example, m = 1: N = 1, O = v_0 L(w_0) = v_0 (w_0 + w_z), and s(z) = w_z: data_z = v_0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "gf/field.hpp"
#include "ir/transform.hpp"

namespace calpe::engine {

struct LchLoss {
  std::size_t data_shards = 0;
  std::span<const std::uint16_t> reads;   // positions, distinct
  std::span<const std::uint16_t> writes;  // positions, not read
};

// Takes field, points and log_size of `transform`. Requires that at most N positions below
// N + data_shards are not read. Omits the scales if they are all equal: then a whole coset is lost,
// and decoding takes as long as encoding.
ir::Locator lch_locator(const ir::Transform& transform, const LchLoss& loss);

}  // namespace calpe::engine
