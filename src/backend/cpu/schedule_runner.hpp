// SPDX-License-Identifier: Apache-2.0
// Runs the schedule of a transform over one block of columns.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/cpu_kernels.hpp"
#include "backend/cpu/transform_schedule.hpp"

namespace calpe::backend::cpu {

// Immutable. Does not allocate.
class ScheduleRunner {
 public:
  // Pointers of the steps. Those to cells depend on the block's length, the others on its position.
  struct Scratch {
    static constexpr std::size_t vector_bytes_max = 64;
    static constexpr std::size_t block_bytes_max = 1024;
    alignas(vector_bytes_max) std::array<std::byte, block_bytes_max> dump;
    // Room for one and a half times the longest schedule known, that of 128+128 with half of its
    // shards lost at random and two layers a pass: 1183 sources and 852 targets.
    std::array<const std::byte*, 1792> sources;
    std::array<std::byte*, 1152> targets;
    const std::byte* cells = nullptr;  // what the pointers to cells are for
    std::size_t bytes = 0;
  };
  struct Block {
    const std::byte* const* inputs = nullptr;
    std::byte* const* outputs = nullptr;
    std::size_t begin = 0;  // offset in every input and output
    std::size_t bytes = 0;  // a multiple of a vector, at most block_bytes()
    bool accumulate = false;
    bool streams = false;  // outputs are aligned to a vector at `begin`
  };

  ScheduleRunner(TransformSchedule schedule, const CpuKernels& kernels);

  // Returns the longest block for cells in `cell_bytes` bytes in all, a multiple of `vector`.
  std::size_t block_bytes(std::size_t cell_bytes, std::size_t vector) const noexcept;
  bool uses_cells() const noexcept { return schedule_.cells() > 0; }
  // `cells` is aligned to a vector.
  void run(const Block& block, std::byte* cells, Scratch& scratch) const;

 private:
  struct Moving {  // a pointer into an input or output
    std::uint16_t slot = 0;
    std::uint16_t shard = 0;
  };
  void place_cells(std::byte* cells, std::size_t bytes, Scratch& scratch) const;
  void run_pass(const TransformSchedule::Step& step, ButterflyKernel kernel, std::size_t bytes,
                const Scratch& scratch) const;
  static ButterflyKernel output_kernel(const TransformSchedule::Step& step,
                                       const Block& block) noexcept;

  TransformSchedule schedule_;
  const CpuKernels* kernels_;
  std::vector<Moving> inputs_;   // slots of sources
  std::vector<Moving> outputs_;  // slots of targets
};

}  // namespace calpe::backend::cpu
