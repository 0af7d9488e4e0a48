// SPDX-License-Identifier: Apache-2.0
#include "ir/plan_program.hpp"

#include <vector>

#include "base/try.hpp"
#include "ir/linear_map.hpp"
#include "ir/lower_to_xor.hpp"

namespace calpe::ir {

Result<Program> xor_program(const Plan& plan, const CodeSpec& spec) {
  CALPE_TRY(const gf::FieldRef field, gf::Field::create(spec.word_bits, spec.polynomial));
  gf::Matrix rows(plan.writes().size(), plan.reads().size());
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t c = 0; c < rows.columns(); ++c)
      rows(r, c) = plan.coefficients()[r * rows.columns() + c];
  }
  return lower_to_xor(build(field, rows));
}

Program direct_program(const Program& program) {
  const auto map = bit_map(program);
  Program direct(program.field_ref(), program.shape());
  std::vector<Term> terms;
  for (std::uint32_t r = 0; r < program.outputs(); ++r) {
    terms.clear();
    for (std::uint32_t c = 0; c < program.inputs(); ++c) {
      if (map.get(r, c)) terms.push_back({.value = c});
    }
    direct.append(direct.output(r), terms);
  }
  return direct;
}

}  // namespace calpe::ir
