// SPDX-License-Identifier: Apache-2.0
// A register plan as x86-64 machine code, through AsmJit: a loop over blocks of 64 bytes of every
// unit. The code touches neither the stack pointer nor callee-saved registers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "ir/register_plan.hpp"

namespace calpe::backend::jit {

inline constexpr std::size_t block_bytes = 64;
// Without strides beyond the scaled ones of x86 (1, 2, 4) and three sums of them.
inline constexpr std::size_t strided_units_max = 8;

enum class InstructionSet : std::uint8_t { avx2, avx512 };

// Scratch begins with what does not fit into argument registers.
struct ScratchHead {
  std::size_t unit_stride;
  std::size_t count;  // blocks still to do
  std::byte unused[block_bytes - 2 * sizeof(std::size_t)];
};

// `count` >= 1 blocks of every unit, the first at byte `offset` of the shards. `scratch` is aligned
// to block_bytes: a ScratchHead, then the plan's slots of block_bytes.
using BlockFunction = void (*)(const std::byte* const* inputs, std::byte* const* outputs,
                               std::size_t offset, std::size_t count, std::byte* scratch);

// One idea, several loops.
struct Loop {
  // Units lie ScratchHead::unit_stride apart, and a block is followed by its neighbour. Otherwise
  // units are one block each, side by side, and a block is followed by that of the next group.
  bool is_strided = false;
  bool accumulates = false;  // outputs ^= instead of =
  bool streams = false;  // past the caches, visible to other threads at the end; outputs must be
                         // aligned to block_bytes
};

struct Assembly {
  std::vector<std::byte> code;       // position-independent
  std::vector<std::size_t> entries;  // of each loop asked for
};

// `shape` is that of the plan's program. `listing`, where given, receives the assembler text. Fails
// with compile_failed.
Result<Assembly> assemble(const ir::Program::Shape& shape, const ir::RegisterPlan& plan,
                          InstructionSet set, const std::vector<Loop>& loops, std::string* listing);

}  // namespace calpe::backend::jit
