// SPDX-License-Identifier: Apache-2.0
#include "ir/slice.hpp"

#include <limits>

#include "base/assert.hpp"

namespace calpe::ir {

namespace {

constexpr Value absent = std::numeric_limits<Value>::max();

// Returns the values that the outputs depend on, including the outputs.
std::vector<bool> needed_values(const Program& program, std::span<const std::uint32_t> outputs) {
  std::vector<bool> needed(program.values());
  for (const std::uint32_t output : outputs)
    needed[program.output(output)] = true;
  const std::span<const Instruction> all = program.instructions();
  for (std::size_t i = all.size(); i-- > 0;) {
    if (!needed[all[i].target]) continue;
    for (const Term& term : program.terms(all[i]))
      needed[term.value] = true;
  }
  return needed;
}

}  // namespace

Slice slice(const Program& program, std::span<const std::uint32_t> outputs) {
  Program::Shape shape = program.shape();
  shape.outputs = static_cast<std::uint32_t>(outputs.size());
  Slice part{.program = Program(program.field_ref(), shape), .origin = {}};
  const std::vector<bool> needed = needed_values(program, outputs);

  std::vector<Value> renamed(program.values(), absent);
  for (Value v = 0; v < program.inputs(); ++v) {
    renamed[v] = v;
    part.origin.push_back(v);
  }
  for (const std::uint32_t output : outputs) {
    CALPE_ASSERT(output < program.outputs() && renamed[program.output(output)] == absent);
    renamed[program.output(output)] = static_cast<Value>(part.origin.size());
    part.origin.push_back(program.output(output));
  }
  std::vector<Term> terms;
  for (const Instruction& instruction : program.instructions()) {
    const Value target = instruction.target;
    if (!needed[target]) continue;
    if (renamed[target] == absent) {
      renamed[target] = part.program.new_temporary();
      part.origin.push_back(target);
    }
    terms.assign(program.terms(instruction).begin(), program.terms(instruction).end());
    for (Term& term : terms)
      term.value = renamed[term.value];
    part.program.append(renamed[target], terms);
  }
  return part;
}

Slice slice_shards(const Program& program, std::span<const std::uint32_t> shards) {
  std::vector<std::uint32_t> outputs;
  for (const std::uint32_t shard : shards) {
    for (std::uint32_t u = 0; u < program.unit_count(); ++u)
      outputs.push_back(shard * program.unit_count() + u);
  }
  return slice(program, outputs);
}

}  // namespace calpe::ir
