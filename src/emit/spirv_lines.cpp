// SPDX-License-Identifier: Apache-2.0
#include "emit/spirv_lines.hpp"

#include <bit>

#include "emit/device_walk.hpp"

namespace calpe::emit {

namespace {

constexpr std::uint32_t aligned = 2;  // memory operand

}  // namespace

SpirvId SpirvLines::word_type() {
  return word_bytes_ == 16 ? module_.type_of_four() : module_.type_of_bits(32);
}

SpirvId SpirvLines::memory_type() {
  return word_bytes_ == 1 ? module_.type_of_bits(8) : word_type();
}

SpirvId SpirvLines::each(std::uint32_t value) {
  return word_bytes_ == 16 ? module_.constant_four(value) : module_.constant(value);
}

SpirvId SpirvLines::widen(SpirvId number) {
  return module_.result(SpirvOp::u_convert, module_.type_of_bits(64), {number});
}

SpirvId SpirvLines::add(SpirvId a, SpirvId b) {
  return module_.result(SpirvOp::i_add, module_.type_of_bits(64), {a, b});
}

SpirvId SpirvLines::multiply(SpirvId a, SpirvId b) {
  return module_.result(SpirvOp::i_mul, module_.type_of_bits(64), {a, b});
}

SpirvId SpirvLines::halved(SpirvId number) {
  return module_.result(SpirvOp::shift_right_logical, module_.type_of_bits(64),
                        {number, module_.constant(1)});
}

SpirvId SpirvLines::parameter32(std::uint32_t index) {
  const SpirvId whole = module_.parameter(index);
  return module_.result(SpirvOp::u_convert, module_.type_of_bits(32), {whole});
}

SpirvId SpirvLines::number_op(SpirvOp op, SpirvId a, SpirvId b) {
  return module_.result(op, module_.type_of_bits(32), {a, b});
}

SpirvId SpirvLines::is(SpirvOp comparison, SpirvId a, SpirvId b) {
  return module_.result(comparison, module_.bool_type(), {a, b});
}

std::pair<SpirvId, SpirvId> SpirvLines::split_group(SpirvId row_groups, std::uint32_t group_items) {
  const SpirvId group = module_.built_in(SpirvBuiltIn::workgroup_id, 0);
  const SpirvId words = number_op(SpirvOp::u_div, group, row_groups);
  const SpirvId whole = number_op(SpirvOp::i_mul, words, row_groups);
  const SpirvId first = number_op(SpirvOp::i_mul, words, module_.constant(group_items));
  const SpirvId lane = module_.built_in(SpirvBuiltIn::local_invocation_id, 0);
  return {number_op(SpirvOp::i_sub, group, whole), number_op(SpirvOp::i_add, first, lane)};
}

SpirvId SpirvLines::item_at(SpirvId number) {
  const SpirvId item = widen(number);
  if (word_bytes_ == 1) return item;
  const std::size_t bytes = word_bytes_ == sliced_word_bytes ? word_bytes_ / 2 : word_bytes_;
  const auto shift = static_cast<std::uint32_t>(std::countr_zero(bytes));
  return module_.result(SpirvOp::shift_left_logical, module_.type_of_bits(64),
                        {item, module_.constant(shift)});
}

void SpirvLines::return_if(SpirvId condition) {
  leave_if(condition, [] {});
}

void SpirvLines::leave_if(SpirvId condition, const std::function<void()>& body) {
  const SpirvId leave = module_.make_id();
  const SpirvId stay = module_.make_id();
  module_.op(SpirvOp::selection_merge, {stay, 0});
  module_.op(SpirvOp::branch_conditional, {condition, leave, stay});
  module_.op(SpirvOp::label, {leave});
  body();
  module_.op(SpirvOp::return_, {});
  module_.op(SpirvOp::label, {stay});
}

SpirvId SpirvLines::pointer_at(SpirvId address, SpirvId type) {
  return module_.result(SpirvOp::convert_u_to_ptr,
                        module_.pointer_type(SpirvStorage::physical_buffer, type), {address});
}

SpirvId SpirvLines::load_number(SpirvId address, std::uint32_t bits) {
  const SpirvId number = module_.type_of_bits(bits);
  return module_.result(SpirvOp::load, number, {pointer_at(address, number), aligned, bits / 8});
}

SpirvId SpirvLines::load(SpirvId address) {
  const SpirvId loaded = module_.result(
      SpirvOp::load, memory_type(),
      {pointer_at(address, memory_type()), aligned, static_cast<std::uint32_t>(word_bytes_)});
  if (word_bytes_ != 1) return loaded;
  return module_.result(SpirvOp::u_convert, word_type(), {loaded});
}

void SpirvLines::store(SpirvId address, SpirvId word) {
  const SpirvId stored =
      word_bytes_ == 1 ? module_.result(SpirvOp::u_convert, memory_type(), {word}) : word;
  const SpirvId pointer = pointer_at(address, memory_type());
  module_.op(SpirvOp::store, {pointer, stored, aligned, static_cast<std::uint32_t>(word_bytes_)});
}

SpirvId SpirvLines::word_op(SpirvOp op, SpirvId a, SpirvId b) {
  return module_.result(op, word_type(), {a, b});
}

// Where the top bit of a byte is set, its byte of `over` is 0x7f, or 0xff where the polynomial
// needs that.
SpirvId SpirvLines::twice(SpirvId word) {
  constexpr std::uint32_t bytes = 0x01010101U;
  const SpirvId top = word_op(SpirvOp::bitwise_and, word, each(0x80 * bytes));
  const SpirvId shifted = word_op(SpirvOp::shift_right_logical, top, each(7));
  SpirvId over = word_op(SpirvOp::i_sub, top, shifted);
  if (reduction_ >= 0x80) over = word_op(SpirvOp::bitwise_or, over, top);
  const SpirvId added = word_op(SpirvOp::bitwise_and, over, each(reduction_ * bytes));
  const SpirvId moved = word_op(SpirvOp::shift_left_logical, word, each(1));
  return xor_of(word_op(SpirvOp::bitwise_and, moved, each(0xFE * bytes)), added);
}

SpirvId SpirvLines::load_four(SpirvId address) {
  const SpirvId four = module_.type_of_four();
  return module_.result(SpirvOp::load, four, {pointer_at(address, four), aligned, 16});
}

SpirvLines::Slices SpirvLines::load_halves(SpirvId address, SpirvId middle) {
  const std::array halves = {load_four(address), load_four(add(address, middle))};
  Slices numbers = {};
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = module_.result(SpirvOp::composite_extract, module_.type_of_bits(32),
                                {halves[i / 4], i % 4});
  }
  return numbers;
}

void SpirvLines::store_halves(SpirvId address, SpirvId middle, const Slices& numbers) {
  const SpirvId four = module_.type_of_four();
  for (std::size_t i = 0; i < numbers.size(); i += 4) {
    const SpirvId value =
        module_.result(SpirvOp::composite_construct, four,
                       {numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
    const SpirvId pointer = pointer_at(i == 0 ? address : add(address, middle), four);
    module_.op(SpirvOp::store, {pointer, value, aligned, 16});
  }
}

SpirvLines::Slices SpirvLines::exchange_bits(Slices numbers) {
  for (const BitExchange& exchange : bit_exchanges()) {
    const SpirvId lower = module_.constant(exchange.lower);
    const SpirvId upper = module_.constant(~exchange.lower);
    const SpirvId shift = module_.constant(exchange.shift);
    SpirvId& first = numbers[exchange.first];
    SpirvId& second = numbers[exchange.second];
    const auto merge = [&](SpirvId low, SpirvId high) {
      return number_op(SpirvOp::bitwise_or, number_op(SpirvOp::bitwise_and, low, lower),
                       number_op(SpirvOp::bitwise_and, high, upper));
    };
    const SpirvId top = number_op(SpirvOp::shift_right_logical, first, shift);
    first = merge(first, number_op(SpirvOp::shift_left_logical, second, shift));
    second = merge(top, second);
  }
  return numbers;
}

}  // namespace calpe::emit
