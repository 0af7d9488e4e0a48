// SPDX-License-Identifier: Apache-2.0
#include "engine/compile.hpp"

#include "ir/lower_to_xor.hpp"
#include "ir/program.hpp"

namespace calpe::engine {

Result<backend::KernelRef> compile(const gf::FieldRef& field, const gf::Matrix& rows, Layout layout,
                                   backend::Device& device) {
  ir::Program program = ir::build(field, rows);  // output r = sum of rows(r, c) * input c
  if (layout == Layout::packets) program = ir::lower_to_xor(program);
  return device.compile(program);
}

}  // namespace calpe::engine
