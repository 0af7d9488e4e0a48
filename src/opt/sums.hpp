// SPDX-License-Identifier: Apache-2.0
// An xor program as sums in no order: what the passes for kernels work on. Inputs come first, then
// shared sums (temporaries), then the program's outputs.
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
  // By node - inputs: its terms, ascending, each once. A shared sum reads inputs and shared sums of
  // lower numbers.
  std::vector<std::vector<Node>> terms;

  bool is_input(Node node) const noexcept { return node < inputs; }
  bool is_output(Node node) const noexcept { return node >= inputs + shared; }
  Node output(std::uint32_t index) const noexcept { return inputs + shared + index; }
  std::vector<Node>& of(Node node) noexcept { return terms[node - inputs]; }
  const std::vector<Node>& of(Node node) const noexcept { return terms[node - inputs]; }
};

// What a sum costs.
enum class Price : std::uint8_t {
  two_input_xors,
  three_input_xors,
  memory_accesses,  // terms read, and the sum written
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
