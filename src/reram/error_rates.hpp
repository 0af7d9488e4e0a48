// SPDX-License-Identifier: Apache-2.0
// How often a bit comes out wrong, in closed form. The sum of n_on ones and n_off zeros deviates
// by a normal variable of standard deviation s = variation * sqrt(n_on + g^2 * n_off) / (1 - g);
// its lowest bit is wrong when that is rounded to an odd number:
// 2 * (Q(0.5 / s) - Q(1.5 / s) + Q(2.5 / s) - ...), with Q the tail of the normal distribution.
#pragma once
#include <cstddef>

#include "gf/bit_matrix.hpp"
#include "reram/parameters.hpp"

namespace calpe::sim {

// g = 1 / on_off_ratio: what a zero conducts, of what a one does.
double off_conductance(const Parameters& noise) noexcept;

// Of one bit-line with so many active cells of either kind.
double bit_error_rate(const Parameters& noise, std::size_t ones, std::size_t zeros);

// Mean over the outputs of a matrix (rows: outputs, columns: inputs) when each input is 1 with
// probability 1/2: weighted by the binomial distribution of the active cells. Stuck cells are left
// out; a matrix in one crossbar.
double bit_error_rate(const Parameters& noise, const gf::BitMatrix& matrix);
// The same with 2 * Q(0.5 * (1 - g) / (variation * sqrt(n_on))) for each bit-line: the form of the
// literature, which forgets zeros and goes to 1 where the truth goes to 1/2.
double simple_bit_error_rate(const Parameters& noise, const gf::BitMatrix& matrix);

// The most rows, all holding 1, that may be active together while bit_error_rate stays at or below
// `target`; 0 when one is too many. At most 2^20, also without noise.
std::size_t active_rows_for(const Parameters& noise, double target);

}  // namespace calpe::sim
