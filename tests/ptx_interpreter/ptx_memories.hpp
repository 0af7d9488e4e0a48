// SPDX-License-Identifier: Apache-2.0
// Memory that a block accesses: parameters, shared memory, device memory. Checks bounds and
// alignment of every access, and races in shared memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ptx_interpreter/access_log.hpp"
#include "ptx_interpreter/device_memory.hpp"
#include "ptx_interpreter/ptx_step.hpp"
#include "ptx_interpreter/work_meter.hpp"

namespace calpe::ptx {

// What a launch uses outside of its blocks.
struct Surroundings {
  const MemoryView& global;
  AccessLog& log;
  WorkMeter& meter;
};

class Memories {
 public:
  Memories(std::span<const std::byte> parameters, const Surroundings& around,
           std::size_t shared_bytes)
      : parameters_(parameters),
        global_(around.global),
        log_(around.log),
        meter_(around.meter),
        shared_(shared_bytes),
        writers_(shared_bytes),
        readers_(shared_bytes) {}

  void start_block();
  void pass_barrier() { ++epoch_; }
  // Throws PtxError. `index` is that of the instruction, for the log.
  void access(const Step& step, const Lanes& lanes, std::size_t index);

 private:
  // Lanes [first, first + count) with consecutive or equal addresses.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 0;
    std::uint64_t address = 0;
    bool is_same = false;
  };
  Run next_run(const std::uint64_t* addresses, const Lanes& lanes, std::size_t first,
               std::size_t bytes) const;
  void access_global(const Step& step, const Lanes& lanes, std::size_t index);
  void access_shared(const Step& step, const Lanes& lanes);
  void touch_shared(const Instruction& instruction, std::uint64_t at, std::size_t bytes,
                    std::size_t lane);

  // The thread that last touched a byte of shared memory, and between which barriers.
  struct Touch {
    std::uint32_t epoch = 0;
    std::uint32_t lane = 0;
  };

  std::span<const std::byte> parameters_;
  const MemoryView& global_;
  AccessLog& log_;
  WorkMeter& meter_;
  std::vector<std::byte> shared_;
  std::vector<Touch> writers_;
  std::vector<Touch> readers_;
  std::uint32_t epoch_ = 1;
  std::uint32_t block_epoch_ = 1;  // at the start of the block
};

}  // namespace calpe::ptx
