// SPDX-License-Identifier: Apache-2.0
// Machine code of one xor program, and how to run a batch with it.
#pragma once
#include <array>
#include <string>

#include "backend/backend.hpp"
#include "backend/jit/assembler.hpp"
#include "backend/jit/code_memory.hpp"

namespace calpe::backend::jit {

// Immutable. run() does not allocate and is thread-safe.
class JitKernel {
 public:
  // With more temporaries than this, memory is the limit and the generic kernel is equally fast.
  static constexpr std::size_t slots_max = 512;
  static constexpr std::size_t small_bytes = std::size_t{16} << 10U;  // smaller shards never stream
  // Limits the code size: the code is read from the L2 cache for every 64 bytes of a unit.
  static constexpr std::size_t steps_max = std::size_t{1} << 15U;

  // `program` must be sound. Fails with compile_failed for a program that exceeds slots_max or
  // steps_max, and as CodeMemory does. `listing` may be null.
  static Result<JitKernel> create(const ir::Program& program, InstructionSet set,
                                  std::string* listing);

  // Processes whole blocks of 64 bytes of every unit. Returns how many bytes at the end of each
  // unit are left; all of them if no loop supports this layout.
  std::size_t run(const Batch& batch) const {
    const Geometry& geometry = batch.geometry;
    if (slots_ != 0 || unit_count_ == 1 || !lies_as_planes(geometry) || geometry.group_count == 0) {
      return run_in_scratch(batch);
    }
    // Fast path for planes in registers, the usual case: a stripe of 4 KiB shards takes a hundred
    // nanoseconds, and there is nothing to set up.
    const BlockFunction loop = loops_[planes + way_of(batch)];
    const std::byte* const* inputs = batch.inputs;
    std::byte* const* outputs = batch.outputs;
    for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
      loop(inputs, outputs, geometry.offset, geometry.group_count, nullptr);
      inputs += input_shards_;
      outputs += output_shards_;
    }
    return geometry.unit_bytes % block_bytes;
  }

 private:
  // How outputs are written, for both layouts of units.
  enum Way : std::size_t { writes, adds, streams, way_count };
  static constexpr std::size_t planes = 0;  // its first loop
  static constexpr std::size_t strided = way_count;
  static constexpr std::size_t loop_count = 2 * std::size_t{way_count};
  explicit JitKernel(CodeMemory memory) : memory_(std::move(memory)) {}
  // Units and groups are side by side, one block each, so one loop covers all groups.
  bool lies_as_planes(const Geometry& geometry) const {
    if (unit_count_ == 1) return true;
    return geometry.unit_bytes / block_bytes == 1 && geometry.unit_stride == block_bytes &&
           (geometry.group_count == 1 || geometry.group_stride == unit_count_ * block_bytes);
  }
  Way way_of(const Batch& batch) const {
    if (batch.accumulate) return adds;
    // Every supported processor's caches hold what passes the first test.
    const std::size_t bytes =
        batch.stripe_count * batch.geometry.group_count * batch.geometry.unit_bytes * unit_count_;
    if (batch.stores != Stores::streaming && bytes < small_bytes) return writes;
    return can_stream(batch) ? streams : writes;
  }
  bool can_stream(const Batch& batch) const;
  std::size_t run_in_scratch(const Batch& batch) const;
  void run_with_many_slots(const Batch& batch, std::size_t blocks) const;
  void run_stripes(const Batch& batch, std::size_t blocks, std::byte* scratch) const;

  CodeMemory memory_;
  std::array<BlockFunction, loop_count> loops_ = {};
  std::size_t input_shards_ = 0;
  std::size_t output_shards_ = 0;
  std::size_t unit_count_ = 1;
  std::size_t slots_ = 0;
};

}  // namespace calpe::backend::jit
