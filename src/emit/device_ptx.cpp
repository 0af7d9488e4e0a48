// SPDX-License-Identifier: Apache-2.0
// Device kernels in PTX, written directly (see emit_ptx.cpp). The order of the source code
// determines register use: ptxas mostly keeps it.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/text.hpp"
#include "emit/device_walk.hpp"
#include "emit/ptx_lines.hpp"

namespace calpe::emit {

namespace {

// Their addresses take two registers each.
constexpr std::uint32_t held_outputs_max = 8;

class PtxGroup final : public DeviceWalk {
 public:
  PtxGroup(const DeviceEntry& entry, const RowGroup& group, PtxLines& ptx)
      : DeviceWalk(entry, group, group.program.inputs()),
        ptx_(ptx),
        is_output_open_(entry.shape.output_shards) {}

  // Registers per lane.
  std::size_t values() const {
    return is_sliced() ? program().values() + 2 * planes_per_byte
                       : result(program().outputs() / planes_per_byte);
  }

  void write() {
    if (is_lane_by_lane()) {
      load_all();
      for (unsigned lane = 0; lane < ptx_.lanes(); ++lane) {
        first_lane_ = lane;
        end_lane_ = lane + 1;
        walk();
      }
    } else {
      end_lane_ = ptx_.lanes();
      walk();
    }
  }

 private:
  bool is_sliced() const { return entry().style == DeviceStyle::sliced; }
  bool is_lane_by_lane() const {
    return ptx_.lanes() > 1 && entry().style == DeviceStyle::planes &&
           program().inputs() <= planes_inputs_held_max;
  }

  // Returns the address of a unit of the shard at `base`, computed by an instruction if needed.
  std::string unit_address(const std::string& base, std::uint32_t unit) {
    if (unit == 0) return base;
    if (entry().form.unit_stride != 0) return text(base, "+", unit * entry().form.unit_stride);
    ptx_.line("mad.lo.u64 address, stride, ", unit, ", ", base);
    return "address";
  }

  void open_input(std::uint32_t shard) override {
    ptx_.line("ld.global.nc.u64 n", shard, ", [table+", 8 * shard, "]");
    ptx_.line("add.u64 n", shard, ", n", shard, ", n_at");
  }

  void load(ir::Value input) override {
    if (is_sliced()) {
      const std::uint32_t shard = input / planes_per_byte;
      std::array<std::size_t, planes_per_byte> words = {};
      std::iota(words.begin(), words.end(), std::size_t{shard} * planes_per_byte);
      ptx_.load_halves("ld.global.nc", words[0], text("n", shard));
      return ptx_.exchange_bits(words, words[0]);
    }
    const std::uint32_t units = entry().shape.unit_count;
    ptx_.load("ld.global.nc", input, unit_address(text("n", input / units), input % units));
  }

  void add_up(const ir::Instruction& instruction) override {
    for (unsigned lane = first_lane_; lane < end_lane_; ++lane)
      add_up(instruction, lane);
  }

  void add_up(const ir::Instruction& instruction, unsigned lane) {
    const auto terms = program().terms(instruction);
    const std::string target = ptx_.lane(lane, instruction.target);
    if (terms.empty()) {
      ptx_.line("mov.b32 ", target, ", 0");
      return;
    }
    std::string sum = ptx_.lane(lane, terms[0].value);
    if (terms.size() == 1) ptx_.line("mov.b32 ", target, ", ", sum);
    std::size_t done = 1;
    for (; done + 1 < terms.size(); done += 2) {
      ptx_.line("lop3.b32 ", target, ", ", sum, ", ", ptx_.lane(lane, terms[done].value), ", ",
                ptx_.lane(lane, terms[done + 1].value), ", 0x96");
      sum = target;
    }
    if (done < terms.size())
      ptx_.line("xor.b32 ", target, ", ", sum, ", ", ptx_.lane(lane, terms[done].value));
  }

  // Returns the register with the address. Of many, only one is held.
  std::string open_output(std::uint32_t shard) {
    const bool is_held = entry().shape.output_shards <= held_outputs_max;
    const std::string name = is_held ? text("r", shard) : "x";
    const bool is_there = is_held ? is_output_open_[shard] : shard == open_output_;
    if (!is_there) {
      const std::uint32_t number = entry().shape.input_shards + shard;
      ptx_.line("ld.global.nc.u64 ", name, ", [table+", 8 * number, "]");
      ptx_.line("add.u64 ", name, ", ", name, ", r_at");
    }
    is_output_open_[shard] = true;
    open_output_ = shard;
    return name;
  }

  void store(std::uint32_t shard, std::uint32_t unit, ir::Value value) {
    const std::uint32_t units = entry().shape.unit_count;
    const std::string base = open_output(shard);
    const std::string address = unit_address(base, units == 1 ? 0 : unit);
    if (entry().form.accumulate) {
      const ir::Value old = old_value();
      ptx_.load("ld.global", old, address);
      // The sum may be read again.
      for (unsigned lane = 0; lane < ptx_.lanes(); ++lane) {
        ptx_.line("xor.b32 ", ptx_.lane(lane, old), ", ", ptx_.lane(lane, old), ", ",
                  ptx_.lane(lane, value));
      }
      value = old;
    }
    ptx_.store(address, value);
  }

  void put_unit(std::uint32_t output) override {
    const std::uint32_t units = entry().shape.unit_count;
    const std::uint32_t unit = group().first_output + output;
    store(unit / units, unit % units, program().output(output));
  }

  // Registers after those of the program: old memory contents, and shards made of planes.
  ir::Value old_value() const { return program().values(); }
  ir::Value result(std::uint32_t shard) const { return program().values() + 1 + shard; }

  // The words of a shard, after the registers of the program.
  void store_slices(std::uint32_t shard) {
    std::array<std::size_t, planes_per_byte> planes = {};
    for (std::uint32_t b = 0; b < planes_per_byte; ++b)
      planes[b] = program().output(shard * planes_per_byte + b);
    const std::size_t words = program().values();
    ptx_.exchange_bits(planes, words);
    const std::string base = open_output(group().first_output + shard);
    if (entry().form.accumulate) {
      const std::size_t old = words + planes_per_byte;
      ptx_.load_halves("ld.global", old, base);
      for (std::size_t i = 0; i < planes_per_byte; ++i)
        ptx_.line("xor.b32 a", words + i, ", a", words + i, ", a", old + i);
    }
    ptx_.store_halves(base, words);
  }

  void put_shard(std::uint32_t shard) override {
    if (is_sliced()) return store_slices(shard);
    for (unsigned lane = first_lane_; lane < end_lane_; ++lane)
      add_planes(shard, lane);
    if (end_lane_ == ptx_.lanes()) store(group().first_output + shard, 0, result(shard));
  }

  void add_planes(std::uint32_t shard, unsigned lane) {
    const std::string target = ptx_.lane(lane, result(shard));
    std::string sum;
    for (unsigned b = planes_per_byte; b-- > 0;) {
      const ir::Value plane = program().output(shard * planes_per_byte + b);
      const std::string added = is_zero(plane) ? std::string() : ptx_.lane(lane, plane);
      if (sum.empty()) {
        sum = added;
      } else {
        ptx_.double_and_add(target, sum, added);
        sum = target;
      }
    }
    if (sum != target) ptx_.line("mov.b32 ", target, ", ", sum.empty() ? "0" : sum);
  }

  PtxLines& ptx_;
  unsigned first_lane_ = 0;
  unsigned end_lane_ = 0;
  std::uint32_t open_output_ = UINT32_MAX;
  std::vector<bool> is_output_open_;
};

void write_head(const DeviceEntry& entry, std::size_t values, PtxLines& ptx) {
  const DeviceShape& shape = entry.shape;
  ptx.open({.name = entry.name,
            .values = values,
            .row_groups = static_cast<std::uint32_t>(entry.groups.size()),
            .is_sliced = entry.style == DeviceStyle::sliced});
  ptx.line(".reg .b64 n<", shape.input_shards, ">, n_at, r_at, table, stride");
  if (shape.output_shards <= held_outputs_max) ptx.line(".reg .b64 r<", shape.output_shards, ">");
  ptx.line(".reg .pred is_other");
  ptx.line("@is_outside bra done");
  ptx.line("ld.param.u64 table, [shards]");
  ptx.line("mov.u32 block, %ctaid.z");
  ptx.line("mul.wide.u32 x, block, ", 8 * (shape.input_shards + shape.output_shards));
  ptx.line("add.u64 table, table, x");
  for (const std::string_view side : {"n", "r"}) {
    ptx.line("ld.param.u64 ", side, "_at, [", side, "_base]");
    ptx.line("add.u64 ", side, "_at, ", side, "_at, at");
  }
  if (shape.unit_count > 1 && entry.form.unit_stride == 0)
    ptx.line("ld.param.u64 stride, [unit_stride]");
}

}  // namespace

std::string ptx_prelude() {
  return ".version 6.0\n.target sm_50\n.address_size 64\n";
}

std::string ptx_kernel(const DeviceEntry& entry) {
  PtxLines ptx(entry.form);
  std::string headings;
  std::size_t values = 0;
  for (const RowGroup& group : entry.groups) {
    headings += heading(group.program, "");
    values = std::max(values, PtxGroup(entry, group, ptx).values());
  }
  write_head(entry, values, ptx);
  for (std::size_t g = 0; g < entry.groups.size(); ++g) {
    const bool is_last = g + 1 == entry.groups.size();
    if (g != 0) ptx.label(text("group_", g));
    if (!is_last) {
      ptx.line("setp.ne.u32 is_other, row_group, ", g);
      ptx.line("@is_other bra group_", g + 1);
    }
    PtxGroup(entry, entry.groups[g], ptx).write();
    if (!is_last) ptx.line("bra done");
  }
  return text("\n", headings, ptx.close());
}

}  // namespace calpe::emit
