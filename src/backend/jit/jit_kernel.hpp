// SPDX-License-Identifier: Apache-2.0
// Machine code of one xor program, and how a batch runs through it.
#pragma once
#include <array>
#include <string>

#include "backend/backend.hpp"
#include "backend/jit/assembler.hpp"
#include "backend/jit/code_memory.hpp"

namespace calpe::backend::jit {

// Immutable; run() allocates nothing and may be called by many threads.
class JitKernel {
 public:
  // More values set aside at once than this, and memory is what limits: the generic kernel is as
  // good.
  static constexpr std::size_t slots_max = 512;

  // `program` must be sound. Fails with compile_failed for a program whose values set aside exceed
  // slots_max, and as CodeMemory does. `listing` may be null.
  static Result<JitKernel> create(const ir::Program& program, InstructionSet set,
                                  std::string* listing);

  // Whole blocks of 64 bytes of every unit. Returns how many bytes at the end of each unit it left
  // alone: all of them where units lie as no loop here takes them.
  std::size_t run(const Batch& batch) const;

 private:
  enum LoopKind : std::size_t { planes, planes_adding, strided, strided_adding, loop_count };
  explicit JitKernel(CodeMemory memory) : memory_(std::move(memory)) {}
  void run_with_many_slots(const Batch& batch, std::size_t blocks) const;
  void run_stripes(const Batch& batch, std::size_t blocks, std::byte* scratch) const;
  bool lies_as_planes(const Geometry& geometry) const;

  CodeMemory memory_;
  std::array<BlockFunction, loop_count> loops_ = {};
  std::size_t input_shards_ = 0;
  std::size_t output_shards_ = 0;
  std::size_t unit_count_ = 1;
  std::size_t slots_ = 0;
};

}  // namespace calpe::backend::jit
