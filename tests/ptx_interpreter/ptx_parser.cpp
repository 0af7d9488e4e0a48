// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/ptx_parser.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace calpe::ptx {

namespace {

constexpr Type address_type = {Kind::natural, 8};

std::uint32_t align(std::uint32_t at, std::uint32_t to) {
  return (at + to - 1) / to * to;
}

bool fits(std::uint64_t value, unsigned bytes) {
  if (bytes >= 8) return true;
  const unsigned bits = 8 * bytes;
  const auto is_signed = static_cast<std::int64_t>(value);
  return value >> bits == 0 || is_signed >> (bits - 1) == -1;
}

}  // namespace

std::optional<Type> type_by_name(std::string_view name) {
  if (name == "pred") return Type{Kind::predicate, 1};
  if (name.size() < 2) return std::nullopt;
  Type type;
  switch (name.front()) {
    case 'b':
      type.kind = Kind::bits;
      break;
    case 'u':
      type.kind = Kind::natural;
      break;
    case 's':
      type.kind = Kind::integer;
      break;
    default:
      return std::nullopt;
  }
  const std::string_view bits = name.substr(1);
  for (const auto& [digits, bytes] :
       {std::pair{"8", 1}, std::pair{"16", 2}, std::pair{"32", 4}, std::pair{"64", 8}}) {
    if (bits == digits) {
      type.bytes = static_cast<std::uint8_t>(bytes);
      return type;
    }
  }
  return std::nullopt;
}

void KernelParser::fail(const std::string& message) const {
  throw PtxError(invalid_ptx,
                 text("line ", line_, ": ", statement_, statement_.empty() ? "" : ": ", message));
}

void KernelParser::parse() {
  kernel_.name = in_.expect_word();
  parse_parameters();
  parse_limits();
  in_.expect("{");
  while (!in_.take("}")) {
    line_ = in_.peek().line;
    statement_.clear();
    parse_statement();
  }
  resolve_labels();
}

void KernelParser::parse_parameters() {
  in_.expect("(");
  while (!in_.take(")")) {
    in_.expect(".param");
    const auto type = type_by_name(in_.expect_word().substr(1));
    if (!type) in_.fail("unknown type of a parameter");
    // ".ptr .global .align 16" only promises a property of the value.
    if (in_.take(".ptr")) {
      in_.take(".global");
      if (in_.take(".align")) in_.expect_number();
    }
    const std::uint32_t offset = align(kernel_.parameter_bytes, type->bytes);
    kernel_.parameters.push_back({in_.expect_word(), offset, type->bytes});
    kernel_.parameter_bytes = offset + type->bytes;
    if (!in_.is(")")) in_.expect(",");
  }
}

void KernelParser::parse_limits() {
  while (!in_.is("{")) {
    const std::string name = in_.expect_word();
    std::uint64_t product = in_.expect_number();
    while (in_.take(","))
      product *= in_.expect_number();
    if (name == ".maxntid") {
      kernel_.threads_max = static_cast<std::uint32_t>(product);
    } else if (name == ".reqntid") {
      kernel_.threads_required = static_cast<std::uint32_t>(product);
    } else if (name != ".minnctapersm" && name != ".maxnreg") {
      in_.fail(text("unknown directive ", name));
    }
  }
}

RegisterId KernelParser::add_register(const std::string& name, Type type) {
  const auto id = static_cast<RegisterId>(kernel_.registers.size());
  kernel_.registers.push_back({.name = name, .type = type, .offset = kernel_.lane_bytes});
  kernel_.lane_bytes += type.bytes;
  return id;
}

void KernelParser::parse_registers() {
  const auto type = type_by_name(in_.expect_word().substr(1));
  if (!type || (type->bytes == 1 && type->kind != Kind::predicate)) {
    in_.fail("unknown type of a register");
  }
  do {
    const std::string name = in_.expect_word();
    std::uint64_t count = 0;
    const bool is_row = in_.take("<");
    if (is_row) {
      count = in_.expect_number();
      in_.expect(">");
    }
    for (std::uint64_t i = 0; i < (is_row ? count : 1); ++i) {
      const std::string full = is_row ? text(name, i) : name;
      if (!registers_.emplace(full, add_register(full, *type)).second) {
        in_.fail(text("register ", full, " is declared twice"));
      }
    }
  } while (in_.take(","));
  in_.expect(";");
}

void KernelParser::parse_shared() {
  std::uint32_t alignment = 1;
  if (in_.take(".align")) alignment = static_cast<std::uint32_t>(in_.expect_number());
  const auto type = type_by_name(in_.expect_word().substr(1));
  if (!type) in_.fail("unknown type of shared memory");
  const std::string name = in_.expect_word();
  std::uint64_t count = 1;
  if (in_.take("[")) {
    count = in_.expect_number();
    in_.expect("]");
  }
  in_.expect(";");
  kernel_.shared_bytes =
      align(kernel_.shared_bytes, std::max<std::uint32_t>(alignment, type->bytes));
  shared_.emplace(name, kernel_.shared_bytes);
  kernel_.shared_bytes += static_cast<std::uint32_t>(count * type->bytes);
}

void KernelParser::parse_statement() {
  if (in_.take(".reg")) return parse_registers();
  if (in_.take(".shared")) return parse_shared();
  if (in_.take(".pragma")) {
    in_.next();
    return in_.expect(";");
  }
  if (in_.peek().kind == Token::Kind::word && in_.peek(1).text == ":") {
    const std::string label = in_.expect_word();
    in_.expect(":");
    if (!labels_.emplace(label, static_cast<std::uint32_t>(kernel_.code.size())).second) {
      fail(text("label ", label, " is defined twice"));
    }
    return;
  }
  Instruction instruction;
  instruction.line = line_;
  read_guard(instruction);
  if (in_.is(".") || in_.peek().text.starts_with(".")) in_.fail("unknown directive");
  instruction.name = statement_ = in_.expect_word();
  read_instruction(instruction);
  in_.expect(";");
  kernel_.code.push_back(std::move(instruction));
}

void KernelParser::resolve_labels() {
  for (const Jump& jump : jumps_) {
    const auto found = labels_.find(jump.label);
    if (found == labels_.end()) {
      line_ = kernel_.code[jump.instruction].line;
      fail(text("no label ", jump.label));
    }
    kernel_.code[jump.instruction].jump = found->second;
  }
}

RegisterId KernelParser::find_register(const std::string& name) const {
  const auto found = registers_.find(name);
  return found == registers_.end() ? no_register : found->second;
}

RegisterId KernelParser::add_constant(std::uint64_t value, Type type) {
  if (!fits(value, type.bytes))
    fail(text("number ", value, " does not fit ", type.bytes, " bytes"));
  const std::string key = text(value, ":", type.bytes, ":", static_cast<int>(type.kind));
  const auto found = constants_.find(key);
  if (found != constants_.end()) return found->second;
  const RegisterId id = add_register(text("number ", value), type);
  kernel_.constants.push_back({id, value});
  constants_.emplace(key, id);
  return id;
}

RegisterId KernelParser::add_special(const std::string& name, Type type) {
  const auto found = constants_.find(name);
  if (found != constants_.end()) return found->second;
  const std::size_t dot = name.find('.');
  const std::string base = name.substr(0, dot);
  const std::string axis = dot == std::string::npos ? "" : name.substr(dot + 1);
  Kernel::SpecialRegister special;
  for (const auto& [known, value] :
       {std::pair{"%tid", Special::tid}, std::pair{"%ntid", Special::ntid},
        std::pair{"%ctaid", Special::ctaid}, std::pair{"%nctaid", Special::nctaid}}) {
    if (base != known || axis.size() != 1 || axis < "x" || axis > "z") continue;
    special.special = value;
    special.axis = static_cast<unsigned>(axis[0] - 'x');
    // They have 32 bits.
    if (type.bytes != 4) fail(text(name, " has 32 bits"));
    special.id = add_register(name, type);
    kernel_.specials.push_back(special);
    constants_.emplace(name, special.id);
    return special.id;
  }
  fail(text("unknown name ", name));
}

void KernelParser::check_width(RegisterId id, Type type, bool may_be_wider) const {
  const Register& place = kernel_.registers[id];
  const bool is_predicate = place.type.kind == Kind::predicate;
  const bool fits_in =
      may_be_wider ? place.type.bytes >= type.bytes : place.type.bytes == type.bytes;
  if (is_predicate != (type.kind == Kind::predicate) || !fits_in) {
    fail(text("register ", place.name, " has ", is_predicate ? 0 : 8 * place.type.bytes,
              " bits, operand has ", type.kind == Kind::predicate ? 0 : 8 * type.bytes,
              " (0: predicate)"));
  }
}

void KernelParser::read_guard(Instruction& instruction) {
  if (!in_.take("@")) return;
  instruction.guard_is_negated = in_.take("!");
  const std::string name = in_.expect_word();
  instruction.guard = find_register(name);
  if (instruction.guard == no_register) fail(text("unknown predicate ", name));
  check_width(instruction.guard, {Kind::predicate, 1}, false);
}

void KernelParser::read_target(Instruction& instruction, Type type, bool may_be_wider) {
  const std::string name = in_.expect_word();
  const RegisterId id = find_register(name);
  if (id == no_register) fail(text("unknown register ", name));
  check_width(id, type, may_be_wider);
  instruction.targets[instruction.target_count++] = id;
}

void KernelParser::read_source(Instruction& instruction, Type type, bool may_be_wider) {
  RegisterId& id = instruction.sources[instruction.source_count++];
  if (in_.is("-") || in_.peek().kind == Token::Kind::number) {
    if (type.kind == Kind::predicate) fail("a number where a predicate is expected");
    id = add_constant(static_cast<std::uint64_t>(in_.expect_signed()), type);
    return;
  }
  const std::string name = in_.expect_word();
  id = find_register(name);
  if (id != no_register) return check_width(id, type, may_be_wider);
  const auto symbol = shared_.find(name);
  if (symbol != shared_.end()) {
    id = add_constant(symbol->second, type);
    return;
  }
  id = add_special(name, type);
}

// "a" or "{a, b, c, d}".
void KernelParser::read_elements(Instruction& instruction, bool are_targets) {
  const bool is_vector = instruction.elements > 1;
  if (is_vector) in_.expect("{");
  for (unsigned i = 0; i < instruction.elements; ++i) {
    if (i > 0) in_.expect(",");
    if (are_targets) {
      read_target(instruction, instruction.type, true);
    } else {
      read_source(instruction, instruction.type, true);
    }
  }
  if (is_vector) in_.expect("}");
}

// "[register+4]", "[name]"; for a parameter only the offset remains.
void KernelParser::read_address(Instruction& instruction) {
  in_.expect("[");
  if (instruction.space == Space::param) {
    const std::string name = in_.expect_word();
    const auto found = std::find_if(kernel_.parameters.begin(), kernel_.parameters.end(),
                                    [&](const auto& known) { return known.name == name; });
    if (found == kernel_.parameters.end()) fail(text("unknown parameter ", name));
    // The lower half of a number is at the position of the number.
    if (instruction.type.bytes > found->bytes) {
      fail(text("parameter ", name, " has ", found->bytes, " bytes"));
    }
    instruction.offset = found->offset;
  } else {
    const bool is_symbol = shared_.contains(std::string(in_.peek().text));
    // Registers that hold shared memory addresses may have 32 bits.
    const RegisterId id = find_register(std::string(in_.peek().text));
    const bool is_narrow =
        instruction.space == Space::shared &&
        (is_symbol || (id != no_register && kernel_.registers[id].type.bytes == 4));
    read_source(instruction, is_narrow ? Type{Kind::natural, 4} : address_type);
    if (in_.take("+") || in_.is("-")) instruction.offset = in_.expect_signed();
  }
  in_.expect("]");
}

Module parse(const std::string& text) {
  TokenReader in(tokenize(text));
  Module module;
  const auto expect_version = [&] {
    in.expect_number();
    // ".0" of "6.0" is a separate word.
    in.expect_word();
  };
  in.expect(".version");
  expect_version();
  in.expect(".target");
  if (!in.expect_word().starts_with("sm_")) in.fail("expected sm_...");
  in.expect(".address_size");
  if (in.expect_number() != 64) in.fail("expected addresses of 64 bits");
  while (in.peek().kind != Token::Kind::end) {
    in.take(".visible");
    in.expect(".entry");
    Kernel kernel;
    KernelParser(in, kernel).parse();
    check_assigned(kernel);
    const std::string name = kernel.name;
    if (!module.kernels.emplace(name, std::move(kernel)).second) {
      in.fail(calpe::text("kernel ", name, " is defined twice"));
    }
  }
  return module;
}

}  // namespace calpe::ptx
