// SPDX-License-Identifier: Apache-2.0
#include "opt/within_registers.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"
#include "opt/column_chunks.hpp"
#include "opt/cut_program.hpp"
#include "opt/fuse_xors.hpp"
#include "opt/optimise.hpp"
#include "opt/schedule_registers.hpp"
#include "opt/stages.hpp"
#include "opt/sums.hpp"

namespace calpe::opt {

namespace {

// Outputs that others read become shared sums.
Sums sums_of(const ir::Program& program) {
  Sums sums{.inputs = program.inputs(), .shared = 0, .outputs = program.outputs(), .terms = {}};
  std::vector<Node> node_of(program.values());
  std::iota(node_of.begin(), node_of.begin() + program.inputs(), Node{0});
  for (const ir::Instruction& instruction : program.instructions()) {
    std::vector<Node> terms;
    for (const ir::Term& term : program.terms(instruction))
      terms.push_back(node_of[term.value]);
    std::ranges::sort(terms);
    node_of[instruction.target] = sums.inputs + sums.shared++;
    sums.terms.push_back(std::move(terms));
  }
  for (std::uint32_t r = 0; r < program.outputs(); ++r)
    sums.terms.push_back({node_of[program.output(r)]});
  return sums;
}

// Computes one output after another, each shared sum at its first read. Fewer sums are in progress,
// but inputs are held longer.
ir::Program by_outputs(const Sums& sums, const ir::Program& program) {
  ir::Program made(program.field_ref(), program.shape());
  for (std::uint32_t i = 0; i < sums.shared; ++i)
    made.new_temporary();
  const auto value_of = [&](Node node) {
    if (sums.is_input(node)) return ir::Value{node};
    if (sums.is_output(node)) return made.output(node - sums.output(0));
    return made.inputs() + made.outputs() + (node - sums.inputs);
  };
  std::vector<bool> is_there(sums.inputs + sums.shared);
  std::fill_n(is_there.begin(), sums.inputs, true);
  const auto append = [&](Node node) {
    std::vector<ir::Term> terms;
    for (const Node term : sums.of(node))
      terms.push_back({.value = value_of(term)});
    made.append(value_of(node), terms);
  };
  std::vector<Node> missing;
  for (std::uint32_t r = 0; r < sums.outputs; ++r) {
    missing.assign(1, sums.output(r));
    for (std::size_t i = 0; i < missing.size(); ++i) {
      for (const Node term : sums.of(missing[i])) {
        if (is_there[term]) continue;
        is_there[term] = true;
        missing.push_back(term);
      }
    }
    // A sum reads lower sums only.
    std::ranges::sort(missing);
    std::ranges::for_each(missing, append);
  }
  return made;
}

// Computes in the order of the inputs.
ir::Program by_inputs(const Sums& sums, const ir::Program& program) {
  std::vector<ir::Value> values(program.inputs() + program.outputs());
  std::iota(values.begin(), values.end(), ir::Value{0});
  ir::Program made(program.field_ref(), program.shape());
  schedule_registers(sums,
                     {.inputs = std::span(values).first(program.inputs()),
                      .targets = std::span(values).last(program.outputs()),
                      .three_input_xor = true},
                     made);
  return made;
}

// Schedules the same sums in three-input instructions, in the order that holds fewer words.
ir::Program rescheduled(Sums sums, const ir::Program& program, const RegisterBudget& budget) {
  fuse_xors(sums, Price::three_input_xors);
  ir::Program one = by_inputs(sums, program);
  ir::Program other = by_outputs(sums, program);
  const auto held = [&](const ir::Program& made) {
    return words_held(made, budget.outputs_together);
  };
  return held(other) < held(one) ? other : one;
}

// Maximum inputs times outputs to search: 80 x 32, which is 10+4, takes about a second.
constexpr std::size_t searched_cells_max = 4096;

std::optional<ir::Program> searched(const ir::Program& program, const RegisterBudget& budget) {
  const std::size_t cells = std::size_t{program.inputs()} * program.outputs();
  if (budget.rounds <= 1 || cells > searched_cells_max) return std::nullopt;
  const auto found = fewest_xors(program, {.budget = Budget::standard});
  CALPE_ASSERT(found.has_value());
  ir::Program made = rescheduled(sums_of(*found), program, budget);
  if (words_held(made, budget.outputs_together) > budget.registers) return std::nullopt;
  return made;
}

}  // namespace

std::size_t words_held(const ir::Program& program, std::size_t outputs_together) {
  const auto instructions = program.instructions();
  std::vector<std::size_t> last_use(program.values());
  for (std::size_t at = 0; at < instructions.size(); ++at) {
    for (const ir::Term& term : program.terms(instructions[at]))
      last_use[term.value] = at;
    const ir::Value target = instructions[at].target;
    if (!program.is_output(target) || outputs_together == 1) continue;
    const std::size_t block = (target - program.inputs()) / outputs_together * outputs_together;
    const std::size_t end = std::min<std::size_t>(block + outputs_together, program.outputs());
    for (std::size_t output = block; output < end; ++output) {
      std::size_t& last = last_use[program.output(static_cast<std::uint32_t>(output))];
      last = std::max(last, at);
    }
  }
  // An operand read for the last time makes room for the target. Outputs that leave together do so
  // after it.
  std::vector<std::size_t> left_before(instructions.size());
  std::vector<std::size_t> left_after(instructions.size());
  std::vector<bool> is_held(program.values());
  std::size_t held = 0;
  std::size_t most = 0;
  const auto hold = [&](ir::Value value) {
    if (is_held[value]) return;
    is_held[value] = true;
    ++held;
    const bool is_waiting = program.is_output(value) && outputs_together > 1;
    ++(is_waiting ? left_after : left_before)[last_use[value]];
  };
  for (std::size_t at = 0; at < instructions.size(); ++at) {
    for (const ir::Term& term : program.terms(instructions[at]))
      hold(term.value);
    most = std::max(most, held);
    const ir::Value target = instructions[at].target;
    const bool is_kept = last_use[target] > at;
    held -= left_before[at];
    if (is_kept) hold(target);
    most = std::max(most, held + (is_kept ? 0 : 1));
    held -= left_after[at];
  }
  return most;
}

std::optional<ir::Program> within_registers(const ir::Program& program,
                                            const RegisterBudget& budget) {
  const gf::BitMatrix bits = ir::bit_map(program);
  const Stages stages = plan_stages(program.shape(), bits, program.outputs());
  std::optional<ir::Program> best = searched(program, budget);
  const auto take = [&](ir::Program made) {
    if (words_held(made, budget.outputs_together) > budget.registers) return false;
    if (!best || ir::cost(made).xors3 < ir::cost(*best).xors3) best = std::move(made);
    return true;
  };
  if (program.inputs() < budget.registers)
    take(rescheduled(share_in_chunks(bits, {.chunk_inputs = bits.columns()}), program, budget));
  // Fewer neighbours share less and hold less: the first that fits is the best.
  const std::size_t unit = program.unit_count();
  const std::size_t inputs_max = std::min<std::size_t>(program.inputs(), budget.registers);
  for (std::size_t shards = (inputs_max + unit - 1) / unit; shards > 0; shards = shards * 3 / 4) {
    if (take(cut_program(program, stages, {.chunk_inputs = shards * unit}))) break;
  }
  if (best) CALPE_ASSERT(ir::verify_map(*best, bits));
  return best;
}

}  // namespace calpe::opt
