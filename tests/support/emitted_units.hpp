// SPDX-License-Identifier: Apache-2.0
// One array of inputs and one of outputs, as emitted code takes them, and the expected result.
#pragma once
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

#include "ir/interpret.hpp"
#include "ir/program.hpp"
#include "support/random_choice.hpp"

namespace calpe::tests {

// Units `stride` apart; gaps and a margin at the end are random and must not change.
class EmittedUnits {
 public:
  EmittedUnits(conformance::Random& random, const ir::Program& program, std::size_t unit_bytes,
               std::size_t stride)
      : n_(program.inputs() * stride + margin_bytes),
        r_(program.outputs() * stride + margin_bytes) {
    random.fill(n_);
    random.fill(r_);
    before_ = n_;
    untouched_ = expected_ = r_;
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    for (std::size_t u = 0; u < program.inputs(); ++u)
      inputs.push_back(n_.data() + u * stride);
    for (std::size_t u = 0; u < program.outputs(); ++u)
      outputs.push_back(expected_.data() + u * stride);
    ir::interpret(program, inputs, outputs, unit_bytes);
  }

  const unsigned char* n() const { return reinterpret_cast<const unsigned char*>(n_.data()); }
  unsigned char* r() { return reinterpret_cast<unsigned char*>(r_.data()); }
  std::size_t n_bytes() const { return n_.size(); }
  std::size_t r_bytes() const { return r_.size(); }

  // True if the outputs are right and nothing else has changed; then resets the outputs.
  bool take_result() {
    const bool is_right = r_ == expected_ && n_ == before_;
    r_ = untouched_;
    return is_right;
  }

 private:
  static constexpr std::size_t margin_bytes = 64;
  std::vector<std::byte> n_;
  std::vector<std::byte> r_;
  std::vector<std::byte> before_;
  std::vector<std::byte> untouched_;
  std::vector<std::byte> expected_;
};

}  // namespace calpe::tests
