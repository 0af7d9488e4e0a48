// SPDX-License-Identifier: Apache-2.0
// Device kernels in PTX, written directly (see emit_ptx.cpp). The order of the source code
// determines register use: ptxas mostly keeps it.
#include "base/text.hpp"
#include "emit/device_walk.hpp"
#include "emit/ptx_lines.hpp"

namespace calpe::emit {

namespace {

class PtxKernel final : public DeviceWalk {
 public:
  explicit PtxKernel(const DeviceEntry& entry)
      : DeviceWalk(entry, entry.group.program.inputs()), ptx_(entry.form) {}

  std::string write() {
    write_head();
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
    return text("\n", heading(program(), ""), ptx_.close());
  }

 private:
  bool is_lane_by_lane() const {
    return ptx_.lanes() > 1 && entry().style == DeviceStyle::planes &&
           program().inputs() <= planes_inputs_held_max;
  }

  void write_head() {
    const DeviceShape& shape = entry().shape;
    ptx_.open(entry().name, "", result(program().outputs() / planes_per_byte));
    ptx_.line(".reg .b64 n<", shape.input_shards, ">, n_at, r_at, table, stride");
    ptx_.line("@is_outside bra done");
    ptx_.line("ld.param.u64 table, [shards]");
    ptx_.line("mov.u32 block, %ctaid.z");
    ptx_.line("mul.wide.u32 x, block, ", 8 * (shape.input_shards + shape.output_shards));
    ptx_.line("add.u64 table, table, x");
    for (const std::string_view side : {"n", "r"}) {
      ptx_.line("ld.param.u64 ", side, "_at, [", side, "_base]");
      ptx_.line("add.u64 ", side, "_at, ", side, "_at, at");
    }
    if (shape.unit_count > 1 && entry().form.unit_stride == 0)
      ptx_.line("ld.param.u64 stride, [unit_stride]");
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

  void store(std::uint32_t shard, std::uint32_t unit, ir::Value value) {
    const std::uint32_t units = entry().shape.unit_count;
    if (shard != open_output_) {
      ptx_.line("ld.global.nc.u64 x, [table+", 8 * (entry().shape.input_shards + shard), "]");
      ptx_.line("add.u64 x, x, r_at");
    }
    open_output_ = shard;
    const std::string address = unit_address("x", units == 1 ? 0 : unit);
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
    const std::uint32_t unit = entry().group.first_output + output;
    store(unit / units, unit % units, program().output(output));
  }

  // Registers after those of the program: old memory contents, and shards made of planes.
  ir::Value old_value() const { return program().values(); }
  ir::Value result(std::uint32_t shard) const { return program().values() + 1 + shard; }

  void put_shard(std::uint32_t shard) override {
    for (unsigned lane = first_lane_; lane < end_lane_; ++lane)
      add_planes(shard, lane);
    if (end_lane_ == ptx_.lanes()) store(entry().group.first_output + shard, 0, result(shard));
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

  PtxLines ptx_;
  unsigned first_lane_ = 0;
  unsigned end_lane_ = 0;
  std::uint32_t open_output_ = UINT32_MAX;
};

}  // namespace

std::string ptx_prelude() {
  return ".version 6.0\n.target sm_50\n.address_size 64\n";
}

std::string ptx_kernel(const DeviceEntry& entry) {
  return PtxKernel(entry).write();
}

}  // namespace calpe::emit
