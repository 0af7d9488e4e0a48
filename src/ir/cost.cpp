// SPDX-License-Identifier: Apache-2.0
#include "ir/cost.hpp"

#include <algorithm>
#include <vector>

namespace calpe::ir {

namespace {

std::size_t most_live_values(const Program& program) {
  // last_use[v]: number of the last instruction that reads v, counted from 1; 0 means never read.
  const auto instructions = program.instructions();
  std::vector<std::size_t> last_use(program.values(), 0);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    for (const Term& term : program.terms(instructions[i]))
      last_use[term.value] = i + 1;
  }

  std::size_t live = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    for (const Term& term : program.terms(instructions[i])) {
      if (program.is_input(term.value) || last_use[term.value] != i + 1) continue;
      last_use[term.value] = 0;  // counted once, even if named twice
      --live;
    }
    most = std::max(most, live + 1);
    if (last_use[instructions[i].target] != 0) ++live;
  }
  return most;
}

}  // namespace

Cost cost(const Program& program) {
  Cost total;
  for (const Instruction& instruction : program.instructions()) {
    const std::size_t term_count = instruction.term_count;
    total.xors += term_count == 0 ? 0 : term_count - 1;
    total.xors3 += term_count / 2;
    total.loads += term_count;
    total.stores += 1;
    for (const Term& term : program.terms(instruction)) {
      total.multiplications += term.coefficient == 1 ? 0 : 1;
    }
  }
  total.live_values = most_live_values(program);
  return total;
}

}  // namespace calpe::ir
