// SPDX-License-Identifier: Apache-2.0
// The table kernel in SPIR-V: 32 sums in variables, which drivers' compilers keep in registers, and
// for every input word 32 bits that select the sums it is added to.
#include <array>
#include <functional>
#include <tuple>

#include "emit/device_walk.hpp"
#include "emit/spirv_arguments.hpp"
#include "emit/spirv_lines.hpp"

namespace calpe::emit {

namespace {

class SpirvTable {
 public:
  SpirvTable(TableStyle style, const DeviceForm& form)
      : style_(style),
        form_(form),
        module_(spirv_argument::count_of_tables),
        lines_(module_, form.word_bytes, form.reduction) {}

  std::string write(std::string_view name) {
    number_ = module_.type_of_bits(32);
    rows_ = module_.workgroup_array(table_inputs_max);
    module_.open(name, form_.group_items);
    for (SpirvId& sum : sums_)
      sum = module_.function_variable(lines_.word_type());
    column_ = module_.function_variable(number_);
    shard_ = module_.function_variable(number_);
    unit_ = module_.function_variable(number_);
    address_ = module_.function_variable(module_.type_of_bits(64));
    write_head();
    write_sums();
    write_outputs();
    module_.close();
    return module_.bytes();
  }

 private:
  // The kernel's variables.
  SpirvId get(SpirvId variable) { return module_.result(SpirvOp::load, number_, {variable}); }
  SpirvId get_address() {
    return module_.result(SpirvOp::load, module_.type_of_bits(64), {address_});
  }
  SpirvId get_sum(std::size_t r) {
    return module_.result(SpirvOp::load, lines_.word_type(), {sums_[r]});
  }
  void set(SpirvId variable, SpirvId value) { module_.op(SpirvOp::store, {variable, value}); }
  void increase(SpirvId variable, std::uint32_t step) {
    set(variable, lines_.number_op(SpirvOp::i_add, get(variable), module_.constant(step)));
  }
  SpirvId row_at(SpirvId column) {
    return module_.result(SpirvOp::access_chain,
                          module_.pointer_type(SpirvStorage::workgroup, number_), {rows_, column});
  }

  // while (variable < end) { body(); variable += step; }
  void loop(SpirvId variable, SpirvId end, std::uint32_t step, const std::function<void()>& body) {
    std::array<SpirvId, 5> labels = {};
    for (SpirvId& label : labels)
      label = module_.make_id();
    const auto [head, test, inside, next, after] = labels;
    module_.op(SpirvOp::branch, {head});
    module_.op(SpirvOp::label, {head});
    module_.op(SpirvOp::loop_merge, {after, next, 0});
    module_.op(SpirvOp::branch, {test});
    module_.op(SpirvOp::label, {test});
    const SpirvId goes_on = lines_.is(SpirvOp::u_less_than, get(variable), end);
    module_.op(SpirvOp::branch_conditional, {goes_on, inside, after});
    module_.op(SpirvOp::label, {inside});
    body();
    module_.op(SpirvOp::branch, {next});
    module_.op(SpirvOp::label, {next});
    increase(variable, step);
    module_.op(SpirvOp::branch, {head});
    module_.op(SpirvOp::label, {after});
  }

  void if_then(SpirvId condition, const std::function<void()>& body) {
    const SpirvId inside = module_.make_id();
    const SpirvId after = module_.make_id();
    module_.op(SpirvOp::selection_merge, {after, 0});
    module_.op(SpirvOp::branch_conditional, {condition, inside, after});
    module_.op(SpirvOp::label, {inside});
    body();
    module_.op(SpirvOp::branch, {after});
    module_.op(SpirvOp::label, {after});
  }

  // Copies the row group's bits: work-item i copies words i, i + group_items, ...
  void write_head() {
    inputs_ = lines_.parameter32(spirv_argument::input_shards);
    outputs_ = lines_.parameter32(spirv_argument::output_shards);
    units_ = lines_.parameter32(spirv_argument::unit_count);
    SpirvId item = 0;
    std::tie(group_, item) =
        lines_.split_group(lines_.parameter32(spirv_argument::row_groups), form_.group_items);
    stride_ = module_.parameter(spirv_argument::unit_stride);
    const SpirvId columns = lines_.number_op(SpirvOp::i_mul, inputs_, units_);
    const SpirvId skipped = lines_.multiply(lines_.widen(group_), lines_.widen(columns));
    const SpirvId bits = lines_.add(module_.parameter(spirv_argument::bits),
                                    lines_.multiply(skipped, lines_.number64(4)));
    set(column_, module_.built_in(SpirvBuiltIn::local_invocation_id, 0));
    loop(column_, columns, form_.group_items, [&] {
      const SpirvId column = get(column_);
      const SpirvId from =
          lines_.add(bits, lines_.multiply(lines_.widen(column), lines_.number64(4)));
      set(row_at(column), lines_.load_number(from, 32));
    });
    constexpr std::uint32_t workgroup = 2;
    constexpr std::uint32_t acquire_release_of_workgroup = 0x108;
    module_.op(SpirvOp::control_barrier, {module_.constant(workgroup), module_.constant(workgroup),
                                          module_.constant(acquire_release_of_workgroup)});
    const SpirvId x = lines_.item_at(item);
    lines_.return_if(lines_.is(SpirvOp::u_greater_than_equal, x,
                               module_.parameter(spirv_argument::column_bytes)));
    const SpirvId y = lines_.widen(module_.built_in(SpirvBuiltIn::workgroup_id, 1));
    const SpirvId group_at = lines_.multiply(y, module_.parameter(spirv_argument::group_stride));
    at_ = lines_.add(lines_.add(module_.parameter(spirv_argument::first), group_at), x);
    const SpirvId shards = lines_.number_op(SpirvOp::i_add, inputs_, outputs_);
    const SpirvId z = lines_.widen(module_.built_in(SpirvBuiltIn::workgroup_id, 2));
    const SpirvId entries = lines_.multiply(z, lines_.widen(shards));
    table_ = lines_.add(module_.parameter(spirv_argument::shards),
                        lines_.multiply(entries, lines_.number64(8)));
  }

  SpirvId shard_at(std::uint32_t base, SpirvId number) {
    const SpirvId place =
        lines_.add(table_, lines_.multiply(lines_.widen(number), lines_.number64(8)));
    const SpirvId start = lines_.add(module_.parameter(base), at_);
    return lines_.add(lines_.load_number(place, 64), start);
  }

  void write_sums() {
    for (const SpirvId sum : sums_)
      set(sum, lines_.each(0));
    set(column_, module_.constant(0));
    set(shard_, module_.constant(0));
    loop(shard_, inputs_, 1, [&] {
      set(address_, shard_at(spirv_argument::n_base, get(shard_)));
      set(unit_, module_.constant(0));
      loop(unit_, units_, 1, [&] { add_unit(); });
    });
  }

  void add_unit() {
    const SpirvId word = lines_.load(get_address());
    const SpirvId row = get(row_at(get(column_)));
    for (std::uint32_t r = 0; r < table_rows; ++r) {
      // All ones or none.
      SpirvId mask = module_.result(SpirvOp::bit_field_s_extract, number_,
                                    {row, module_.constant(r), module_.constant(1)});
      if (form_.word_bytes == 16) {
        mask = module_.result(SpirvOp::composite_construct, lines_.word_type(),
                              {mask, mask, mask, mask});
      }
      set(sums_[r], lines_.xor_of(get_sum(r), lines_.word_op(SpirvOp::bitwise_and, word, mask)));
    }
    increase(column_, 1);
    set(address_, lines_.add(get_address(), stride_));
  }

  void write_outputs() {
    const bool is_planes = style_ == TableStyle::planes;
    const std::uint32_t count = is_planes ? table_rows / planes_per_byte : table_rows;
    const SpirvId all = lines_.number_op(SpirvOp::i_mul, outputs_, units_);
    const SpirvId first = lines_.number_op(SpirvOp::i_mul, group_, module_.constant(count));
    const SpirvId added = module_.parameter(spirv_argument::accumulate);
    const SpirvId is_added = lines_.is(SpirvOp::i_not_equal, added, lines_.number64(0));
    for (std::uint32_t i = 0; i < count; ++i) {
      const SpirvId number = lines_.number_op(SpirvOp::i_add, first, module_.constant(i));
      lines_.return_if(lines_.is(SpirvOp::u_greater_than_equal, number, all));
      const std::size_t sum = is_planes ? add_planes(i) : i;
      const SpirvId shard = lines_.number_op(SpirvOp::u_div, number, units_);
      const SpirvId skipped = lines_.number_op(SpirvOp::i_mul, shard, units_);
      const SpirvId unit = lines_.number_op(SpirvOp::i_sub, number, skipped);
      const SpirvId entry = lines_.number_op(SpirvOp::i_add, inputs_, shard);
      const SpirvId address = lines_.add(shard_at(spirv_argument::r_base, entry),
                                         lines_.multiply(lines_.widen(unit), stride_));
      if_then(is_added,
              [&] { set(sums_[sum], lines_.xor_of(get_sum(sum), lines_.load(address))); });
      lines_.store(address, get_sum(sum));
    }
  }

  // Adds the planes of an output up in the last of their sums, and returns its number.
  std::size_t add_planes(std::size_t i) {
    const std::size_t top = (i + 1) * planes_per_byte - 1;
    SpirvId sum = get_sum(top);
    for (unsigned b = planes_per_byte - 1; b-- > 0;)
      sum = lines_.xor_of(lines_.twice(sum), get_sum(i * planes_per_byte + b));
    set(sums_[top], sum);
    return top;
  }

  TableStyle style_;
  const DeviceForm& form_;
  SpirvModule module_;
  SpirvLines lines_;
  SpirvId number_ = 0;                         // type
  SpirvId rows_ = 0;                           // bits of the row group
  std::array<SpirvId, table_rows> sums_ = {};  // variables, as the next four
  SpirvId column_ = 0;
  SpirvId shard_ = 0;
  SpirvId unit_ = 0;
  SpirvId address_ = 0;
  SpirvId inputs_ = 0;
  SpirvId outputs_ = 0;
  SpirvId units_ = 0;
  SpirvId group_ = 0;
  SpirvId stride_ = 0;
  SpirvId at_ = 0;
  SpirvId table_ = 0;
};

}  // namespace

std::string spirv_table(TableStyle style, const DeviceForm& form, std::string_view name) {
  return SpirvTable(style, form).write(name);
}

}  // namespace calpe::emit
