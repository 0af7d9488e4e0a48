// SPDX-License-Identifier: Apache-2.0
#include "emit/spirv_lines.hpp"

#include <bit>

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

SpirvId SpirvLines::item_at() {
  const SpirvId item = widen(module_.built_in(SpirvBuiltIn::global_invocation_id, 0));
  if (word_bytes_ == 1) return item;
  const auto shift = static_cast<std::uint32_t>(std::countr_zero(word_bytes_));
  return module_.result(SpirvOp::shift_left_logical, module_.type_of_bits(64),
                        {item, module_.constant(shift)});
}

void SpirvLines::return_if(SpirvId condition) {
  const SpirvId leave = module_.make_id();
  const SpirvId stay = module_.make_id();
  module_.op(SpirvOp::selection_merge, {stay, 0});
  module_.op(SpirvOp::branch_conditional, {condition, leave, stay});
  module_.op(SpirvOp::label, {leave});
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

}  // namespace calpe::emit
