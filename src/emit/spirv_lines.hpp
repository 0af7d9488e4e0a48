// SPDX-License-Identifier: Apache-2.0
// Building blocks of SPIR-V kernels. A word of 16 bytes is a vector of four numbers; a word of one
// byte is the low byte of a number, whose other bytes are zero.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "emit/spirv_module.hpp"

namespace calpe::emit {

class SpirvLines {
 public:
  // Both must outlive it. `reduction`: of the field, see DeviceForm.
  SpirvLines(SpirvModule& module, std::size_t word_bytes, unsigned reduction = 0x1D)
      : module_(module), word_bytes_(word_bytes), reduction_(reduction) {}

  std::size_t word_bytes() const noexcept { return word_bytes_; }
  SpirvId word_type();
  SpirvId each(std::uint32_t value);  // a constant: the number in every number of a word

  // In 64 bits.
  SpirvId widen(SpirvId number);
  SpirvId add(SpirvId a, SpirvId b);
  SpirvId multiply(SpirvId a, SpirvId b);
  SpirvId halved(SpirvId number);
  SpirvId number64(std::uint64_t value) { return module_.constant64(value); }
  // In 32 bits: the parameter's low half.
  SpirvId parameter32(std::uint32_t index);
  SpirvId number_op(SpirvOp op, SpirvId a, SpirvId b);
  SpirvId is(SpirvOp comparison, SpirvId a, SpirvId b);

  // This work-group's row group, and the number of this work-item's word: see device_kernel.hpp.
  std::pair<SpirvId, SpirvId> split_group(SpirvId row_groups, std::uint32_t group_items);
  // The byte of a unit at which this work-item's word starts, in 64 bits.
  SpirvId item_at(SpirvId item);
  void return_if(SpirvId condition);
  // if (condition) { body(); return; }
  void leave_if(SpirvId condition, const std::function<void()>& body);

  SpirvId load_number(SpirvId address, std::uint32_t bits);
  SpirvId load(SpirvId address);
  void store(SpirvId address, SpirvId word);
  SpirvId word_op(SpirvOp op, SpirvId a, SpirvId b);
  SpirvId xor_of(SpirvId a, SpirvId b) { return word_op(SpirvOp::bitwise_xor, a, b); }
  SpirvId twice(SpirvId word);  // every byte times x in the field

  // Sliced: eight numbers at `address` and `middle` bytes further.
  using Slices = std::array<SpirvId, 8>;
  Slices load_halves(SpirvId address, SpirvId middle);
  void store_halves(SpirvId address, SpirvId middle, const Slices& numbers);
  Slices exchange_bits(Slices numbers);

 private:
  SpirvId load_four(SpirvId address);
  SpirvId memory_type();
  SpirvId pointer_at(SpirvId address, SpirvId type);

  SpirvModule& module_;
  std::size_t word_bytes_;
  unsigned reduction_;
};

}  // namespace calpe::emit
