// SPDX-License-Identifier: Apache-2.0
// Checks that every register is written before it is read, on every path through a kernel. A
// guarded write counts, assuming that reads have the same guard.
#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "ptx_interpreter/ptx_module.hpp"

namespace calpe::ptx {

namespace {

using Set = std::vector<std::uint64_t>;  // bits, by register

bool contains(const Set& set, RegisterId id) {
  return (set[id / 64] >> (id % 64) & 1) != 0;
}
void insert(Set& set, RegisterId id) {
  set[id / 64] |= std::uint64_t{1} << (id % 64);
}

class Assignments {
 public:
  explicit Assignments(const Kernel& kernel)
      : kernel_(kernel), words_((kernel.registers.size() + 63) / 64) {}

  void check() {
    find_starts();
    Set first(words_, 0);
    for (const auto& constant : kernel_.constants)
      insert(first, constant.id);
    for (const auto& special : kernel_.specials)
      insert(first, special.id);
    reach(0, first);
    while (!waiting_.empty()) {
      const std::size_t block = waiting_.back();
      waiting_.pop_back();
      walk(block);
    }
  }

 private:
  // Instructions that are jump targets or follow a jump.
  void find_starts() {
    const auto& code = kernel_.code;
    is_start_.assign(code.size() + 1, false);
    is_start_[0] = true;
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (code[i].opcode != Opcode::bra && code[i].opcode != Opcode::ret) continue;
      is_start_[i + 1] = true;
      if (code[i].opcode == Opcode::bra) is_start_[code[i].jump] = true;
    }
    written_.resize(code.size() + 1);
  }

  void reach(std::size_t start, const Set& written) {
    if (start >= kernel_.code.size()) return;
    Set& known = written_[start];
    if (known.empty()) {
      known = written;
    } else {
      Set both = known;
      for (std::size_t i = 0; i < words_; ++i)
        both[i] &= written[i];
      if (both == known) return;
      known = both;
    }
    waiting_.push_back(start);
  }

  void walk(std::size_t at) {
    Set written = written_[at];
    while (at < kernel_.code.size()) {
      const Instruction& instruction = kernel_.code[at];
      check_reads(instruction, written);
      for (unsigned i = 0; i < instruction.target_count; ++i)
        insert(written, instruction.targets[i]);
      ++at;
      if (instruction.opcode == Opcode::bra) reach(instruction.jump, written);
      const bool ends = instruction.opcode == Opcode::bra || instruction.opcode == Opcode::ret;
      if (ends && instruction.guard == no_register) return;
      if (is_start_[at]) return reach(at, written);
    }
  }

  void check_reads(const Instruction& instruction, const Set& written) const {
    for (unsigned i = 0; i < instruction.source_count; ++i) {
      check_read(instruction, instruction.sources[i], written);
    }
    if (instruction.guard != no_register) check_read(instruction, instruction.guard, written);
  }

  void check_read(const Instruction& instruction, RegisterId id, const Set& written) const {
    if (contains(written, id)) return;
    throw PtxError(invalid_ptx,
                   text("line ", instruction.line, ": ", instruction.name, ": register ",
                        kernel_.registers[id].name, " is read before it is written"));
  }

  const Kernel& kernel_;
  std::size_t words_;
  std::vector<bool> is_start_ = {};
  std::vector<Set> written_ = {};  // before each block
  std::vector<std::size_t> waiting_ = {};
};

}  // namespace

void check_assigned(const Kernel& kernel) {
  Assignments(kernel).check();
}

}  // namespace calpe::ptx
