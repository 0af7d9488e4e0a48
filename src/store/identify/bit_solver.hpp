// SPDX-License-Identifier: Apache-2.0
// Finds which input bits each output bit is the sum of, from samples.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace calpe::store {

class BitSolver {
 public:
  BitSolver(std::size_t inputs, std::size_t outputs);

  // Adds a sample: inputs, then outputs, 64 bits per word; outputs start at a new word. Returns
  // false if it contradicts earlier samples, so that the outputs are not sums of inputs.
  bool add(std::vector<std::uint64_t> sample);

  std::size_t sample_words() const noexcept { return input_words_ + output_words_; }
  std::size_t output_word() const noexcept { return input_words_; }
  std::size_t rank() const noexcept { return rank_; }
  bool is_determined() const noexcept { return rank_ == inputs_; }
  // Returns true if input `in` is part of output `out`. Valid once determined.
  bool coefficient(std::size_t out, std::size_t in) const noexcept;

 private:
  void reduce();

  std::size_t inputs_;
  std::size_t input_words_;
  std::size_t output_words_;
  std::size_t rank_ = 0;
  std::vector<std::vector<std::uint64_t>> pivots_;  // by leading input; may be empty
};

}  // namespace calpe::store
