// SPDX-License-Identifier: Apache-2.0
// Extracts the part of a program that some outputs need, to distribute equations over devices.
// Temporaries are repeated on every device that needs them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ir/program.hpp"

namespace calpe::ir {

struct Slice {
  Program program;            // all inputs, the outputs in the requested order, the same unit_count
  std::vector<Value> origin;  // of each value: its value in the whole program
};

// `outputs` are distinct indices that make up whole shards. Instructions keep their order. An
// output that is only read becomes a temporary. `program` must be sound.
Slice slice(const Program& program, std::span<const std::uint32_t> outputs);

// The same for output shards, with all of their values.
Slice slice_shards(const Program& program, std::span<const std::uint32_t> shards);

}  // namespace calpe::ir
