// SPDX-License-Identifier: Apache-2.0
#include "engine/compile.hpp"

#include "ir/lower_to_xor.hpp"
#include "ir/program.hpp"

namespace calpe::engine {

Result<backend::KernelRef> compile(const gf::FieldRef& field, const gf::Matrix& rows, Layout layout,
                                   backend::Device& device) {
  if (layout == Layout::bytes) return device.compile_matrix(field, rows);
  const ir::Program program = ir::build(field, rows);  // output r = sum of rows(r, c) * input c
  return device.compile(ir::lower_to_xor(program));
}

}  // namespace calpe::engine
