// SPDX-License-Identifier: Apache-2.0
// Runs a kernel, block after block: all threads of a block in lock-step. Where they part, those
// furthest behind in the text go on first, so that they meet again.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ptx_interpreter/ptx_memories.hpp"
#include "ptx_interpreter/ptx_step.hpp"

namespace calpe::ptx {

struct LaunchShape {
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::size_t threads() const { return std::size_t{block[0]} * block[1] * block[2]; }
};

class Machine {
 public:
  Machine(const Kernel& kernel, const LaunchShape& shape, std::span<const std::byte> parameters,
          const MemoryView& global, AccessLog& log);
  // All blocks. Throws PtxError.
  void run();

 private:
  struct FreeAligned {
    void operator()(std::byte* memory) const;
  };

  void place_steps();
  void fill(RegisterId id, std::uint64_t value);
  void fill_specials(const std::array<std::uint32_t, 3>& at);
  void run_block(const std::array<std::uint32_t, 3>& at);
  // The instruction that the lanes furthest behind have next; makes them active. False: none left.
  bool choose(std::uint32_t& at, std::uint32_t& meeting);
  void release_barrier();
  // One stretch without parting, from `at` until `meeting`.
  void run_active(std::uint32_t at, std::uint32_t meeting);
  void run_step(const Step& step, std::size_t index);
  void leave(const Step& step, std::uint32_t at);

  std::byte* place(RegisterId id) {
    return registers_.get() + kernel_.registers[id].offset * stride_;
  }
  std::uint32_t end() const { return static_cast<std::uint32_t>(steps_.size()); }

  const Kernel& kernel_;
  LaunchShape shape_;
  Memories memories_;
  std::size_t count_;
  std::size_t stride_;  // lanes of a register, rounded up to whole vectors
  std::unique_ptr<std::byte, FreeAligned> registers_;
  std::vector<Step> steps_ = {};
  std::vector<std::uint32_t> next_;  // instruction of each lane
  std::vector<std::uint8_t> waits_;  // at a barrier
  std::vector<std::uint8_t> active_;
  std::vector<std::uint8_t> guarded_;
  Lanes lanes_ = {};
  std::uint64_t steps_left_ = 0;
};

}  // namespace calpe::ptx
