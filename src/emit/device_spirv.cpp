// SPDX-License-Identifier: Apache-2.0
// Device kernels in SPIR-V, written directly. The arguments are push constants. Every value has one
// result: drivers' compilers choose the registers.
#include "emit/device_walk.hpp"
#include "emit/spirv_arguments.hpp"
#include "emit/spirv_lines.hpp"

namespace calpe::emit {

namespace {

class SpirvKernel final : public DeviceWalk {
 public:
  SpirvKernel(SpirvModule& module, const DeviceEntry& entry)
      : DeviceWalk(entry, entry.group.program.inputs()),
        module_(module),
        lines_(module, entry.form.word_bytes, entry.form.reduction),
        values_(entry.group.program.values()),
        addresses_(entry.shape.input_shards) {}

  void write() {
    module_.open(entry().name, entry().form.group_items);
    write_head();
    walk();
    module_.close();
  }

 private:
  void write_head() {
    const DeviceShape& shape = entry().shape;
    const SpirvId x = lines_.item_at();
    lines_.return_if(lines_.is(SpirvOp::u_greater_than_equal, x,
                               module_.parameter(spirv_argument::column_bytes)));
    const SpirvId y = lines_.widen(module_.built_in(SpirvBuiltIn::workgroup_id, 1));
    const SpirvId group_at = lines_.multiply(y, module_.parameter(spirv_argument::group_stride));
    SpirvId at = lines_.add(module_.parameter(spirv_argument::first), group_at);
    at = lines_.add(at, x);
    const SpirvId z = lines_.widen(module_.built_in(SpirvBuiltIn::workgroup_id, 2));
    const SpirvId stripe_at = lines_.multiply(
        z, lines_.number64(8 * (std::uint64_t{shape.input_shards} + shape.output_shards)));
    table_ = lines_.add(module_.parameter(spirv_argument::shards), stripe_at);
    n_at_ = lines_.add(module_.parameter(spirv_argument::n_base), at);
    r_at_ = lines_.add(module_.parameter(spirv_argument::r_base), at);
    if (shape.unit_count > 1 && entry().form.unit_stride == 0)
      stride_ = module_.parameter(spirv_argument::unit_stride);
  }

  SpirvId shard_at(SpirvId side, std::uint32_t number) {
    const SpirvId place = lines_.add(table_, lines_.number64(8 * std::uint64_t{number}));
    return lines_.add(lines_.load_number(place, 64), side);
  }

  SpirvId unit_at(SpirvId shard, std::uint32_t unit) {
    if (unit == 0) return shard;
    if (entry().form.unit_stride != 0)
      return lines_.add(shard, lines_.number64(unit * entry().form.unit_stride));
    return lines_.add(shard, lines_.multiply(stride_, lines_.number64(unit)));
  }

  void open_input(std::uint32_t shard) override { addresses_[shard] = shard_at(n_at_, shard); }

  void load(ir::Value input) override {
    const std::uint32_t units = entry().shape.unit_count;
    values_[input] = lines_.load(unit_at(addresses_[input / units], input % units));
  }

  void add_up(const ir::Instruction& instruction) override {
    SpirvId sum = 0;
    for (const ir::Term& term : program().terms(instruction))
      sum = sum == 0 ? values_[term.value] : lines_.xor_of(sum, values_[term.value]);
    values_[instruction.target] = sum == 0 ? lines_.each(0) : sum;
  }

  void store(std::uint32_t shard, std::uint32_t unit, SpirvId word) {
    if (shard != open_output_) {
      output_at_ = shard_at(r_at_, entry().shape.input_shards + shard);
      open_output_ = shard;
    }
    const SpirvId address = unit_at(output_at_, unit);
    if (entry().form.accumulate) word = lines_.xor_of(lines_.load(address), word);
    lines_.store(address, word);
  }

  void put_unit(std::uint32_t output) override {
    const std::uint32_t units = entry().shape.unit_count;
    const std::uint32_t unit = entry().group.first_output + output;
    store(unit / units, unit % units, values_[program().output(output)]);
  }

  void put_shard(std::uint32_t shard) override {
    SpirvId sum = 0;
    for (unsigned b = planes_per_byte; b-- > 0;) {
      const ir::Value plane = program().output(shard * planes_per_byte + b);
      if (sum != 0) sum = lines_.twice(sum);
      if (is_zero(plane)) continue;
      sum = sum == 0 ? values_[plane] : lines_.xor_of(sum, values_[plane]);
    }
    store(entry().group.first_output + shard, 0, sum == 0 ? lines_.each(0) : sum);
  }

  SpirvModule& module_;
  SpirvLines lines_;
  std::vector<SpirvId> values_;     // by value
  std::vector<SpirvId> addresses_;  // by input shard
  SpirvId table_ = 0;
  SpirvId n_at_ = 0;
  SpirvId r_at_ = 0;
  SpirvId stride_ = 0;
  SpirvId output_at_ = 0;
  std::uint32_t open_output_ = UINT32_MAX;
};

}  // namespace

std::string spirv_kernels(std::span<const DeviceEntry> entries) {
  SpirvModule module(spirv_argument::count_of_kernels);
  for (const DeviceEntry& entry : entries)
    SpirvKernel(module, entry).write();
  return module.bytes();
}

}  // namespace calpe::emit
