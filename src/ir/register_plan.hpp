// SPDX-License-Identifier: Apache-2.0
// Schedules a straight-line xor program on a fixed number of vector registers: which register holds
// a value, what is read from memory at its use, and what is spilled. Independent of an instruction
// set: the optimiser counts the steps, and an assembler turns each into one instruction.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <calpe/result.hpp>

#include "ir/program.hpp"

namespace calpe::ir {

// A unit of a shard, or a scratch slot.
struct Place {
  enum class Space : std::uint8_t { input, output, scratch };
  Space space = Space::scratch;
  std::uint16_t unit = 0;   // in the shard
  std::uint32_t shard = 0;  // or the slot
  bool operator==(const Place&) const = default;
};

using Register = std::uint8_t;
inline constexpr std::size_t registers_max = 32;  // per plan

struct Step {
  enum class Kind : std::uint8_t {
    zero,          // target = 0
    load,          // target = place
    copy,          // target = first
    add,           // target = first ^ second
    add_place,     // target = first ^ place
    add_two,       // target ^= first ^ second
    add_one_each,  // target ^= first ^ place
    store,         // place = target
  };
  Kind kind = Kind::zero;
  Register target = 0;
  Register first = 0;
  Register second = 0;
  Place place = {};
};

struct RegisterSet {
  std::size_t count = 16;
  bool three_input_xor = false;
};

struct RegisterPlan {
  std::vector<Step> steps;
  std::size_t slots = 0;  // scratch slots
};

// Works in program order and evicts the value whose next read is last. Stores each output once,
// when it is ready, and never reads it back: with accumulate its memory holds something else.
// `program` must be sound (verify.hpp) and in the xor dialect. Needs at least 4 registers.
RegisterPlan plan_registers(const Program& program, const RegisterSet& registers);

}  // namespace calpe::ir
