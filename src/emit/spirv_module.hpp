// SPDX-License-Identifier: Apache-2.0
// A SPIR-V 1.5 module under construction: compute kernels that address memory with 64-bit numbers
// (physical storage buffers) and take 64-bit push constants. Results have numbers; types and
// constants exist once.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace calpe::emit {

using SpirvId = std::uint32_t;

// Values of the specification.
enum class SpirvOp : std::uint16_t {
  memory_model = 14,
  entry_point = 15,
  execution_mode = 16,
  capability = 17,
  type_void = 19,
  type_bool = 20,
  type_int = 21,
  type_vector = 23,
  type_array = 28,
  type_struct = 30,
  type_pointer = 32,
  type_function = 33,
  constant = 43,
  constant_composite = 44,
  function = 54,
  function_end = 56,
  variable = 59,
  load = 61,
  store = 62,
  access_chain = 65,
  decorate = 71,
  member_decorate = 72,
  composite_construct = 80,
  composite_extract = 81,
  u_convert = 113,
  convert_u_to_ptr = 120,
  i_add = 128,
  i_sub = 130,
  i_mul = 132,
  u_div = 134,
  select = 169,
  i_equal = 170,
  i_not_equal = 171,
  u_greater_than = 172,
  u_greater_than_equal = 174,
  u_less_than = 176,
  shift_right_logical = 194,
  shift_left_logical = 196,
  bitwise_or = 197,
  bitwise_xor = 198,
  bitwise_and = 199,
  bit_field_s_extract = 202,
  control_barrier = 224,
  loop_merge = 246,
  selection_merge = 247,
  label = 248,
  branch = 249,
  branch_conditional = 250,
  return_ = 253,
};

enum class SpirvStorage : std::uint32_t {
  input = 1,
  workgroup = 4,
  function = 7,
  push_constant = 9,
  physical_buffer = 5349,
};

enum class SpirvBuiltIn : std::uint32_t {
  workgroup_id = 26,
  local_invocation_id = 27,
  global_invocation_id = 28,
};

class SpirvModule {
 public:
  // Kernels have this many push constants.
  explicit SpirvModule(std::size_t parameters);

  SpirvId make_id() { return next_++; }

  SpirvId type_of_bits(std::uint32_t bits);  // an unsigned number of 8, 32 or 64 bits
  SpirvId type_of_four();                    // four numbers of 32 bits
  SpirvId bool_type() { return type(SpirvOp::type_bool, {}); }
  SpirvId pointer_type(SpirvStorage storage, SpirvId pointee);
  SpirvId constant(std::uint32_t value);
  SpirvId constant64(std::uint64_t value);
  SpirvId constant_four(std::uint32_t value);      // in each of four
  SpirvId workgroup_array(std::uint32_t numbers);  // a variable, of 32-bit numbers

  // Instructions of the kernel that is open.
  void open(std::string_view name, std::uint32_t group_items);
  void close();
  void op(SpirvOp op, std::initializer_list<std::uint32_t> operands);
  SpirvId result(SpirvOp op, SpirvId type, std::initializer_list<std::uint32_t> operands);
  SpirvId function_variable(SpirvId type);                        // before any other instruction
  SpirvId parameter(std::uint32_t index);                         // a push constant
  SpirvId built_in(SpirvBuiltIn which, std::uint32_t dimension);  // 32 bits

  // The module in little-endian words; nothing may be open.
  std::string bytes() const;

 private:
  using Words = std::vector<std::uint32_t>;
  static void put(Words& to, SpirvOp op, std::span<const std::uint32_t> operands);
  static void put(Words& to, SpirvOp op, std::initializer_list<std::uint32_t> operands) {
    put(to, op, std::span(operands.begin(), operands.size()));
  }
  SpirvId type(SpirvOp op, std::initializer_list<std::uint32_t> operands);
  SpirvId typed_constant(SpirvOp op, SpirvId type, std::initializer_list<std::uint32_t> operands);
  SpirvId once(SpirvOp op, const Words& operands, std::size_t result_at);
  SpirvId global_variable(SpirvStorage storage, SpirvId pointee);

  SpirvId next_ = 1;
  std::map<std::pair<SpirvOp, Words>, SpirvId> known_;  // types and constants
  std::map<SpirvBuiltIn, SpirvId> built_ins_;
  Words interface_;  // global variables; every entry lists all of them
  struct Entry {
    SpirvId function = 0;
    std::string name;
    std::uint32_t group_items = 0;
  };
  std::vector<Entry> entries_;
  SpirvId push_constants_ = 0;
  Words decorations_;
  Words globals_;
  Words functions_;
};

}  // namespace calpe::emit
