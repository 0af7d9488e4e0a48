// SPDX-License-Identifier: Apache-2.0
// Counts the instructions in PTX source: an estimate of the machine instructions that does not need
// NVIDIA's compiler.
#pragma once
#include <cstddef>
#include <string_view>

#include <calpe/result.hpp>

namespace calpe::tools {

struct PtxCounts {
  std::size_t alu = 0;    // logic and integer: lop3, prmt, shifts, additions
  std::size_t issue = 0;  // all instructions, including loads, stores and branches
  std::size_t entries = 0;
};

// Sums over all entries, each executed once from first to last line. 64-bit logic and additions
// count as two instructions. Multiplications are issued but do not use the ALU. Fails with
// invalid_argument for a backward branch, because the number of iterations is unknown.
Result<PtxCounts> count_ptx(std::string_view text);

}  // namespace calpe::tools
