// SPDX-License-Identifier: Apache-2.0
// The part of a program that some of its outputs need. So equations are dealt out over devices:
// each gets its outputs, and temporaries are repeated on every device that needs them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ir/program.hpp"

namespace calpe::ir {

struct Slice {
  Program program;  // all inputs, the wanted outputs in the order asked for, the same unit_count
  std::vector<Value> origin;  // of each of its values: the value of the whole program that it is
};

// `outputs`: indices, distinct, as many as make whole shards. Instructions stay in order. An output
// that is only read becomes a temporary. `program` must be sound.
Slice slice(const Program& program, std::span<const std::uint32_t> outputs);

// The same for output shards, all of their values.
Slice slice_shards(const Program& program, std::span<const std::uint32_t> shards);

}  // namespace calpe::ir
