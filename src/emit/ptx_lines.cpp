// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx_lines.hpp"

#include <bit>

namespace calpe::emit {

void PtxLines::open(std::string_view name, std::string_view more_parameters, std::size_t values) {
  out_ += text(".visible .entry ", name,
               "(\n"
               "  .param .u64 n_base, .param .u64 r_base, .param .u64 shards, .param .u64 first,\n"
               "  .param .u64 column_bytes, .param .u64 unit_stride, .param .u64 group_stride",
               more_parameters, ")\n.maxntid ", form_.group_items, ", 1, 1\n{\n");
  line(".reg .pred is_outside");
  line(".reg .b32 block, item, top, low");
  line(".reg .b64 at, x, end, address");
  for (unsigned i = 0; i < lanes(); ++i)
    line(".reg .b32 ", letters[i], "<", values, ">");
  line("mov.u32 block, %ctaid.x");
  line("mov.u32 item, %tid.x");
  line("cvt.u64.u32 x, item");
  line("mul.wide.u32 at, block, ", form_.group_items);
  line("add.u64 x, x, at");
  if (form_.word_bytes > 1) line("shl.b64 x, x, ", std::countr_zero(form_.word_bytes));
  line("ld.param.u64 end, [column_bytes]");
  line("setp.ge.u64 is_outside, x, end");
  line("mov.u32 block, %ctaid.y");
  line("cvt.u64.u32 address, block");
  line("ld.param.u64 end, [group_stride]");
  line("ld.param.u64 at, [first]");
  line("mad.lo.u64 at, address, end, at");
  line("add.u64 at, at, x");
}

// prmt 0xba98 turns every byte whose top bit is set into ones, and the others into zeros.
void PtxLines::double_and_add(std::string_view target, std::string_view source,
                              std::string_view plane) {
  const std::uint32_t reduction = 0x01010101U * form_.reduction;
  line("prmt.b32 top, ", source, ", ", source, ", 0xba98");
  line("shl.b32 low, ", source, ", 1");
  if (plane.empty()) {
    line("and.b32 top, top, ", reduction);
  } else {
    line("lop3.b32 top, top, ", reduction, ", ", plane, ", 0x6a");
  }
  line("lop3.b32 ", target, ", low, 0xfefefefe, top, 0x6a");
}

}  // namespace calpe::emit
