// SPDX-License-Identifier: Apache-2.0
// Parser of one kernel: declarations and operands (ptx_parser.cpp) and instruction forms
// (ptx_instructions.cpp). Rejects everything it does not know.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx_interpreter/ptx_module.hpp"
#include "ptx_interpreter/ptx_tokens.hpp"

namespace calpe::ptx {

std::optional<Type> type_by_name(std::string_view name);  // "u32", "pred"

// The modifiers of an instruction, consumed one by one; leftovers are an error.
class Modifiers {
 public:
  explicit Modifiers(std::string_view name);
  const std::string& opcode() const { return opcode_; }
  bool take(std::string_view modifier);
  std::optional<Type> take_type();
  bool is_empty() const { return at_ == rest_.size(); }
  const std::string& front() const { return rest_[at_]; }

 private:
  std::string opcode_;
  std::vector<std::string> rest_;
  std::size_t at_ = 0;
};

class KernelParser {
 public:
  KernelParser(TokenReader& in, Kernel& kernel) : in_(in), kernel_(kernel) {}
  void parse();  // from the name to the closing brace

 private:
  // ptx_parser.cpp
  void parse_parameters();
  void parse_limits();
  void parse_registers();
  void parse_shared();
  void parse_statement();
  void resolve_labels();
  RegisterId add_register(const std::string& name, Type type);
  RegisterId find_register(const std::string& name) const;
  RegisterId add_constant(std::uint64_t value, Type type);
  RegisterId add_special(const std::string& name, Type type);
  void check_width(RegisterId id, Type type, bool may_be_wider) const;
  void read_guard(Instruction& instruction);
  void read_target(Instruction& instruction, Type type, bool may_be_wider = false);
  void read_source(Instruction& instruction, Type type, bool may_be_wider = false);
  void read_elements(Instruction& instruction, bool are_targets);
  void read_address(Instruction& instruction);
  [[noreturn]] void fail(const std::string& message) const;

  // ptx_instructions.cpp
  void read_instruction(Instruction& instruction);
  bool read_arithmetic(Instruction& instruction, Modifiers& modifiers);
  bool read_product(Instruction& instruction, Modifiers& modifiers);
  bool read_bits(Instruction& instruction, Modifiers& modifiers);
  bool read_choice(Instruction& instruction, Modifiers& modifiers);
  bool read_memory(Instruction& instruction, Modifiers& modifiers);
  bool read_control(Instruction& instruction, Modifiers& modifiers);
  void read_plain(Instruction& instruction, Modifiers& modifiers, Opcode opcode, Type type,
                  unsigned sources);
  void finish(const Modifiers& modifiers) const;
  Type take_type(Modifiers& modifiers, std::string_view kinds, std::string_view bits) const;

  TokenReader& in_;
  Kernel& kernel_;
  std::uint32_t line_ = 0;
  std::string statement_ = {};  // its name, for messages
  std::unordered_map<std::string, RegisterId> registers_ = {};
  std::unordered_map<std::string, RegisterId> constants_ = {};
  std::unordered_map<std::string, std::uint32_t> shared_ = {};
  std::unordered_map<std::string, std::uint32_t> labels_ = {};
  struct Jump {
    std::size_t instruction = 0;
    std::string label = {};
  };
  std::vector<Jump> jumps_ = {};
};

}  // namespace calpe::ptx
