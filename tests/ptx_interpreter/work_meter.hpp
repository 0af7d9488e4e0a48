// SPDX-License-Identifier: Apache-2.0
// Counts what a launch makes a device do: instructions, bytes between registers and cache, and
// bytes between a cache model and memory. The model has least-recently-used lines and sees whole
// blocks, one after the other in the order of their numbers. A line that is written completely is
// not read first, as on GPUs, which know the valid parts of a line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "ptx_interpreter/ptx_module.hpp"

namespace calpe::ptx {

struct Work {
  std::uint64_t instructions = 0;  // of all threads
  std::uint64_t alu_instructions = 0;
  std::uint64_t cache_bytes = 0;  // read and written; what a warp reads at one address counts once
  std::uint64_t memory_bytes = 0;

  Work& operator+=(const Work& other);
};

class WorkMeter {
 public:
  // 0: without cache model, and memory_bytes is 0.
  explicit WorkMeter(std::size_t cache_bytes) : lines_max_(cache_bytes / line_bytes) {}

  void add(const Instruction& instruction, std::size_t threads);
  void access(std::uint64_t address, std::size_t bytes, bool is_write);
  // After the cache has written back what is left.
  Work take();

 private:
  static constexpr std::size_t line_bytes = 32;  // the sector, which memory transfers
  struct Line {
    std::uint64_t number = 0;
    bool is_changed = false;
  };

  void touch(std::uint64_t number, bool is_write);

  std::size_t lines_max_;
  std::list<Line> lines_ = {};  // most recently used first
  std::unordered_map<std::uint64_t, std::list<Line>::iterator> found_ = {};
  Work work_ = {};
};

}  // namespace calpe::ptx
