// SPDX-License-Identifier: Apache-2.0
#include "store/identify/bit_solver.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/divide_up.hpp"

namespace calpe::store {

namespace {

bool bit(std::span<const std::uint64_t> words, std::size_t index) {
  return (words[index / 64] >> (index % 64) & 1) != 0;
}

void add_to(std::vector<std::uint64_t>& target, const std::vector<std::uint64_t>& addend) {
  for (std::size_t w = 0; w < target.size(); ++w)
    target[w] ^= addend[w];
}

}  // namespace

BitSolver::BitSolver(std::size_t inputs, std::size_t outputs)
    : inputs_(inputs),
      input_words_(divide_up(inputs, 64)),
      output_words_(divide_up(outputs, 64)),
      pivots_(inputs) {}

bool BitSolver::add(std::vector<std::uint64_t> sample) {
  CALPE_ASSERT(sample.size() == sample_words());
  for (std::size_t i = 0; i < inputs_; ++i) {
    if (!bit(sample, i)) continue;
    if (pivots_[i].empty()) {
      pivots_[i] = std::move(sample);
      ++rank_;
      if (is_determined()) reduce();
      return true;
    }
    add_to(sample, pivots_[i]);
  }
  return std::ranges::all_of(std::span(sample).subspan(input_words_),
                             [](std::uint64_t word) { return word == 0; });
}

// Reduces each pivot row to its own input, so that its outputs are the column of coefficients.
void BitSolver::reduce() {
  for (std::size_t i = inputs_; i-- != 0;) {
    for (std::size_t j = 0; j < i; ++j) {
      if (bit(pivots_[j], i)) add_to(pivots_[j], pivots_[i]);
    }
  }
}

bool BitSolver::coefficient(std::size_t out, std::size_t in) const noexcept {
  return bit(std::span(pivots_[in]).subspan(input_words_), out);
}

}  // namespace calpe::store
