// SPDX-License-Identifier: Apache-2.0
// Among equivalent matrices the one whose parity takes the fewest XORs: Cauchy matrices differ in
// points and scales, all recover the same losses, and one has half the ones of another.
#pragma once
#include <cstdint>

#include <calpe/result.hpp>

#include "ir/program.hpp"
#include "opt/found_matrix.hpp"
#include "opt/optimise.hpp"

namespace calpe::opt {

struct MatrixSpec {
  gf::FieldRef field;
  std::uint32_t data = 0;
  std::uint32_t parity = 0;
  // First row ones (a point at infinity), so that the first parity and the repair of a single loss
  // are plain XOR; else all points are elements and columns have scales too.
  bool has_ones_row = true;
};

struct FoundProgram {
  FoundMatrix found;
  ir::Program program;  // of found.matrix(), with found.xors XORs
};

// Anneals points for the fewest ones in the bit matrix, several times; small shapes then for the
// fewest XORs after pair sharing. The best few get the optimiser, and the best of those wins.
// The budget is the optimiser's; 10+4, w = 8, takes 50 ms, 2 s or 3 minutes. The same for equal
// arguments, on every machine. Fails with invalid_argument when the field has too few elements or
// a count is zero.
Result<FoundProgram> search_matrix(const MatrixSpec& spec, Budget budget, std::uint64_t seed);

}  // namespace calpe::opt
