// SPDX-License-Identifier: Apache-2.0
// Defines the meaning of a program, byte by byte. Every backend is compared with this.
#pragma once
#include <cstddef>
#include <span>

#include "ir/program.hpp"

namespace calpe::ir {

// For each of `bytes` positions: outputs = program(inputs), or with accumulate outputs ^=
// program(inputs). inputs[v] holds value v, and outputs[r] receives output r; in the xor dialect
// these are units, not shards. An instruction that reads an output reads the computed value, never
// the old memory, also with accumulate. gf programs must be over GF(2^8), one symbol per byte, or
// over GF(2^16), where the high byte of each symbol is `high_distance` bytes after the low one.
// Outputs must not overlap anything. `program` must be sound (verify.hpp).
void interpret(const Program& program, std::span<const std::byte* const> inputs,
               std::span<std::byte* const> outputs, std::size_t bytes, bool accumulate = false,
               std::size_t high_distance = 0);

}  // namespace calpe::ir
