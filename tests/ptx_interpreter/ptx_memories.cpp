// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/ptx_memories.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "base/text.hpp"

namespace calpe::ptx {

namespace {

constexpr std::uint32_t many_lanes = 0xFFFFFFFF;

[[noreturn]] void fail(Result result, const Instruction& instruction, std::string_view what,
                       std::uint64_t address) {
  std::array<char, 24> digits = {};
  std::snprintf(digits.data(), digits.size(), "0x%llx", static_cast<unsigned long long>(address));
  throw PtxError(result, text("line ", instruction.line, ": ", instruction.name, ": ", what, " at ",
                              digits.data()));
}

void check_alignment(const Instruction& instruction, std::uint64_t address, std::size_t bytes) {
  if (address % bytes != 0) {
    fail(misaligned_address, instruction, text("misaligned access of ", bytes, " bytes"), address);
  }
}

// Copies lanes of one element between a register and memory; the next element of a lane is `stride`
// elements further.
template <class Memory, class Place>
void move_lanes(Place* place, std::byte* memory, std::size_t count, std::size_t stride,
                bool is_load) {
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* at = memory + i * stride * sizeof(Memory);
    Memory value = 0;
    if (is_load) {
      std::memcpy(&value, at, sizeof value);
      place[i] = static_cast<Place>(value);
    } else {
      value = static_cast<Memory>(place[i]);
      std::memcpy(at, &value, sizeof value);
    }
  }
}

template <class Memory>
void move_element(std::byte* place, std::size_t place_bytes, std::byte* memory, std::size_t first,
                  std::size_t count, std::size_t stride, bool is_load) {
  switch (place_bytes) {
    case 2:
      return move_lanes<Memory>(reinterpret_cast<std::uint16_t*>(place) + first, memory, count,
                                stride, is_load);
    case 4:
      return move_lanes<Memory>(reinterpret_cast<std::uint32_t*>(place) + first, memory, count,
                                stride, is_load);
    default:
      return move_lanes<Memory>(reinterpret_cast<std::uint64_t*>(place) + first, memory, count,
                                stride, is_load);
  }
}

// All elements of lanes [first, first + count), the first lane's at `memory`; with stride 0, all
// lanes share them.
void move_run(const Step& step, std::byte* memory, std::size_t first, std::size_t count,
              bool is_same) {
  const Instruction& instruction = *step.instruction;
  const bool is_load = instruction.opcode == Opcode::load;
  const bool is_signed = is_load && instruction.type.kind == Kind::integer;
  const std::size_t stride = is_same ? 0 : instruction.elements;
  for (std::size_t e = 0; e < instruction.elements; ++e) {
    std::byte* place = is_load ? step.targets[e] : step.sources[1 + e];
    const std::size_t place_bytes = is_load ? step.target_widths[e] : step.source_widths[1 + e];
    std::byte* at = memory + e * instruction.type.bytes;
    // A register wider than the type is filled with zeros or the sign.
    switch (instruction.type.bytes) {
      case 1:
        is_signed
            ? move_element<std::int8_t>(place, place_bytes, at, first, count, stride, is_load)
            : move_element<std::uint8_t>(place, place_bytes, at, first, count, stride, is_load);
        break;
      case 2:
        is_signed
            ? move_element<std::int16_t>(place, place_bytes, at, first, count, stride, is_load)
            : move_element<std::uint16_t>(place, place_bytes, at, first, count, stride, is_load);
        break;
      case 4:
        is_signed
            ? move_element<std::int32_t>(place, place_bytes, at, first, count, stride, is_load)
            : move_element<std::uint32_t>(place, place_bytes, at, first, count, stride, is_load);
        break;
      default:
        move_element<std::uint64_t>(place, place_bytes, at, first, count, stride, is_load);
    }
  }
}

bool is_active(const Lanes& lanes, std::size_t lane) {
  return lanes.are_all_active || lanes.active[lane] != 0;
}

}  // namespace

void Memories::start_block() {
  block_epoch_ = ++epoch_;
}

void Memories::access(const Step& step, const Lanes& lanes, std::size_t index) {
  switch (step.instruction->space) {
    case Space::global:
      return access_global(step, lanes, index);
    case Space::shared:
      return access_shared(step, lanes);
    case Space::param:
      break;
  }
  const auto* at = parameters_.data() + step.instruction->offset;
  for (std::size_t lane = 0; lane < lanes.count; ++lane) {
    // Only loads get here, so it is never written.
    if (is_active(lanes, lane)) move_run(step, const_cast<std::byte*>(at), lane, 1, true);
  }
}

Memories::Run Memories::next_run(const std::uint64_t* addresses, const Lanes& lanes,
                                 std::size_t first, std::size_t bytes) const {
  while (first < lanes.count && !is_active(lanes, first))
    ++first;
  Run run = {.first = first, .count = 0, .address = 0};
  if (first == lanes.count) return run;
  const std::uint64_t start = addresses[first];
  run.address = start;
  run.is_same = first + 1 < lanes.count && addresses[first + 1] == start;
  const std::uint64_t step = run.is_same ? 0 : bytes;
  std::size_t end = first + 1;
  while (end < lanes.count && is_active(lanes, end) &&
         addresses[end] == start + (end - first) * step) {
    ++end;
  }
  run.count = end - first;
  return run;
}

void Memories::access_global(const Step& step, const Lanes& lanes, std::size_t index) {
  const Instruction& instruction = *step.instruction;
  const bool is_write = instruction.opcode == Opcode::store;
  const std::size_t bytes = std::size_t{instruction.type.bytes} * instruction.elements;
  const auto* addresses = step.source<std::uint64_t>(0);
  Run run;
  for (std::size_t lane = 0;; lane = run.first + run.count) {
    run = next_run(addresses, lanes, lane, bytes);
    if (run.count == 0) return;
    // Two lanes that write the same location count as two writes.
    if (is_write && run.is_same) run.count = 1;
    const std::uint64_t address = run.address + static_cast<std::uint64_t>(instruction.offset);
    const std::size_t run_bytes = run.is_same ? bytes : run.count * bytes;
    check_alignment(instruction, address, bytes);
    std::byte* memory = global_.find(address, run_bytes);
    if (memory == nullptr) {
      fail(illegal_address, instruction,
           text("access of ", run_bytes, " bytes outside of any allocation"), address);
    }
    log_.add(index, {address, address + run_bytes, instruction.line}, is_write,
             instruction.is_read_only);
    meter_.access(address, run_bytes, is_write);
    move_run(step, memory, run.first, run.count, run.is_same);
  }
}

void Memories::access_shared(const Step& step, const Lanes& lanes) {
  const Instruction& instruction = *step.instruction;
  const std::size_t bytes = std::size_t{instruction.type.bytes} * instruction.elements;
  for (std::size_t lane = 0; lane < lanes.count; ++lane) {
    if (!is_active(lanes, lane)) continue;
    const std::uint64_t base = step.source_widths[0] == 4 ? step.source<std::uint32_t>(0)[lane]
                                                          : step.source<std::uint64_t>(0)[lane];
    const std::uint64_t at = base + static_cast<std::uint64_t>(instruction.offset);
    check_alignment(instruction, at, bytes);
    if (at > shared_.size() || bytes > shared_.size() - at) {
      fail(illegal_address, instruction,
           text("access outside of the ", shared_.size(), " bytes of shared memory"), at);
    }
    touch_shared(instruction, at, bytes, lane);
    move_run(step, shared_.data() + at, lane, 1, true);
  }
}

// Between two barriers, two threads may touch a byte only if both read it.
void Memories::touch_shared(const Instruction& instruction, std::uint64_t at, std::size_t bytes,
                            std::size_t lane) {
  const bool is_write = instruction.opcode == Opcode::store;
  const auto self = static_cast<std::uint32_t>(lane);
  for (std::uint64_t i = at; i < at + bytes; ++i) {
    Touch& writer = writers_[i];
    Touch& reader = readers_[i];
    if (writer.epoch == epoch_ && writer.lane != self) {
      fail(launch_failed, instruction, "race: another thread writes shared memory", i);
    }
    if (is_write) {
      if (reader.epoch == epoch_ && reader.lane != self) {
        fail(launch_failed, instruction, "race: another thread reads shared memory", i);
      }
      writer = {epoch_, self};
    } else {
      if (writer.epoch < block_epoch_) {
        fail(launch_failed, instruction, "read of shared memory that was not written", i);
      }
      const bool is_other = reader.epoch == epoch_ && reader.lane != self;
      reader = {epoch_, is_other ? many_lanes : self};
    }
  }
}

}  // namespace calpe::ptx
