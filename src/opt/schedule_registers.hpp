// SPDX-License-Identifier: Apache-2.0
// Orders sums so that few values are live: inputs arrive shard by shard, and every sum adds what
// has arrived as soon as an instruction is full.
#pragma once
#include <span>

#include "ir/program.hpp"
#include "opt/sums.hpp"

namespace calpe::opt {

struct ScheduleRules {
  // The program's values of the sums' inputs, in order of arrival: already defined, or a target.
  std::span<const ir::Value> inputs;
  std::span<const ir::Value> targets;  // the program's values of the sums' outputs
  bool three_input_xor = false;
};

// Appends the instructions of `sums` to the program. Long sums become partial sums, each in its own
// temporary.
void schedule_registers(const Sums& sums, const ScheduleRules& rules, ir::Program& program);

}  // namespace calpe::opt
