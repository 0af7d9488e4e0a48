// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/ptx_machine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "base/text.hpp"

namespace calpe::ptx {

namespace {

constexpr std::size_t vector_bytes = 64;
constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
// A block that executes more instructions counts as hung.
constexpr std::uint64_t block_steps_max = 4'000'000;

std::size_t round_up(std::size_t lanes) {
  return (lanes + vector_bytes - 1) / vector_bytes * vector_bytes;
}

}  // namespace

void Machine::FreeAligned::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{vector_bytes});
}

Machine::Machine(const Kernel& kernel, const LaunchShape& shape,
                 std::span<const std::byte> parameters, const Surroundings& around)
    : kernel_(kernel),
      shape_(shape),
      meter_(around.meter),
      memories_(parameters, around, kernel.shared_bytes),
      count_(shape.threads()),
      stride_(round_up(count_)),
      registers_(static_cast<std::byte*>(::operator new (
          std::max<std::size_t>(kernel.lane_bytes, 1) * stride_, std::align_val_t{vector_bytes}))),
      next_(count_),
      waits_(count_),
      active_(count_),
      guarded_(count_) {
  std::memset(registers_.get(), 0, kernel.lane_bytes * stride_);
  place_steps();
  for (const Kernel::Constant& constant : kernel_.constants)
    fill(constant.id, constant.value);
}

void Machine::place_steps() {
  steps_.reserve(kernel_.code.size());
  std::vector<bool> is_constant(kernel_.registers.size());
  for (const Kernel::Constant& constant : kernel_.constants)
    is_constant[constant.id] = true;
  for (const Instruction& instruction : kernel_.code) {
    Step step;
    step.instruction = &instruction;
    step.operation = find_operation(instruction);
    for (std::size_t i = 0; i < instruction.target_count; ++i) {
      step.targets[i] = place(instruction.targets[i]);
      step.target_widths[i] = kernel_.registers[instruction.targets[i]].type.bytes;
    }
    for (std::size_t i = 0; i < instruction.source_count; ++i) {
      step.sources[i] = place(instruction.sources[i]);
      step.is_number[i] = is_constant[instruction.sources[i]];
      step.source_widths[i] = kernel_.registers[instruction.sources[i]].type.bytes;
    }
    if (instruction.guard != no_register) step.guard = place(instruction.guard);
    steps_.push_back(step);
  }
}

void Machine::fill(RegisterId id, std::uint64_t value) {
  std::byte* at = place(id);
  const std::size_t bytes = kernel_.registers[id].type.bytes;
  for (std::size_t lane = 0; lane < count_; ++lane)
    std::memcpy(at + lane * bytes, &value, bytes);
}

void Machine::fill_specials(const std::array<std::uint32_t, 3>& at) {
  for (const auto& [id, special, axis] : kernel_.specials) {
    switch (special) {
      case Special::ntid:
        fill(id, shape_.block[axis]);
        break;
      case Special::nctaid:
        fill(id, shape_.grid[axis]);
        break;
      case Special::ctaid:
        fill(id, at[axis]);
        break;
      case Special::tid: {
        auto* lanes = reinterpret_cast<std::uint32_t*>(place(id));
        std::size_t before = 1;
        for (unsigned lower = 0; lower < axis; ++lower)
          before *= shape_.block[lower];
        for (std::size_t lane = 0; lane < count_; ++lane) {
          lanes[lane] = static_cast<std::uint32_t>(lane / before % shape_.block[axis]);
        }
      }
    }
  }
}

void Machine::run() {
  std::array<std::uint32_t, 3> at = {};
  for (at[2] = 0; at[2] < shape_.grid[2]; ++at[2]) {
    for (at[1] = 0; at[1] < shape_.grid[1]; ++at[1]) {
      for (at[0] = 0; at[0] < shape_.grid[0]; ++at[0])
        run_block(at);
    }
  }
}

void Machine::run_block(const std::array<std::uint32_t, 3>& at) {
  memories_.start_block();
  fill_specials(at);
  std::fill(next_.begin(), next_.end(), 0);
  std::fill(waits_.begin(), waits_.end(), std::uint8_t{0});
  steps_left_ = block_steps_max;
  std::uint32_t start = 0;
  std::uint32_t meeting = nowhere;
  while (choose(start, meeting)) {
    if (start == nowhere) {
      release_barrier();
    } else {
      run_active(start, meeting);
    }
  }
}

bool Machine::choose(std::uint32_t& at, std::uint32_t& meeting) {
  at = nowhere;
  meeting = nowhere;
  bool is_any_left = false;
  for (std::size_t lane = 0; lane < count_; ++lane) {
    if (next_[lane] >= end()) continue;
    is_any_left = true;
    if (waits_[lane] == 0) at = std::min(at, next_[lane]);
  }
  std::size_t active = 0;
  for (std::size_t lane = 0; lane < count_; ++lane) {
    const bool is_ready = next_[lane] < end() && waits_[lane] == 0;
    active_[lane] = is_ready && next_[lane] == at ? 1 : 0;
    active += active_[lane];
    if (is_ready && next_[lane] > at) meeting = std::min(meeting, next_[lane]);
  }
  active_count_ = active;
  lanes_ = {.count = count_, .are_all_active = active == count_, .active = active_.data()};
  return is_any_left;
}

// A barrier waits for all threads of the block. A thread that has ended never arrives; devices
// differ in how they handle this.
void Machine::release_barrier() {
  const auto first = std::find(waits_.begin(), waits_.end(), std::uint8_t{1}) - waits_.begin();
  const std::uint32_t behind = next_[static_cast<std::size_t>(first)];
  for (std::size_t lane = 0; lane < count_; ++lane) {
    if (waits_[lane] == 0 || next_[lane] != behind) {
      throw PtxError(launch_failed, text("line ", kernel_.code[behind - 1].line,
                                         ": barrier that thread ", lane, " does not reach"));
    }
    waits_[lane] = 0;
  }
  memories_.pass_barrier();
}

void Machine::run_active(std::uint32_t at, std::uint32_t meeting) {
  while (at < end() && at != meeting) {
    const Step& step = steps_[at];
    if (steps_left_-- == 0) {
      throw PtxError(launch_failed, text("line ", step.instruction->line, ": endless loop"));
    }
    meter_.add(*step.instruction, active_count_);
    switch (step.instruction->opcode) {
      case Opcode::bra:
        if (step.guard == nullptr && lanes_.are_all_active) {
          at = step.instruction->jump;
          continue;
        }
        return leave(step, at);
      case Opcode::ret:
      case Opcode::barrier:
        return leave(step, at);
      default:
        run_step(step, at);
    }
    ++at;
  }
  for (std::size_t lane = 0; lane < count_; ++lane) {
    if (active_[lane] != 0) next_[lane] = at;
  }
}

// Sends each active lane to its own target.
void Machine::leave(const Step& step, std::uint32_t at) {
  const Instruction& instruction = *step.instruction;
  const auto* guard = reinterpret_cast<const std::uint8_t*>(step.guard);
  for (std::size_t lane = 0; lane < count_; ++lane) {
    if (active_[lane] == 0) continue;
    const bool is_taken = guard == nullptr || (guard[lane] != 0) != instruction.guard_is_negated;
    next_[lane] = at + 1;
    if (!is_taken) continue;
    if (instruction.opcode == Opcode::bra) next_[lane] = instruction.jump;
    if (instruction.opcode == Opcode::ret) next_[lane] = end();
    if (instruction.opcode == Opcode::barrier) waits_[lane] = 1;
  }
}

void Machine::run_step(const Step& step, std::size_t index) {
  Lanes lanes = lanes_;
  if (step.guard != nullptr) {
    const auto* guard = reinterpret_cast<const std::uint8_t*>(step.guard);
    const std::uint8_t wanted = step.instruction->guard_is_negated ? 0 : 1;
    std::size_t active = 0;
    for (std::size_t lane = 0; lane < count_; ++lane) {
      guarded_[lane] = active_[lane] & static_cast<std::uint8_t>(guard[lane] == wanted);
      active += guarded_[lane];
    }
    if (active == 0) return;
    lanes.are_all_active = active == count_;
    lanes.active = guarded_.data();
  }
  if (step.operation != nullptr) {
    step.operation(step, lanes);
  } else {
    memories_.access(step, lanes, index);
  }
}

}  // namespace calpe::ptx
