// SPDX-License-Identifier: Apache-2.0
// Closed form of the bit error rate. The sum of n_on ones and n_off zeros has a normal error of
// standard deviation s = variation * sqrt(n_on + g^2 * n_off) / (1 - g). Its lowest bit is wrong if
// the error rounds to an odd number: 2 * (Q(0.5 / s) - Q(1.5 / s) + Q(2.5 / s) - ...), with Q the
// tail of the normal distribution.
#pragma once
#include <cstddef>

#include "gf/bit_matrix.hpp"
#include "reram/parameters.hpp"

namespace calpe::reram {

// g = 1 / on_off_ratio: conductance of a zero relative to a one.
double off_conductance(const Parameters& noise) noexcept;

// Error rate of one bit-line with these numbers of active cells.
double bit_error_rate(const Parameters& noise, std::size_t ones, std::size_t zeros);

// Mean over the outputs of a matrix (rows: outputs, columns: inputs) in one crossbar, if each input
// is 1 with probability 1/2: weighted by the binomial distribution of the active cells. Ignores
// stuck cells.
double bit_error_rate(const Parameters& noise, const gf::BitMatrix& matrix);
// The same with 2 * Q(0.5 * (1 - g) / (variation * sqrt(n_on))) for each bit-line, as in the
// literature. It ignores zeros and tends to 1 instead of 1/2.
double simple_bit_error_rate(const Parameters& noise, const gf::BitMatrix& matrix);

// The largest number of rows, all holding 1, that can be active together with bit_error_rate at or
// below `target`; 0 if one is too many. At most 2^20, even without noise.
std::size_t active_rows_for(const Parameters& noise, double target);

}  // namespace calpe::reram
