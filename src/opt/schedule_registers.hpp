// SPDX-License-Identifier: Apache-2.0
// An order for sums that keeps few values alive: inputs arrive shard by shard, and every sum takes
// in what has arrived as soon as an instruction is full.
#pragma once
#include <span>

#include "ir/program.hpp"
#include "opt/sums.hpp"

namespace calpe::opt {

struct ScheduleRules {
  // What the program calls the sums' inputs, in whose order they arrive: defined by now, or a
  // target.
  std::span<const ir::Value> inputs;
  std::span<const ir::Value> targets;  // what it calls the sums' outputs
  bool three_input_xor = false;
};

// Appends the instructions of `sums` to the program. Long sums become partial sums, each in a
// temporary of its own.
void schedule_registers(const Sums& sums, const ScheduleRules& rules, ir::Program& program);

}  // namespace calpe::opt
