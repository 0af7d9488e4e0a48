// SPDX-License-Identifier: Apache-2.0
#include "opt/cut_program.hpp"

#include <algorithm>
#include <span>

#include "opt/column_chunks.hpp"
#include "opt/fuse_xors.hpp"
#include "opt/schedule_registers.hpp"

namespace calpe::opt {

namespace {

gf::BitMatrix rows_between(const gf::BitMatrix& all, std::size_t first, std::size_t end) {
  gf::BitMatrix rows(end - first, all.columns());
  for (std::size_t r = first; r < end; ++r)
    std::ranges::copy(all.row(r), rows.row(r - first).begin());
  return rows;
}

void append_stage(const Stage& stage, const Cut& cut, ir::Program& program) {
  const std::size_t rows = stage.rows.rows();
  const std::size_t groups = std::min(cut.row_groups, rows);
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = rows * group / groups;
    const std::size_t end = rows * (group + 1) / groups;
    Sums sums = share_in_chunks(groups == 1 ? stage.rows : rows_between(stage.rows, first, end),
                                {.chunk_inputs = cut.chunk_inputs,
                                 .sharing = {.min_count = cut.min_count, .seed = cut.seed}});
    fuse_xors(sums, cut.three_input_xor ? Price::three_input_xors : Price::two_input_xors);
    schedule_registers(sums,
                       {.inputs = stage.columns,
                        .targets = std::span(stage.targets).subspan(first, end - first),
                        .three_input_xor = cut.three_input_xor},
                       program);
  }
}

}  // namespace

ir::Program with_temporaries(const ir::Program& program, const Stages& stages) {
  ir::Program result(program.field_ref(), program.shape());
  for (std::uint32_t i = 0; i < stages.temporaries; ++i)
    result.new_temporary();
  return result;
}

ir::Program cut_program(const ir::Program& program, const Stages& stages, const Cut& cut) {
  ir::Program made = with_temporaries(program, stages);
  for (const Stage& stage : stages.in_order)
    append_stage(stage, cut, made);
  return made;
}

}  // namespace calpe::opt
