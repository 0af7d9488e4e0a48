// SPDX-License-Identifier: Apache-2.0
// Runs a kernel block by block, with all threads of a block in lock-step. After a divergence, the
// threads furthest behind in the source continue first, so that they meet again.
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
          const Surroundings& around);
  // Runs all blocks. Throws PtxError.
  void run();

 private:
  struct FreeAligned {
    void operator()(std::byte* memory) const;
  };

  void place_steps();
  void fill(RegisterId id, std::uint64_t value);
  void fill_specials(const std::array<std::uint32_t, 3>& at);
  void run_block(const std::array<std::uint32_t, 3>& at);
  // Selects the lanes furthest behind and their next instruction. Returns false if none is left.
  bool choose(std::uint32_t& at, std::uint32_t& meeting);
  void release_barrier();
  // Runs without divergence from `at` until `meeting`.
  void run_active(std::uint32_t at, std::uint32_t meeting);
  void run_step(const Step& step, std::size_t index);
  void leave(const Step& step, std::uint32_t at);

  std::byte* place(RegisterId id) {
    return registers_.get() + kernel_.registers[id].offset * stride_;
  }
  std::uint32_t end() const { return static_cast<std::uint32_t>(steps_.size()); }

  const Kernel& kernel_;
  LaunchShape shape_;
  WorkMeter& meter_;
  Memories memories_;
  std::size_t count_;
  std::size_t stride_;  // lanes per register, rounded up to whole vectors
  std::unique_ptr<std::byte, FreeAligned> registers_;
  std::vector<Step> steps_ = {};
  std::vector<std::uint32_t> next_;  // instruction of each lane
  std::vector<std::uint8_t> waits_;  // at a barrier
  std::vector<std::uint8_t> active_;
  std::vector<std::uint8_t> guarded_;
  Lanes lanes_ = {};
  std::size_t active_count_ = 0;
  std::uint64_t steps_left_ = 0;
};

}  // namespace calpe::ptx
