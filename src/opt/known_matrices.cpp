// SPDX-License-Identifier: Apache-2.0
// Found by search_matrix with the budget and seed that each line names.
#include "opt/known_matrices.hpp"

#include <array>

namespace calpe::opt {

namespace {

constexpr std::array<std::string_view, 15> lines = {
    "4+2 w=4 polynomial=0x13 xors=24 budget=standard seed=1 "
    "rows=inf/1,10/8 "
    "columns=9/1,2/1,11/1,5/1",
    "5+2 w=3 polynomial=0xb xors=24 budget=standard seed=1 "
    "rows=inf/1,2/4 "
    "columns=6/1,1/1,3/1,7/1,0/1",
    "5+2 w=4 polynomial=0x13 xors=32 budget=standard seed=1 "
    "rows=inf/1,13/3 "
    "columns=8/1,0/1,15/1,11/1,14/1",
    "6+3 w=4 polynomial=0x13 xors=50 budget=standard seed=5 "
    "rows=inf/1,0/13,3/2 "
    "columns=7/1,1/1,11/1,14/1,6/1,9/1",
    "8+3 w=4 polynomial=0x13 xors=70 budget=standard seed=1 "
    "rows=inf/1,4/9,7/2 "
    "columns=5/1,14/1,9/1,3/1,10/1,6/1,15/1,13/1",
    "10+4 w=4 polynomial=0x13 xors=112 budget=standard seed=6 "
    "rows=inf/1,4/2,13/1,2/4 "
    "columns=10/1,3/1,5/1,0/1,15/1,14/1,9/1,11/1,1/1,6/1",
    "12+4 w=4 polynomial=0x13 xors=138 budget=standard seed=8 "
    "rows=inf/1,8/15,12/9,10/15 "
    "columns=0/1,2/1,13/1,5/1,6/1,1/1,4/1,11/1,14/1,7/1,3/1,9/1",
    "4+2 w=8 polynomial=0x11d xors=50 budget=standard seed=1 "
    "rows=inf/1,54/133 "
    "columns=246/1,179/1,59/1,250/1",
    "5+2 w=8 polynomial=0x11d xors=66 budget=standard seed=1 "
    "rows=inf/1,39/215 "
    "columns=203/1,121/1,148/1,240/1,116/1",
    "6+3 w=8 polynomial=0x11d xors=123 budget=standard seed=3 "
    "rows=inf/1,6/4,191/109 "
    "columns=2/1,7/1,4/1,14/1,210/1,22/1",
    "8+3 w=8 polynomial=0x11d xors=168 budget=standard seed=2 "
    "rows=inf/1,69/150,78/93 "
    "columns=211/1,39/1,238/1,116/1,188/1,19/1,14/1,184/1",
    "10+4 w=8 polynomial=0x11d xors=279 budget=thorough seed=2 "
    "rows=inf/1,63/141,94/51,60/2 "
    "columns=62/1,61/1,201/1,203/1,155/1,56/1,109/1,79/1,124/1,178/1",
    "12+4 w=8 polynomial=0x11d xors=346 budget=standard seed=7 "
    "rows=inf/1,231/123,97/212,229/247 "
    "columns=84/1,17/1,67/1,11/1,16/1,180/1,112/1,18/1,22/1,110/1,212/1,181/1",
    "16+4 w=8 polynomial=0x11d xors=484 budget=standard seed=3 "
    "rows=inf/1,122/54,156/206,84/123 "
    "columns=162/1,232/1,47/1,125/1,131/1,74/1,82/1,97/1,22/1,29/1,6/1,195/1,66/1,168/1,76/1,"
    "231/1",
    "20+10 w=8 polynomial=0x11d xors=1594 budget=standard seed=2 "
    "rows=inf/1,11/126,21/243,254/30,122/37,228/10,17/246,239/76,137/189,22/124 "
    "columns=253/1,95/1,225/1,34/1,230/1,67/1,48/1,119/1,181/1,231/1,204/1,163/1,244/1,224/1,"
    "238/1,183/1,212/1,52/1,68/1,106/1",
};

}  // namespace

std::span<const std::string_view> known_matrix_lines() {
  return lines;
}

std::optional<FoundMatrix> known_matrix(const gf::Field& field, std::uint32_t data,
                                        std::uint32_t parity) {
  for (const std::string_view line : lines) {
    Result<FoundMatrix> found = parse_found(line);
    if (found && found->data() == data && found->parity() == parity &&
        found->field->word_bits() == field.word_bits() &&
        found->field->polynomial() == field.polynomial()) {
      return *std::move(found);
    }
  }
  return std::nullopt;
}

}  // namespace calpe::opt
