// SPDX-License-Identifier: Apache-2.0
// An xor program as unordered sums, for the kernel passes. Inputs come first, then shared sums
// (temporaries), then the outputs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace calpe::opt {

using Node = std::uint32_t;

struct Sums {
  std::uint32_t inputs = 0;
  std::uint32_t shared = 0;
  std::uint32_t outputs = 0;
  // Terms of node - inputs, ascending, each once. A shared sum reads inputs and lower shared sums
  // only.
  std::vector<std::vector<Node>> terms;

  bool is_input(Node node) const noexcept { return node < inputs; }
  bool is_output(Node node) const noexcept { return node >= inputs + shared; }
  Node output(std::uint32_t index) const noexcept { return inputs + shared + index; }
  std::vector<Node>& of(Node node) noexcept { return terms[node - inputs]; }
  const std::vector<Node>& of(Node node) const noexcept { return terms[node - inputs]; }
};

// The unit in which a sum is priced.
enum class Price : std::uint8_t {
  two_input_xors,
  three_input_xors,
  memory_accesses,  // terms read, plus the sum written
};

constexpr std::size_t price_of(std::size_t terms, Price price) noexcept {
  if (terms == 0) return 0;
  switch (price) {
    case Price::two_input_xors:
      return terms - 1;
    case Price::three_input_xors:
      return terms / 2;
    case Price::memory_accesses:
      return terms + 1;
  }
  return 0;
}

}  // namespace calpe::opt
