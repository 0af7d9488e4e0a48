// SPDX-License-Identifier: Apache-2.0
// The values of an erasure locator, for codes whose points add like their indices:
// w_x + w_z = w_(x xor z).
//
// With E the erased positions, L(x) = product over z in E of (x + w_z). In logs it is a sum over
// x xor z, a convolution of E with the logs of the points. A Walsh-Hadamard transform modulo the
// order of the field computes it for all x at once: O(n log n), where n * |E| would be 10^9 for
// 32768+32768.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gf/field.hpp"

namespace calpe::plan {

// Returns for every position x below `count` the log of L(w_x), or of the derivative L'(w_x) if x
// is in `erased`: the sum over z in `erased`, z != x, of log w_(x xor z), below the order of the
// field. Requires distinct positions below `count`, points[0] = 0, and as many points as the power
// of two that `count` rounds up to.
std::vector<std::uint32_t> locator_logs(const gf::Field& field, std::span<const gf::Element> points,
                                        std::span<const std::uint16_t> erased, std::size_t count);

// The two ways to compute them. locator_logs() takes the faster one.
std::vector<std::uint32_t> locator_logs_by_sums(const gf::Field& field,
                                                std::span<const gf::Element> points,
                                                std::span<const std::uint16_t> erased,
                                                std::size_t count);
std::vector<std::uint32_t> locator_logs_by_transform(const gf::Field& field,
                                                     std::span<const gf::Element> points,
                                                     std::span<const std::uint16_t> erased,
                                                     std::size_t count);

}  // namespace calpe::plan
