// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx_lines.hpp"

#include <bit>
#include <vector>

#include "emit/device_walk.hpp"

namespace calpe::emit {

void PtxLines::open(const Head& head) {
  out_ += text(".visible .entry ", head.name,
               "(\n"
               "  .param .u64 n_base, .param .u64 r_base, .param .u64 shards, .param .u64 first,\n"
               "  .param .u64 column_bytes, .param .u64 unit_stride, .param .u64 group_stride",
               head.more_parameters, ")\n.maxntid ", form_.group_items, ", 1, 1\n{\n");
  line(".reg .pred is_outside");
  line(".reg .b32 block, item, row_group, row_groups, top, low");
  line(".reg .b64 at, x, end, address, half");
  for (unsigned i = 0; i < lanes(); ++i)
    line(".reg .b32 ", letters[i], "<", head.values, ">");
  line("mov.u32 block, %ctaid.x");
  if (head.row_groups != 1) {
    if (head.row_groups == 0) line("ld.param.u32 row_groups, [row_groups_param]");
    const std::string count = head.row_groups == 0 ? "row_groups" : text(head.row_groups);
    line("rem.u32 row_group, block, ", count);
    line("div.u32 block, block, ", count);
  }
  line("mov.u32 item, %tid.x");
  line("cvt.u64.u32 x, item");
  line("mul.wide.u32 at, block, ", form_.group_items);
  line("add.u64 x, x, at");
  const std::size_t item_bytes = head.is_sliced ? form_.word_bytes / 2 : form_.word_bytes;
  if (item_bytes > 1) line("shl.b64 x, x, ", std::countr_zero(item_bytes));
  line("ld.param.u64 end, [column_bytes]");
  if (head.is_sliced) {
    line("shr.u64 half, end, 1");
    line("mov.b64 end, half");
  }
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

void PtxLines::load_halves(std::string_view how, std::size_t first, std::string_view address) {
  line("add.u64 address, ", address, ", half");
  line(how, ".v4.u32 ", four(first), ", [", address, "]");
  line(how, ".v4.u32 ", four(first + 4), ", [address]");
}

void PtxLines::store_halves(std::string_view address, std::size_t first) {
  line("add.u64 address, ", address, ", half");
  line("st.global.v4.u32 [", address, "], ", four(first));
  line("st.global.v4.u32 [address], ", four(first + 4));
}

// lop3 0xe4 selects bits of the first operand where the third has ones, otherwise of the second.
void PtxLines::exchange_bits(std::span<const std::size_t> from, std::size_t to) {
  std::vector<std::size_t> now(from.begin(), from.end());
  for (const BitExchange& exchange : bit_exchanges()) {
    std::size_t& first = now[exchange.first];
    std::size_t& second = now[exchange.second];
    line("shr.b32 top, a", first, ", ", exchange.shift);
    line("shl.b32 low, a", second, ", ", exchange.shift);
    line("lop3.b32 a", to + exchange.first, ", a", first, ", low, ", exchange.lower, ", 0xe4");
    line("lop3.b32 a", to + exchange.second, ", top, a", second, ", ", exchange.lower, ", 0xe4");
    first = to + exchange.first;
    second = to + exchange.second;
  }
}

}  // namespace calpe::emit
