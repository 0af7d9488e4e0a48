// SPDX-License-Identifier: Apache-2.0
// Orders sums whose values are in memory: whole sums, each shared one just before its first reader,
// so that it is still in the cache.
#pragma once
#include <span>

#include "ir/program.hpp"
#include "opt/sums.hpp"

namespace calpe::opt {

// As schedule_registers: `inputs` and `targets` are the program's values of the sums' inputs and
// outputs. An input that is a target here must be that of an earlier sum.
void schedule_memory(const Sums& sums, std::span<const ir::Value> inputs,
                     std::span<const ir::Value> targets, ir::Program& program);

}  // namespace calpe::opt
