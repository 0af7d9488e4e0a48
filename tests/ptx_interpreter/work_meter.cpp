// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/work_meter.hpp"

namespace calpe::ptx {

namespace {

// Instructions of the integer pipe. Left shifts and multiplications use another one (IMAD).
bool is_alu(Opcode opcode) {
  switch (opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::min:
    case Opcode::max:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::shr:
    case Opcode::shf_l:
    case Opcode::shf_r:
    case Opcode::lop3:
    case Opcode::prmt:
    case Opcode::bfe:
    case Opcode::setp:
    case Opcode::selp:
      return true;
    default:
      return false;
  }
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  instructions += other.instructions;
  alu_instructions += other.alu_instructions;
  cache_bytes += other.cache_bytes;
  memory_bytes += other.memory_bytes;
  return *this;
}

void WorkMeter::add(const Instruction& instruction, std::size_t threads) {
  const bool is_counted = is_alu(instruction.opcode);
  // Registers have 32 bits. The second half of an addition is a multiplication in machine code.
  work_.instructions += threads * (is_counted && instruction.type.bytes == 8 ? 2 : 1);
  if (is_counted) work_.alu_instructions += threads;
}

void WorkMeter::access(std::uint64_t address, std::size_t bytes, bool is_write) {
  work_.cache_bytes += bytes;
  if (lines_max_ == 0) return;
  for (std::uint64_t line = address / line_bytes; line * line_bytes < address + bytes; ++line)
    touch(line, is_write);
}

void WorkMeter::touch(std::uint64_t number, bool is_write) {
  const auto found = found_.find(number);
  if (found != found_.end()) {
    lines_.splice(lines_.begin(), lines_, found->second);
  } else {
    if (!is_write) work_.memory_bytes += line_bytes;
    lines_.push_front({.number = number});
    found_[number] = lines_.begin();
  }
  lines_.front().is_changed |= is_write;
  if (lines_.size() <= lines_max_) return;
  if (lines_.back().is_changed) work_.memory_bytes += line_bytes;
  found_.erase(lines_.back().number);
  lines_.pop_back();
}

Work WorkMeter::take() {
  for (const Line& line : lines_) {
    if (line.is_changed) work_.memory_bytes += line_bytes;
  }
  lines_.clear();
  found_.clear();
  return work_;
}

}  // namespace calpe::ptx
