// SPDX-License-Identifier: Apache-2.0
// The meaning of a program, byte by byte: what every backend is compared with.
#pragma once
#include <cstddef>
#include <span>

#include "ir/program.hpp"

namespace calpe::ir {

// For each of `bytes` positions: outputs = program(inputs), or with accumulate outputs ^=
// program(inputs). inputs[v] holds value v, outputs[r] receives output r; in the xor dialect these
// are units, not shards. An instruction that reads an output reads what the program gave it, also
// with accumulate, never what memory held. gf programs must be over GF(2^8), one symbol per byte.
// Outputs may overlap nothing. `program` must be sound (verify.hpp).
void interpret(const Program& program, std::span<const std::byte* const> inputs,
               std::span<std::byte* const> outputs, std::size_t bytes, bool accumulate = false);

}  // namespace calpe::ir
