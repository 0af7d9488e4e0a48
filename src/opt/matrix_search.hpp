// SPDX-License-Identifier: Apache-2.0
// Searches equivalent matrices for the one whose parity takes the fewest XORs. Cauchy matrices with
// different points and scales recover the same losses, but some have half the ones of others.
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
  // True: the first row is ones (a point at infinity), so the first parity and the repair of a
  // single loss are plain XOR. False: all points are elements, and columns have scales too.
  bool has_ones_row = true;
};

struct FoundProgram {
  FoundMatrix found;
  ir::Program program;  // computes found.matrix() with found.xors XORs
};

// Anneals points for the fewest ones in the bit matrix, several times; small shapes then for the
// fewest XORs after pair sharing. The optimiser runs on the best few, and the best result wins. The
// budget is the optimiser's: 10+4, w = 8, takes 50 ms, 2 s or 3 minutes. Equal arguments give equal
// results on every machine. Fails with invalid_argument if the field has too few elements or a
// count is zero.
Result<FoundProgram> search_matrix(const MatrixSpec& spec, Budget budget, std::uint64_t seed);

}  // namespace calpe::opt
