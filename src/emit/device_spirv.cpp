// SPDX-License-Identifier: Apache-2.0
// Device kernels in SPIR-V, written directly. The arguments are push constants. Every value has one
// result: drivers' compilers choose the registers.
#include <algorithm>
#include <tuple>

#include "emit/device_walk.hpp"
#include "emit/spirv_arguments.hpp"
#include "emit/spirv_lines.hpp"

namespace calpe::emit {

namespace {

// Values that all row groups of a kernel need.
struct SpirvHead {
  SpirvId table = 0;
  SpirvId n_at = 0;
  SpirvId r_at = 0;
  SpirvId stride = 0;
  SpirvId middle = 0;     // sliced: half of the columns
  SpirvId row_group = 0;  // if there are several
};

class SpirvGroup final : public DeviceWalk {
 public:
  SpirvGroup(const DeviceEntry& entry, const RowGroup& group, SpirvLines& lines,
             const SpirvHead& head)
      : DeviceWalk(entry, group, group.program.inputs()),
        lines_(lines),
        head_(head),
        values_(group.program.values()),
        addresses_(entry.shape.input_shards) {}

  void write() { walk(); }

 private:
  SpirvId shard_at(SpirvId side, std::uint32_t number) {
    const SpirvId place = lines_.add(head_.table, lines_.number64(8 * std::uint64_t{number}));
    return lines_.add(lines_.load_number(place, 64), side);
  }

  SpirvId unit_at(SpirvId shard, std::uint32_t unit) {
    if (unit == 0) return shard;
    if (entry().form.unit_stride != 0)
      return lines_.add(shard, lines_.number64(unit * entry().form.unit_stride));
    return lines_.add(shard, lines_.multiply(head_.stride, lines_.number64(unit)));
  }

  void open_input(std::uint32_t shard) override { addresses_[shard] = shard_at(head_.n_at, shard); }

  void load(ir::Value input) override {
    if (entry().style == DeviceStyle::sliced) {
      const auto numbers = lines_.exchange_bits(
          lines_.load_halves(addresses_[input / planes_per_byte], head_.middle));
      const auto first = static_cast<std::ptrdiff_t>(input / planes_per_byte * planes_per_byte);
      std::ranges::copy(numbers, values_.begin() + first);
      return;
    }
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
      output_at_ = shard_at(head_.r_at, entry().shape.input_shards + shard);
      open_output_ = shard;
    }
    const SpirvId address = unit_at(output_at_, unit);
    if (entry().form.accumulate) word = lines_.xor_of(lines_.load(address), word);
    lines_.store(address, word);
  }

  void put_unit(std::uint32_t output) override {
    const std::uint32_t units = entry().shape.unit_count;
    const std::uint32_t unit = group().first_output + output;
    store(unit / units, unit % units, values_[program().output(output)]);
  }

  void store_slices(std::uint32_t shard) {
    SpirvLines::Slices numbers = {};
    for (std::uint32_t b = 0; b < planes_per_byte; ++b)
      numbers[b] = values_[program().output(shard * planes_per_byte + b)];
    numbers = lines_.exchange_bits(numbers);
    const std::uint32_t number = entry().shape.input_shards + group().first_output + shard;
    const SpirvId address = shard_at(head_.r_at, number);
    if (entry().form.accumulate) {
      const SpirvLines::Slices old = lines_.load_halves(address, head_.middle);
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = lines_.xor_of(old[i], numbers[i]);
    }
    lines_.store_halves(address, head_.middle, numbers);
  }

  void put_shard(std::uint32_t shard) override {
    if (entry().style == DeviceStyle::sliced) return store_slices(shard);
    SpirvId sum = 0;
    for (unsigned b = planes_per_byte; b-- > 0;) {
      const ir::Value plane = program().output(shard * planes_per_byte + b);
      if (sum != 0) sum = lines_.twice(sum);
      if (is_zero(plane)) continue;
      sum = sum == 0 ? values_[plane] : lines_.xor_of(sum, values_[plane]);
    }
    store(group().first_output + shard, 0, sum == 0 ? lines_.each(0) : sum);
  }

  SpirvLines& lines_;
  const SpirvHead& head_;
  std::vector<SpirvId> values_;     // by value
  std::vector<SpirvId> addresses_;  // by input shard
  SpirvId output_at_ = 0;
  std::uint32_t open_output_ = UINT32_MAX;
};

SpirvHead write_head(const DeviceEntry& entry, SpirvModule& module, SpirvLines& lines) {
  const DeviceShape& shape = entry.shape;
  SpirvHead head;
  SpirvId item = module.built_in(SpirvBuiltIn::global_invocation_id, 0);
  if (entry.groups.size() > 1) {
    const SpirvId count = module.constant(static_cast<std::uint32_t>(entry.groups.size()));
    std::tie(head.row_group, item) = lines.split_group(count, entry.form.group_items);
  }
  const SpirvId x = lines.item_at(item);
  SpirvId end = module.parameter(spirv_argument::column_bytes);
  if (entry.style == DeviceStyle::sliced) end = head.middle = lines.halved(end);
  lines.return_if(lines.is(SpirvOp::u_greater_than_equal, x, end));
  const SpirvId y = lines.widen(module.built_in(SpirvBuiltIn::workgroup_id, 1));
  const SpirvId group_at = lines.multiply(y, module.parameter(spirv_argument::group_stride));
  SpirvId at = lines.add(module.parameter(spirv_argument::first), group_at);
  at = lines.add(at, x);
  const SpirvId z = lines.widen(module.built_in(SpirvBuiltIn::workgroup_id, 2));
  const SpirvId stripe_at = lines.multiply(
      z, lines.number64(8 * (std::uint64_t{shape.input_shards} + shape.output_shards)));
  head.table = lines.add(module.parameter(spirv_argument::shards), stripe_at);
  head.n_at = lines.add(module.parameter(spirv_argument::n_base), at);
  head.r_at = lines.add(module.parameter(spirv_argument::r_base), at);
  if (shape.unit_count > 1 && entry.form.unit_stride == 0)
    head.stride = module.parameter(spirv_argument::unit_stride);
  return head;
}

}  // namespace

std::string spirv_kernel(const DeviceEntry& entry) {
  SpirvModule module(spirv_argument::count_of_kernels);
  SpirvLines lines(module, entry.form.word_bytes, entry.form.reduction);
  module.open(entry.name, entry.form.group_items);
  const SpirvHead head = write_head(entry, module, lines);
  for (std::uint32_t g = 0; g < entry.groups.size(); ++g) {
    const auto write = [&] { SpirvGroup(entry, entry.groups[g], lines, head).write(); };
    if (g + 1 == entry.groups.size()) {
      write();
    } else {
      lines.leave_if(lines.is(SpirvOp::i_equal, head.row_group, module.constant(g)), write);
    }
  }
  module.close();
  return module.bytes();
}

}  // namespace calpe::emit
