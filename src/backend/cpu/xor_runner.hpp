// SPDX-License-Identifier: Apache-2.0
// Runs an xor program one instruction at a time over blocks of columns that stay in the L2 cache.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "ir/program.hpp"

namespace calpe::backend::cpu {

// Immutable. run() does not allocate, needs up to scratch_bytes_max of extra stack and is
// thread-safe.
class XorRunner {
 public:
  static constexpr std::size_t scratch_bytes_max = 64 * 1024;
  static constexpr std::size_t block_bytes_min = 64;
  static constexpr std::size_t slots_max = scratch_bytes_max / block_bytes_min;

  // Fails with compile_failed if the program is unsound or needs more than slots_max values in
  // scratch at once.
  static Result<XorRunner> create(const ir::Program& program, const CpuKernels& kernels);

  void run(const Batch& batch) const;

  std::size_t slot_count() const noexcept { return slot_count_; }
  std::size_t block_bytes() const noexcept { return block_bytes_; }

 private:
  // Location of a value: unit u of a shard. In scratch, the shard is 0 and the unit is the slot.
  enum class Space : std::uint8_t { input, output, scratch };
  struct Place {
    std::uint32_t shard = 0;
    std::uint16_t unit = 0;
    Space space = Space::scratch;
  };
  // target = sum of sources; with `continues`, target +=. Long sums take several steps.
  struct Step {
    Place target = {};
    std::uint32_t first_source = 0;
    std::uint16_t source_count = 0;
    bool continues = false;
  };
  struct Block;
  class Builder;

  XorRunner() = default;
  void run_with_scratch(const Batch& batch) const;
  void run_blocks(const Batch& batch, std::byte* scratch) const;
  void run_block(const Block& block) const;

  const CpuKernels* kernels_ = nullptr;
  std::vector<Step> steps_;
  std::vector<Place> sources_;
  std::size_t input_shards_ = 0;
  std::size_t output_shards_ = 0;
  std::size_t slot_count_ = 0;
  std::size_t block_bytes_ = 0;
};

}  // namespace calpe::backend::cpu
