// SPDX-License-Identifier: Apache-2.0
// What the threads of PTX kernels execute, counted in their text: an estimate of the machine's
// instructions that needs no compiler of NVIDIA's.
#pragma once
#include <cstddef>
#include <string_view>

#include <calpe/result.hpp>

namespace calpe::tools {

struct PtxCounts {
  std::size_t alu = 0;    // logic and integer: lop3, prmt, shifts, additions
  std::size_t issue = 0;  // all, loads, stores and branches too
  std::size_t entries = 0;
};

// Of all entries together, each executed once from its first line to its last. Numbers of 64 bits
// take two instructions for logic and additions, and multiplications go to another unit: issued,
// not ALU. Fails with invalid_argument for a branch backwards, which runs who knows how often.
Result<PtxCounts> count_ptx(std::string_view text);

}  // namespace calpe::tools
