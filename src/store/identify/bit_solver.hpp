// SPDX-License-Identifier: Apache-2.0
// Which bits of the output are sums of which bits of the input, from samples of both.
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

  // One sample: inputs, then outputs, 64 bits to a word, outputs starting a word of their own.
  // False: it contradicts the samples before, so outputs are no sums of inputs.
  bool add(std::vector<std::uint64_t> sample);

  std::size_t sample_words() const noexcept { return input_words_ + output_words_; }
  std::size_t output_word() const noexcept { return input_words_; }
  std::size_t rank() const noexcept { return rank_; }
  bool is_determined() const noexcept { return rank_ == inputs_; }
  // Is input `in` part of output `out`? When determined.
  bool coefficient(std::size_t out, std::size_t in) const noexcept;

 private:
  void reduce();

  std::size_t inputs_;
  std::size_t input_words_;
  std::size_t output_words_;
  std::size_t rank_ = 0;
  std::vector<std::vector<std::uint64_t>> pivots_;  // by leading input; empty: none yet
};

}  // namespace calpe::store
