// SPDX-License-Identifier: Apache-2.0
#include "emit/spirv_module.hpp"

#include <cstddef>

namespace calpe::emit {

namespace {

constexpr std::uint32_t magic = 0x07230203;
constexpr std::uint32_t version = 0x00010500;  // Vulkan 1.2 takes up to 1.5

// Capabilities: every GPU with 64-bit addresses of buffers has the first three. The last one allows
// loads and stores of bytes, but no arithmetic in them.
constexpr std::uint32_t shader = 1;
constexpr std::uint32_t int64 = 11;
constexpr std::uint32_t physical_storage_buffer_addresses = 5347;
constexpr std::uint32_t storage_buffer_8bit_access = 4448;

constexpr std::uint32_t physical_storage_buffer_64 = 5348;  // addressing model
constexpr std::uint32_t glsl450 = 1;                        // memory model
constexpr std::uint32_t gl_compute = 5;                     // execution model
constexpr std::uint32_t local_size = 17;                    // execution mode
constexpr std::uint32_t block = 2;                          // decorations
constexpr std::uint32_t built_in_decoration = 11;
constexpr std::uint32_t offset = 35;

// A text of bytes, ended by zero and padded to whole words.
std::vector<std::uint32_t> words_of(std::string_view name) {
  std::vector<std::uint32_t> words(name.size() / 4 + 1);
  for (std::size_t i = 0; i < name.size(); ++i)
    words[i / 4] |= std::uint32_t{static_cast<unsigned char>(name[i])} << (8 * (i % 4));
  return words;
}

}  // namespace

SpirvModule::SpirvModule(std::size_t parameters) {
  std::vector<std::uint32_t> members(parameters, type_of_bits(64));
  const SpirvId all = make_id();
  members.insert(members.begin(), all);
  put(globals_, SpirvOp::type_struct, members);
  put(decorations_, SpirvOp::decorate, {all, block});
  for (std::uint32_t i = 0; i < parameters; ++i)
    put(decorations_, SpirvOp::member_decorate, {all, i, offset, 8 * i});
  push_constants_ = global_variable(SpirvStorage::push_constant, all);
}

void SpirvModule::put(Words& to, SpirvOp op, std::span<const std::uint32_t> operands) {
  const auto length = static_cast<std::uint32_t>(operands.size() + 1);
  to.push_back(length << 16U | static_cast<std::uint32_t>(op));
  to.insert(to.end(), operands.begin(), operands.end());
}

// The result's number is inserted among the operands.
SpirvId SpirvModule::once(SpirvOp op, const Words& operands, std::size_t result_at) {
  SpirvId& found = known_[{op, operands}];
  if (found == 0) {
    found = make_id();
    Words all = operands;
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(result_at), found);
    put(globals_, op, all);
  }
  return found;
}

SpirvId SpirvModule::type(SpirvOp op, std::initializer_list<std::uint32_t> operands) {
  return once(op, operands, 0);
}

SpirvId SpirvModule::typed_constant(SpirvOp op, SpirvId type,
                                    std::initializer_list<std::uint32_t> operands) {
  Words all = {type};
  all.insert(all.end(), operands.begin(), operands.end());
  return once(op, all, 1);
}

SpirvId SpirvModule::type_of_bits(std::uint32_t bits) {
  return type(SpirvOp::type_int, {bits, 0});
}

SpirvId SpirvModule::type_of_four() {
  return type(SpirvOp::type_vector, {type_of_bits(32), 4});
}

SpirvId SpirvModule::pointer_type(SpirvStorage storage, SpirvId pointee) {
  return type(SpirvOp::type_pointer, {static_cast<std::uint32_t>(storage), pointee});
}

SpirvId SpirvModule::constant(std::uint32_t value) {
  return typed_constant(SpirvOp::constant, type_of_bits(32), {value});
}

SpirvId SpirvModule::constant64(std::uint64_t value) {
  return typed_constant(
      SpirvOp::constant, type_of_bits(64),
      {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32U)});
}

SpirvId SpirvModule::constant_four(std::uint32_t value) {
  const SpirvId one = constant(value);
  return typed_constant(SpirvOp::constant_composite, type_of_four(), {one, one, one, one});
}

SpirvId SpirvModule::global_variable(SpirvStorage storage, SpirvId pointee) {
  const SpirvId pointer = pointer_type(storage, pointee);
  const SpirvId made = make_id();
  put(globals_, SpirvOp::variable, {pointer, made, static_cast<std::uint32_t>(storage)});
  interface_.push_back(made);
  return made;
}

SpirvId SpirvModule::workgroup_array(std::uint32_t numbers) {
  return global_variable(SpirvStorage::workgroup,
                         type(SpirvOp::type_array, {type_of_bits(32), constant(numbers)}));
}

void SpirvModule::open(std::string_view name, std::uint32_t group_items) {
  const SpirvId nothing = type(SpirvOp::type_void, {});
  const SpirvId function_type = type(SpirvOp::type_function, {nothing});
  entries_.push_back({make_id(), std::string(name), group_items});
  put(functions_, SpirvOp::function, {nothing, entries_.back().function, 0, function_type});
  put(functions_, SpirvOp::label, {make_id()});
}

void SpirvModule::close() {
  put(functions_, SpirvOp::return_, {});
  put(functions_, SpirvOp::function_end, {});
}

void SpirvModule::op(SpirvOp op, std::initializer_list<std::uint32_t> operands) {
  put(functions_, op, operands);
}

SpirvId SpirvModule::result(SpirvOp op, SpirvId type,
                            std::initializer_list<std::uint32_t> operands) {
  const SpirvId made = make_id();
  Words all = {type, made};
  all.insert(all.end(), operands.begin(), operands.end());
  put(functions_, op, all);
  return made;
}

SpirvId SpirvModule::function_variable(SpirvId type) {
  constexpr auto storage = SpirvStorage::function;
  return result(SpirvOp::variable, pointer_type(storage, type),
                {static_cast<std::uint32_t>(storage)});
}

SpirvId SpirvModule::parameter(std::uint32_t index) {
  const SpirvId number = type_of_bits(64);
  const SpirvId member =
      result(SpirvOp::access_chain, pointer_type(SpirvStorage::push_constant, number),
             {push_constants_, constant(index)});
  return result(SpirvOp::load, number, {member});
}

SpirvId SpirvModule::built_in(SpirvBuiltIn which, std::uint32_t dimension) {
  const SpirvId number = type_of_bits(32);
  const SpirvId three = type(SpirvOp::type_vector, {number, 3});
  SpirvId& variable = built_ins_[which];
  if (variable == 0) {
    variable = global_variable(SpirvStorage::input, three);
    put(decorations_, SpirvOp::decorate,
        {variable, built_in_decoration, static_cast<std::uint32_t>(which)});
  }
  const SpirvId all = result(SpirvOp::load, three, {variable});
  return result(SpirvOp::composite_extract, number, {all, dimension});
}

std::string SpirvModule::bytes() const {
  constexpr std::uint32_t no_generator = 0;
  Words all = {magic, version, no_generator, next_, 0};
  for (const std::uint32_t capability :
       {shader, int64, physical_storage_buffer_addresses, storage_buffer_8bit_access})
    put(all, SpirvOp::capability, {capability});
  put(all, SpirvOp::memory_model, {physical_storage_buffer_64, glsl450});
  for (const Entry& entry : entries_) {
    Words operands = {gl_compute, entry.function};
    const Words name = words_of(entry.name);
    operands.insert(operands.end(), name.begin(), name.end());
    operands.insert(operands.end(), interface_.begin(), interface_.end());
    put(all, SpirvOp::entry_point, operands);
  }
  for (const Entry& entry : entries_)
    put(all, SpirvOp::execution_mode, {entry.function, local_size, entry.group_items, 1, 1});
  for (const Words* section : {&decorations_, &globals_, &functions_})
    all.insert(all.end(), section->begin(), section->end());
  std::string out;
  out.reserve(4 * all.size());
  for (const std::uint32_t word : all) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      out.push_back(static_cast<char>(word >> shift & 0xFFU));
  }
  return out;
}

}  // namespace calpe::emit
