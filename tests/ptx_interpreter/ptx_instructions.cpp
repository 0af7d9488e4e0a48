// SPDX-License-Identifier: Apache-2.0
// The supported forms of instructions: name, modifiers, types, operands.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/text.hpp"
#include "ptx_interpreter/ptx_parser.hpp"

namespace calpe::ptx {

namespace {

constexpr Type predicate_type = {Kind::predicate, 1};
constexpr Type count_type = {Kind::natural, 4};  // of shifts and positions

Type doubled(Type type) {
  type.bytes = static_cast<std::uint8_t>(2 * type.bytes);
  return type;
}

struct Named {
  std::string_view name;
  Opcode opcode;
};

}  // namespace

Modifiers::Modifiers(std::string_view name) {
  std::size_t at = 0;
  while (at <= name.size()) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    (at == 0 ? opcode_ : rest_.emplace_back()) = name.substr(at, dot - at);
    at = dot + 1;
  }
}

bool Modifiers::take(std::string_view modifier) {
  if (is_empty() || front() != modifier) return false;
  ++at_;
  return true;
}

std::optional<Type> Modifiers::take_type() {
  if (is_empty()) return std::nullopt;
  const auto type = type_by_name(front());
  if (type) ++at_;
  return type;
}

void KernelParser::finish(const Modifiers& modifiers) const {
  if (!modifiers.is_empty()) fail(text("unknown modifier .", modifiers.front()));
}

// kinds: letters of "bus", p for pred; bits: "16 32 64".
Type KernelParser::take_type(Modifiers& modifiers, std::string_view kinds,
                             std::string_view bits) const {
  const auto type = modifiers.take_type();
  if (!type) fail("unknown or missing type");
  const char letter = "busp"[static_cast<std::size_t>(type->kind)];
  const bool has_bits =
      letter == 'p' ||
      text(" ", bits, " ").find(text(" ", 8 * type->bytes, " ")) != std::string::npos;
  if (kinds.find(letter) == std::string_view::npos || !has_bits) {
    fail("a type that this instruction does not have");
  }
  return *type;
}

// target, sources: all of `type`.
void KernelParser::read_plain(Instruction& instruction, Modifiers& modifiers, Opcode opcode,
                              Type type, unsigned sources) {
  finish(modifiers);
  instruction.opcode = opcode;
  instruction.type = type;
  read_target(instruction, type);
  for (unsigned i = 0; i < sources; ++i) {
    in_.expect(",");
    read_source(instruction, type);
  }
}

void KernelParser::read_instruction(Instruction& instruction) {
  Modifiers modifiers(instruction.name);
  const bool is_known = read_arithmetic(instruction, modifiers) ||
                        read_product(instruction, modifiers) || read_bits(instruction, modifiers) ||
                        read_choice(instruction, modifiers) ||
                        read_memory(instruction, modifiers) || read_control(instruction, modifiers);
  if (!is_known) fail("unknown instruction");
}

bool KernelParser::read_arithmetic(Instruction& instruction, Modifiers& modifiers) {
  const std::string& name = modifiers.opcode();
  for (const auto& [known, opcode] :
       {Named{"add", Opcode::add}, Named{"sub", Opcode::sub}, Named{"div", Opcode::div},
        Named{"rem", Opcode::rem}, Named{"min", Opcode::min}, Named{"max", Opcode::max}}) {
    if (name != known) continue;
    const bool divides = opcode == Opcode::div || opcode == Opcode::rem;
    const Type type = take_type(modifiers, divides ? "u" : "us", "16 32 64");
    read_plain(instruction, modifiers, opcode, type, 2);
    return true;
  }
  for (const auto& [known, opcode] :
       {Named{"and", Opcode::and_}, Named{"or", Opcode::or_}, Named{"xor", Opcode::xor_}}) {
    if (name != known) continue;
    read_plain(instruction, modifiers, opcode, take_type(modifiers, "bp", "16 32 64"), 2);
    return true;
  }
  if (name == "not") {
    read_plain(instruction, modifiers, Opcode::not_, take_type(modifiers, "bp", "16 32 64"), 1);
  } else if (name == "neg") {
    read_plain(instruction, modifiers, Opcode::neg, take_type(modifiers, "s", "16 32 64"), 1);
  } else if (name == "mov") {
    read_plain(instruction, modifiers, Opcode::mov, take_type(modifiers, "busp", "16 32 64"), 1);
  } else {
    return false;
  }
  return true;
}

bool KernelParser::read_product(Instruction& instruction, Modifiers& modifiers) {
  const bool is_mad = modifiers.opcode() == "mad";
  if (!is_mad && modifiers.opcode() != "mul") return false;
  if (modifiers.take("lo")) {
    read_plain(instruction, modifiers, is_mad ? Opcode::mad_lo : Opcode::mul_lo,
               take_type(modifiers, "us", "16 32 64"), is_mad ? 3 : 2);
    return true;
  }
  if (!is_mad && modifiers.take("hi")) {
    read_plain(instruction, modifiers, Opcode::mul_hi, take_type(modifiers, "u", "16 32"), 2);
    return true;
  }
  if (!modifiers.take("wide")) fail("expected .lo, .hi or .wide");
  instruction.opcode = is_mad ? Opcode::mad_wide : Opcode::mul_wide;
  instruction.type = take_type(modifiers, "us", "16 32");
  finish(modifiers);
  read_target(instruction, doubled(instruction.type));
  in_.expect(",");
  read_source(instruction, instruction.type);
  in_.expect(",");
  read_source(instruction, instruction.type);
  if (is_mad) {
    in_.expect(",");
    read_source(instruction, doubled(instruction.type));
  }
  return true;
}

bool KernelParser::read_bits(Instruction& instruction, Modifiers& modifiers) {
  const std::string& name = modifiers.opcode();
  // Sources after those of read_plain, which count bits.
  unsigned counts = 0;
  if (name == "shl") {
    read_plain(instruction, modifiers, Opcode::shl, take_type(modifiers, "b", "16 32 64"), 1);
    counts = 1;
  } else if (name == "shr") {
    read_plain(instruction, modifiers, Opcode::shr, take_type(modifiers, "bus", "16 32 64"), 1);
    counts = 1;
  } else if (name == "shf") {
    const bool is_left = modifiers.take("l");
    if (!is_left && !modifiers.take("r")) fail("expected .l or .r");
    const bool clamps = modifiers.take("clamp");
    if (!clamps && !modifiers.take("wrap")) fail("expected .wrap or .clamp");
    instruction.table = clamps ? 1 : 0;
    read_plain(instruction, modifiers, is_left ? Opcode::shf_l : Opcode::shf_r,
               take_type(modifiers, "b", "32"), 2);
    counts = 1;
  } else if (name == "lop3") {
    read_plain(instruction, modifiers, Opcode::lop3, take_type(modifiers, "b", "32"), 3);
    in_.expect(",");
    const std::uint64_t table = in_.expect_number();
    if (table > 255) fail("a table has 8 bits");
    instruction.table = static_cast<std::uint8_t>(table);
  } else if (name == "prmt") {
    read_plain(instruction, modifiers, Opcode::prmt, take_type(modifiers, "b", "32"), 3);
  } else if (name == "bfe") {
    read_plain(instruction, modifiers, Opcode::bfe, take_type(modifiers, "us", "32 64"), 1);
    counts = 2;
  } else if (name == "bfi") {
    read_plain(instruction, modifiers, Opcode::bfi, take_type(modifiers, "b", "32 64"), 2);
    counts = 2;
  } else if (name == "brev") {
    read_plain(instruction, modifiers, Opcode::brev, take_type(modifiers, "b", "32 64"), 1);
  } else if (name == "popc") {
    instruction.opcode = Opcode::popc;
    instruction.type = take_type(modifiers, "b", "32 64");
    finish(modifiers);
    read_target(instruction, count_type);
    in_.expect(",");
    read_source(instruction, instruction.type);
  } else {
    return false;
  }
  for (; counts > 0; --counts) {
    in_.expect(",");
    read_source(instruction, count_type);
  }
  return true;
}

bool KernelParser::read_choice(Instruction& instruction, Modifiers& modifiers) {
  if (modifiers.opcode() == "selp") {
    read_plain(instruction, modifiers, Opcode::selp, take_type(modifiers, "bus", "16 32 64"), 2);
    in_.expect(",");
    read_source(instruction, predicate_type);
    return true;
  }
  if (modifiers.opcode() != "setp") return false;
  instruction.opcode = Opcode::setp;
  using enum Compare;
  // lo, ls, hi, hs are other names for the unsigned comparisons; not supported, as they differ for
  // signed types.
  for (const auto& [known, compare] :
       {std::pair{"eq", eq}, std::pair{"ne", ne}, std::pair{"lt", lt}, std::pair{"le", le},
        std::pair{"gt", gt}, std::pair{"ge", ge}}) {
    if (!modifiers.take(known)) continue;
    instruction.compare = compare;
    const bool is_ordered = compare != eq && compare != ne;
    instruction.type = take_type(modifiers, is_ordered ? "us" : "bus", "16 32 64");
    finish(modifiers);
    read_target(instruction, predicate_type);
    in_.expect(",");
    read_source(instruction, instruction.type);
    in_.expect(",");
    read_source(instruction, instruction.type);
    return true;
  }
  fail("unknown comparison");
}

bool KernelParser::read_memory(Instruction& instruction, Modifiers& modifiers) {
  const std::string& name = modifiers.opcode();
  if (name == "cvta") {
    // Global memory has the same addresses in both spaces, here and on devices.
    modifiers.take("to");
    if (!modifiers.take("global")) fail("expected .global");
    read_plain(instruction, modifiers, Opcode::mov, take_type(modifiers, "u", "64"), 1);
    return true;
  }
  if (name == "cvt") {
    instruction.opcode = Opcode::cvt;
    instruction.type = take_type(modifiers, "us", "8 16 32 64");
    instruction.from = take_type(modifiers, "us", "8 16 32 64");
    finish(modifiers);
    read_target(instruction, instruction.type, true);
    in_.expect(",");
    read_source(instruction, instruction.from, true);
    return true;
  }
  const bool is_load = name == "ld";
  if (!is_load && name != "st") return false;
  instruction.opcode = is_load ? Opcode::load : Opcode::store;
  if (modifiers.take("global")) {
    instruction.space = Space::global;
    // Cache hints do not affect what is read.
    if (is_load) {
      instruction.is_read_only = modifiers.take("nc");
      if (!instruction.is_read_only)
        (void)(modifiers.take("ca") || modifiers.take("cg") || modifiers.take("cs"));
    } else {
      (void)(modifiers.take("cs") || modifiers.take("cg") || modifiers.take("wb"));
    }
  } else if (modifiers.take("shared")) {
    instruction.space = Space::shared;
  } else if (is_load && modifiers.take("param")) {
    instruction.space = Space::param;
  } else {
    fail("unknown or missing state space");
  }
  if (instruction.space != Space::param) {
    instruction.elements = modifiers.take("v2") ? 2 : modifiers.take("v4") ? 4 : 1;
  }
  instruction.type = take_type(modifiers, "bus", "8 16 32 64");
  finish(modifiers);
  if (instruction.elements * instruction.type.bytes > 16) fail("more than 16 bytes");
  if (is_load) read_elements(instruction, true);
  if (is_load) in_.expect(",");
  read_address(instruction);
  if (!is_load) in_.expect(",");
  if (!is_load) read_elements(instruction, false);
  return true;
}

bool KernelParser::read_control(Instruction& instruction, Modifiers& modifiers) {
  const std::string& name = modifiers.opcode();
  if (name == "bra") {
    instruction.opcode = Opcode::bra;
    modifiers.take("uni");
    finish(modifiers);
    jumps_.push_back({kernel_.code.size(), in_.expect_word()});
  } else if (name == "ret" || name == "exit") {
    instruction.opcode = Opcode::ret;
    finish(modifiers);
  } else if (name == "bar") {
    instruction.opcode = Opcode::barrier;
    if (!modifiers.take("sync")) fail("expected .sync");
    finish(modifiers);
    if (in_.expect_number() != 0) fail("only barrier 0 is known");
  } else {
    return false;
  }
  return true;
}

}  // namespace calpe::ptx
