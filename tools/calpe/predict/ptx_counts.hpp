// SPDX-License-Identifier: Apache-2.0
// Counts the instructions in PTX source: an estimate of the machine instructions that does not need
// NVIDIA's compiler.
#pragma once
#include <cstddef>
#include <string_view>

#include <calpe/result.hpp>

namespace calpe::tools {

struct PtxCounts {
  std::size_t alu = 0;    // of the integer pipe: lop3, prmt, right shifts, additions
  std::size_t issue = 0;  // all instructions, including loads, stores and branches
};

// Instructions of `row_groups` work-items that compute the same words, one for each row group:
// executes the comparisons of the register row_group with a number, and no other branches but
// unconditional ones. 64-bit logic and additions count as two instructions, of which one uses the
// ALU. Multiplications and left shifts, which machine code multiplies, do not use it. Fails with
// invalid_argument for a backward branch, because the number of iterations is unknown.
Result<PtxCounts> count_ptx(std::string_view text, std::size_t row_groups);

}  // namespace calpe::tools
