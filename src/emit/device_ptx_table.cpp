// SPDX-License-Identifier: Apache-2.0
// The table kernel in PTX: 32 sums in registers, and for every input word 32 bits that select the
// sums it is added to.
#include "base/text.hpp"
#include "emit/device_walk.hpp"
#include "emit/ptx_lines.hpp"

namespace calpe::emit {

namespace {

class PtxTable {
 public:
  PtxTable(TableStyle style, const DeviceForm& form) : style_(style), form_(form), ptx_(form) {}

  std::string write(std::string_view name) {
    ptx_.open(
        {.name = name,
         .more_parameters =
             ",\n  .param .u64 bits, .param .u64 row_groups_param, .param .u64 input_shards,\n"
             "  .param .u64 output_shards, .param .u64 unit_count, .param .u64 accumulate",
         .values = value + 1,
         .row_groups = 0});
    write_head();
    write_sums();
    write_outputs();
    return "\n" + ptx_.close();
  }

 private:
  static constexpr std::size_t value = table_rows;  // after the sums
  static constexpr std::string_view step_shard = "add.u64 table, table, 8";

  void write_head() {
    ptx_.line(".shared .align 4 .b32 rows[", table_inputs_max, "]");
    ptx_.line(".reg .pred is_done, is_added");
    ptx_.line(".reg .b32 inputs, outputs, units, columns, unit, shard, column, row, mask");
    ptx_.line(".reg .b64 table, base, stride");
    for (const auto& [target, parameter] :
         {std::pair{"inputs", "input_shards"}, std::pair{"outputs", "output_shards"},
          std::pair{"units", "unit_count"}}) {
      ptx_.line("ld.param.u32 ", target, ", [", parameter, "]");
    }
    ptx_.line("mul.lo.u32 columns, inputs, units");
    // Thread i copies words i, i + threads, ...
    ptx_.line("ld.param.u64 table, [bits]");
    ptx_.line("mul.wide.u32 base, row_group, columns");
    ptx_.line("shl.b64 base, base, 2");
    ptx_.line("add.u64 table, table, base");
    ptx_.line("mov.u32 column, item");
    ptx_.line("mov.u32 shard, rows");
    ptx_.label("copy");
    ptx_.line("setp.ge.u32 is_done, column, columns");
    ptx_.line("@is_done bra copied");
    ptx_.line("mul.wide.u32 base, column, 4");
    ptx_.line("add.u64 base, base, table");
    ptx_.line("ld.global.nc.u32 row, [base]");
    ptx_.line("shl.b32 mask, column, 2");
    ptx_.line("add.u32 mask, mask, shard");
    ptx_.line("st.shared.u32 [mask], row");
    ptx_.line("add.u32 column, column, ", form_.group_items);
    ptx_.line("bra copy");
    ptx_.label("copied");
    ptx_.line("bar.sync 0");
    ptx_.line("@is_outside bra done");
  }

  void write_sums() {
    for (unsigned lane = 0; lane < ptx_.lanes(); ++lane) {
      for (std::size_t r = 0; r < table_rows; ++r)
        ptx_.line("mov.b32 ", ptx_.lane(lane, r), ", 0");
    }
    ptx_.line("mov.u32 block, %ctaid.z");
    ptx_.line("add.u32 unit, inputs, outputs");
    ptx_.line("mul.wide.u32 x, block, unit");
    ptx_.line("shl.b64 x, x, 3");
    ptx_.line("ld.param.u64 table, [shards]");
    ptx_.line("add.u64 table, table, x");
    ptx_.line("ld.param.u64 base, [n_base]");
    ptx_.line("add.u64 base, base, at");
    ptx_.line("ld.param.u64 stride, [unit_stride]");
    ptx_.line("mov.u32 column, rows");
    ptx_.line("mov.u32 shard, 0");
    ptx_.label("next_shard");
    ptx_.line("setp.ge.u32 is_done, shard, inputs");
    ptx_.line("@is_done bra summed");
    ptx_.line("ld.global.nc.u64 address, [table]");
    ptx_.line("add.u64 address, address, base");
    ptx_.line("mov.u32 unit, 0");
    ptx_.label("next_unit");
    ptx_.load("ld.global.nc", value, "address");
    ptx_.line("ld.shared.u32 row, [column]");
    for (std::size_t r = 0; r < table_rows; ++r) {
      ptx_.line("bfe.s32 mask, row, ", r, ", 1");  // all ones or none
      for (unsigned lane = 0; lane < ptx_.lanes(); ++lane) {
        const std::string sum = ptx_.lane(lane, r);
        ptx_.line("lop3.b32 ", sum, ", mask, ", ptx_.lane(lane, value), ", ", sum, ", 0x6a");
      }
    }
    ptx_.line("add.u32 column, column, 4");
    ptx_.line("add.u64 address, address, stride");
    ptx_.line("add.u32 unit, unit, 1");
    ptx_.line("setp.lt.u32 is_done, unit, units");
    ptx_.line("@is_done bra next_unit");
    ptx_.line("add.u32 shard, shard, 1");
    ptx_.line(step_shard);
    ptx_.line("bra next_shard");
    ptx_.label("summed");
  }

  // From here `table` points to the next output shard, `unit` is its next unit, and `column` counts
  // down the remaining ones.
  void write_outputs() {
    ptx_.line("ld.param.u64 base, [r_base]");
    ptx_.line("add.u64 base, base, at");
    ptx_.line("ld.param.u64 x, [accumulate]");
    ptx_.line("setp.ne.u64 is_added, x, 0");
    const bool is_planes = style_ == TableStyle::planes;
    const std::size_t count = is_planes ? table_rows / planes_per_byte : table_rows;
    ptx_.line("mul.lo.u32 column, outputs, units");
    ptx_.line("mul.lo.u32 row, row_group, ", count);
    ptx_.line("sub.u32 column, column, row");
    ptx_.line("div.u32 shard, row, units");
    ptx_.line("mul.lo.u32 unit, shard, units");
    ptx_.line("sub.u32 unit, row, unit");
    ptx_.line("mul.wide.u32 x, shard, 8");
    ptx_.line("add.u64 table, table, x");
    for (std::size_t i = 0; i < count; ++i) {
      ptx_.line("setp.le.u32 is_done, column, ", i);
      ptx_.line("@is_done bra done");
      const std::size_t sum = is_planes ? add_planes(i) : i;
      write_output(sum);
    }
  }

  std::size_t add_planes(std::size_t i) {
    const std::size_t top = i * planes_per_byte + planes_per_byte - 1;
    for (unsigned lane = 0; lane < ptx_.lanes(); ++lane) {
      for (unsigned b = planes_per_byte - 1; b-- > 0;) {
        ptx_.double_and_add(ptx_.lane(lane, top), ptx_.lane(lane, top),
                            ptx_.lane(lane, i * planes_per_byte + b));
      }
    }
    return top;
  }

  void write_output(std::size_t sum) {
    ptx_.line("ld.global.nc.u64 address, [table]");
    ptx_.line("add.u64 address, address, base");
    ptx_.line("cvt.u64.u32 x, unit");
    ptx_.line("mad.lo.u64 address, x, stride, address");
    for (unsigned lane = 0; lane < ptx_.lanes(); ++lane)
      ptx_.line("mov.b32 ", ptx_.lane(lane, value), ", 0");
    ptx_.load("@is_added ld.global", value, "address");
    for (unsigned lane = 0; lane < ptx_.lanes(); ++lane) {
      ptx_.line("xor.b32 ", ptx_.lane(lane, value), ", ", ptx_.lane(lane, value), ", ",
                ptx_.lane(lane, sum));
    }
    ptx_.store("address", value);
    ptx_.line("add.u32 unit, unit, 1");
    ptx_.line("setp.eq.u32 is_done, unit, units");
    ptx_.line("@is_done mov.u32 unit, 0");
    ptx_.line("@is_done ", step_shard);
  }

  TableStyle style_;
  const DeviceForm& form_;
  PtxLines ptx_;
};

}  // namespace

std::string ptx_table(TableStyle style, const DeviceForm& form, std::string_view name) {
  return PtxTable(style, form).write(name);
}

}  // namespace calpe::emit
