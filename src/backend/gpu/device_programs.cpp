// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/device_programs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/lower_to_xor.hpp"
#include "ir/verify.hpp"
#include "opt/within_registers.hpp"

namespace calpe::backend::gpu {

namespace {

constexpr std::uint32_t planes = 8;
constexpr std::size_t registers_of_narrow_words = 128;

struct Job {
  const gf::FieldRef& field;
  const gf::BitMatrix& map;
  std::uint32_t unit_count = 1;         // per input
  std::size_t block = 1;                // rows that must stay together
  std::uint32_t outputs_per_block = 1;  // counted as in RowGroup::first_output
  opt::RegisterBudget budget = {};
};

// Rows [first, end) of the map, as sums of inputs.
ir::Program direct_program(const Job& job, std::size_t first, std::size_t end) {
  ir::Program program(job.field, {.dialect = ir::Dialect::xor_,
                                  .inputs = static_cast<std::uint32_t>(job.map.columns()),
                                  .outputs = static_cast<std::uint32_t>(end - first),
                                  .unit_count = job.unit_count});
  std::vector<ir::Term> terms;
  for (std::size_t r = first; r < end; ++r) {
    terms.clear();
    for (std::uint32_t c = 0; c < job.map.columns(); ++c) {
      if (job.map.get(r, c)) terms.push_back({.value = c});
    }
    program.append(program.output(static_cast<std::uint32_t>(r - first)), terms);
  }
  return program;
}

struct Groups {
  std::vector<emit::RowGroup> groups;
  std::size_t cost = 0;
};

// Each row group reads all inputs again.
std::size_t cost_of(const ir::Program& program) {
  return ir::cost(program).xors3 + program.inputs();
}

// Splits the blocks evenly into this many row groups; nullopt if one does not fit.
std::optional<Groups> cut_into(const Job& job, std::size_t count) {
  const std::size_t blocks = job.map.rows() / job.block;
  Groups made;
  for (std::size_t group = 0; group < count; ++group) {
    const std::size_t first = blocks * group / count;
    const std::size_t end = blocks * (group + 1) / count;
    auto program =
        opt::within_registers(direct_program(job, first * job.block, end * job.block), job.budget);
    if (!program) return std::nullopt;
    made.cost += cost_of(*program);
    made.groups.push_back(
        {*std::move(program), static_cast<std::uint32_t>(first) * job.outputs_per_block});
  }
  return made;
}

// For larger maps, takes the first split that fits, because optimising them is slow.
constexpr std::size_t cells_max = std::size_t{1} << 16U;

std::vector<emit::RowGroup> cut_up(const Job& job) {
  const std::size_t blocks = job.map.rows() / job.block;
  const auto next = [&](std::size_t count) { return std::min(2 * count, blocks); };
  // If inputs do not fit at once, every sum stays live until the last input.
  std::size_t count = 1;
  while (job.map.columns() > job.budget.registers && count < blocks &&
         job.map.rows() / count > job.budget.registers * 3 / 4)
    count = next(count);
  std::optional<Groups> best;
  for (;; count = next(count)) {
    std::optional<Groups> made = cut_into(job, count);
    const bool is_better = made && (!best || made->cost < best->cost);
    const bool is_enough =
        best.has_value() || (made && job.map.rows() * job.map.columns() > cells_max);
    if (is_better) best = std::move(made);
    if (is_enough || count == blocks) break;
  }
  if (best) return std::move(best->groups);
  // Not even one block fits; leave it to the compiler.
  std::vector<emit::RowGroup> direct;
  for (std::size_t block = 0; block < blocks; ++block) {
    direct.push_back({direct_program(job, block * job.block, (block + 1) * job.block),
                      static_cast<std::uint32_t>(block) * job.outputs_per_block});
  }
  return direct;
}

// Larger functions take a CPU's compiler seconds.
constexpr std::size_t joined_max = 4000;

// One program that computes the groups one after the other.
std::vector<emit::RowGroup> joined(const std::vector<emit::RowGroup>& groups) {
  ir::Program::Shape shape = groups[0].program.shape();
  shape.outputs = 0;
  for (const emit::RowGroup& group : groups)
    shape.outputs += group.program.outputs();
  ir::Program all(groups[0].program.field_ref(), shape);
  ir::Value first_output = all.output(0);
  std::vector<ir::Term> terms;
  for (const emit::RowGroup& group : groups) {
    const ir::Program& program = group.program;
    const ir::Value first_temporary = all.values();
    for (std::uint32_t i = 0; i < program.temporaries(); ++i)
      all.new_temporary();
    const auto renumbered = [&](ir::Value v) {
      if (program.is_input(v)) return v;
      if (program.is_output(v)) return first_output + (v - program.inputs());
      return first_temporary + (v - program.inputs() - program.outputs());
    };
    for (const ir::Instruction& instruction : program.instructions()) {
      terms.assign(program.terms(instruction).begin(), program.terms(instruction).end());
      for (ir::Term& term : terms)
        term.value = renumbered(term.value);
      all.append(renumbered(instruction.target), terms);
    }
    first_output += program.outputs();
  }
  return {{std::move(all), groups[0].first_output}};
}

std::vector<emit::RowGroup> groups_of(const Job& job, const ProgramLimits& limits) {
  std::vector<emit::RowGroup> groups = cut_up(job);
  std::size_t instructions = 0;
  for (const emit::RowGroup& group : groups)
    instructions += group.program.instructions().size();
  return limits.is_one_group && instructions <= joined_max ? joined(groups) : groups;
}

// Row groups that keep the eight bits of an output shard together.
std::vector<emit::RowGroup> shard_groups(const gf::FieldRef& field, const gf::BitMatrix& map,
                                         std::uint32_t unit_count, const ProgramLimits& limits) {
  return groups_of({.field = field,
                    .map = map,
                    .unit_count = unit_count,
                    .block = planes,
                    .outputs_per_block = 1,
                    .budget = {.registers = limits.registers,
                               .rounds = limits.rounds,
                               .outputs_together = planes}},
                   limits);
}

}  // namespace

Result<std::vector<emit::RowGroup>> unit_groups(const ir::Program& program,
                                                const ProgramLimits& limits) {
  if (program.dialect() != ir::Dialect::xor_) {
    return invalid("program has the gf dialect; expected xor");
  }
  CALPE_CHECK(ir::verify(program));
  const bool is_kept = limits.rounds == 0 || program.temporaries() > 0;
  if (is_kept && opt::words_held(program) <= limits.registers) {
    return std::vector<emit::RowGroup>{{program, 0}};
  }
  const gf::BitMatrix map = ir::bit_map(program);
  const std::uint32_t units = program.unit_count();
  const bool is_whole = map.rows() % units == 0;
  return groups_of({.field = program.field_ref(),
                    .map = map,
                    .unit_count = units,
                    .block = is_whole ? units : 1,
                    .outputs_per_block = is_whole ? units : 1,
                    .budget = {.registers = limits.registers, .rounds = limits.rounds}},
                   limits);
}

Result<std::vector<emit::RowGroup>> plane_groups(const gf::FieldRef& field, const gf::Matrix& rows,
                                                 const ProgramLimits& limits) {
  if (rows.rows() == 0 || rows.columns() == 0) {
    return invalid("matrix has ", rows.rows(), " rows and ", rows.columns(),
                   " columns; expected at least 1 of each");
  }
  return shard_groups(field, plane_map(rows), 1, limits);
}

Result<std::vector<emit::RowGroup>> sliced_groups(const gf::FieldRef& field, const gf::Matrix& rows,
                                                  const ProgramLimits& limits) {
  const ir::Program program = ir::lower_to_xor(ir::build(field, rows));
  return shard_groups(field, ir::bit_map(program), planes, limits);
}

namespace {

// Logic instructions of doubling 4 bytes, and of exchanging the bits of 32. NVIDIA's compiler
// replaces left shifts by multiplications, which other units do.
struct LogicCosts {
  std::size_t doubling = 0;
  std::size_t exchange = 0;
};
LogicCosts costs_of(emit::DeviceLanguage language) {
  if (language == emit::DeviceLanguage::ptx) return {.doubling = 3, .exchange = 36};
  return {.doubling = 7, .exchange = 48};
}
// Slices have 8 inputs per shard. More do not fit into registers together with their sums.
constexpr std::size_t sliced_inputs_max = 16;

// Per 32 bytes of every input.
std::size_t planes_cost(const std::vector<emit::RowGroup>& groups, const LogicCosts& costs) {
  std::size_t cost = 0;
  for (const emit::RowGroup& group : groups) {
    const std::size_t shards = group.program.outputs() / planes;
    cost += ir::cost(group.program).xors3 + shards * (planes - 1) * costs.doubling;
  }
  return cost * (emit::sliced_word_bytes / 4);
}

std::size_t sliced_cost(const std::vector<emit::RowGroup>& groups, const LogicCosts& costs) {
  std::size_t cost = 0;
  for (const emit::RowGroup& group : groups) {
    const std::size_t shards = (group.program.inputs() + group.program.outputs()) / planes;
    cost += ir::cost(group.program).xors3 + shards * costs.exchange;
  }
  return cost;
}

}  // namespace

Result<BytesKernel> bytes_kernel(const gf::FieldRef& field, const gf::Matrix& rows,
                                 const emit::DeviceForm& form, const ProgramLimits& limits) {
  BytesKernel made = {.form = form, .groups = {}};
  const bool is_wide = form.word_bytes == emit::sliced_word_bytes / 2;
  ProgramLimits narrow = limits;
  narrow.registers = registers_of_narrow_words;
  if (limits.may_slice && is_wide && rows.columns() <= sliced_inputs_max) {
    // A quick search shows which is better.
    ProgramLimits quick = limits;
    ProgramLimits quick_narrow = narrow;
    quick.rounds = quick_narrow.rounds = std::min<std::size_t>(limits.rounds, 1);
    CALPE_TRY(const std::vector<emit::RowGroup> byte_groups, plane_groups(field, rows, quick));
    CALPE_TRY(const std::vector<emit::RowGroup> sliced, sliced_groups(field, rows, quick_narrow));
    const LogicCosts costs = costs_of(form.language);
    made.is_sliced = sliced_cost(sliced, costs) < planes_cost(byte_groups, costs);
  }
  if (made.is_sliced) {
    made.form.word_bytes = emit::sliced_word_bytes;
    CALPE_TRY(made.groups, sliced_groups(field, rows, narrow));
  } else {
    CALPE_TRY(made.groups, plane_groups(field, rows, limits));
  }
  return made;
}

Result<emit::DeviceText> emit_bytes(const emit::DeviceShape& shape, const BytesKernel& kernel) {
  return kernel.is_sliced ? emit::emit_sliced(shape, kernel.groups, kernel.form)
                          : emit::emit_planes(shape, kernel.groups, kernel.form);
}

ProgramLimits limits_for(const emit::DeviceForm& form, std::uint32_t inputs, bool is_planes) {
  const bool is_ptx = form.language == emit::DeviceLanguage::ptx;
  if (form.word_bytes == 64) return {.registers = 32, .is_one_group = true};
  if (form.word_bytes < 16) return {.registers = registers_of_narrow_words};
  return {.registers = is_ptx && is_planes && inputs <= emit::planes_inputs_held_max ? 96U : 32U};
}

gf::BitMatrix plane_map(const gf::Matrix& rows) {
  gf::BitMatrix map(rows.rows() * planes, rows.columns());
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t c = 0; c < rows.columns(); ++c) {
      for (std::size_t b = 0; b < planes; ++b) {
        if ((rows(r, c) >> b & 1U) != 0) map.flip(r * planes + b, c);
      }
    }
  }
  return map;
}

}  // namespace calpe::backend::gpu
