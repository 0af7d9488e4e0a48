// SPDX-License-Identifier: Apache-2.0
// Translates a register plan to x86-64 machine code with AsmJit: a loop over blocks of 64 bytes of
// every unit. The code does not touch the stack pointer or callee-saved registers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "ir/register_plan.hpp"

namespace calpe::backend::jit {

inline constexpr std::size_t block_bytes = 64;
// Strides that x86 can scale (1, 2, 4) and three sums of them.
inline constexpr std::size_t strided_units_max = 8;

enum class InstructionSet : std::uint8_t { avx2, avx512 };

// Start of the scratch memory: values that do not fit into argument registers.
struct ScratchHead {
  std::size_t unit_stride;
  std::size_t count;  // remaining blocks
  std::byte unused[block_bytes - 2 * sizeof(std::size_t)];
};

// Processes `count` >= 1 blocks of every unit, the first at byte `offset` of the shards. `scratch`
// is aligned to block_bytes: a ScratchHead, then the plan's slots of block_bytes.
using BlockFunction = void (*)(const std::byte* const* inputs, std::byte* const* outputs,
                               std::size_t offset, std::size_t count, std::byte* scratch);

// Variant of the loop.
struct Loop {
  // Units are ScratchHead::unit_stride apart, and the next block is the neighbour. Otherwise units
  // are one block each, side by side, and the next block belongs to the next group.
  bool is_strided = false;
  bool accumulates = false;  // outputs ^= instead of =
  bool streams = false;  // bypass the caches, visible to other threads at the end; outputs aligned
                         // to block_bytes
};

struct Assembly {
  std::vector<std::byte> code;       // position-independent
  std::vector<std::size_t> entries;  // one per requested loop
};

// `shape` is that of the plan's program. `listing`, if not null, receives the assembly source.
// Fails with compile_failed.
Result<Assembly> assemble(const ir::Program::Shape& shape, const ir::RegisterPlan& plan,
                          InstructionSet set, const std::vector<Loop>& loops, std::string* listing);

}  // namespace calpe::backend::jit
