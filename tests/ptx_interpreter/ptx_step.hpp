// SPDX-License-Identifier: Apache-2.0
// An instruction bound to a register file, ready to execute over all lanes at once. The lanes of a
// register are contiguous, so that the compiler can vectorise an operation.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "ptx_interpreter/ptx_module.hpp"

namespace calpe::ptx {

inline constexpr std::size_t lanes_max = 1024;

struct Lanes {
  std::size_t count = 0;
  bool are_all_active = true;
  const std::uint8_t* active = nullptr;  // 0 or 1 per lane
};

struct Step;
using Operation = void (*)(const Step& step, const Lanes& lanes);

struct Step {
  const Instruction* instruction = nullptr;
  Operation operation = nullptr;  // nullptr: memory or control
  std::array<std::byte*, 4> targets = {};
  std::array<std::byte*, 5> sources = {};
  std::byte* guard = nullptr;
  std::array<std::uint8_t, 4> target_widths = {};  // bytes per lane of the register
  std::array<std::uint8_t, 5> source_widths = {};
  std::array<bool, 5> is_number = {};  // by source: the same in all lanes

  template <class T>
  T* target(std::size_t i = 0) const {
    return reinterpret_cast<T*>(targets[i]);
  }
  template <class T>
  const T* source(std::size_t i) const {
    return reinterpret_cast<const T*>(sources[i]);
  }
};

// Returns nullptr for memory and control instructions.
Operation find_operation(const Instruction& instruction);
Operation find_bit_operation(const Instruction& instruction);

}  // namespace calpe::ptx
