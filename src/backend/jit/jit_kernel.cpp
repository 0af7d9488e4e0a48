// SPDX-License-Identifier: Apache-2.0
#include "backend/jit/jit_kernel.hpp"

#include <bit>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::jit {

namespace {

// One register is the assembler's own, for outputs that are added to.
RegisterSet registers_of(InstructionSet set) {
  if (set == InstructionSet::avx512) return {.count = 31, .three_input_xor = true};
  return {.count = 15, .three_input_xor = false};
}

constexpr std::size_t slots_few = 16;

}  // namespace

Result<JitKernel> JitKernel::create(const ir::Program& program, InstructionSet set,
                                    std::string* listing) {
  const RegisterPlan plan = plan_registers(program, registers_of(set));
  if (plan.slots > slots_max) {
    return make_error(ErrorCode::compile_failed, "program sets ", plan.slots,
                      " values aside at once, expected at most ", slots_max);
  }
  std::vector<Loop> loops = {{}, {.accumulates = true}};
  if (program.unit_count() <= strided_units_max) {
    loops.push_back({.is_strided = true});
    loops.push_back({.is_strided = true, .accumulates = true});
  }
  CALPE_TRY(const Assembly assembly, assemble(plan, set, loops, listing));
  CALPE_TRY(CodeMemory memory, CodeMemory::create(assembly.code));
  JitKernel kernel(std::move(memory));
  for (std::size_t i = 0; i < assembly.entries.size(); ++i) {
    kernel.loops_[i] = std::bit_cast<BlockFunction>(kernel.memory_.data() + assembly.entries[i]);
  }
  kernel.input_shards_ = program.input_shards();
  kernel.output_shards_ = program.output_shards();
  kernel.unit_count_ = program.unit_count();
  kernel.slots_ = plan.slots;
  return kernel;
}

std::size_t JitKernel::rest_bytes(const Geometry& geometry) const {
  if (!lies_as_planes(geometry) && loops_[strided] == nullptr) return geometry.unit_bytes;
  return geometry.unit_bytes % block_bytes;
}

bool JitKernel::lies_as_planes(const Geometry& geometry) const {
  return geometry.unit_stride == block_bytes || unit_count_ == 1;
}

void JitKernel::run(const Batch& batch) const {
  if (slots_ <= slots_few) {
    run_with_scratch<slots_few>(batch);
  } else {
    run_with_scratch<slots_max>(batch);
  }
}

// Not inlined: only programs that set many values aside pay for the stack.
template <std::size_t slots>
[[gnu::noinline]] void JitKernel::run_with_scratch(const Batch& batch) const {
  alignas(block_bytes) std::array<std::byte, sizeof(ScratchHead) + slots * block_bytes> scratch;
  run_stripes(batch, scratch.data());
}

void JitKernel::run_stripes(const Batch& batch, std::byte* scratch) const {
  const Geometry& geometry = batch.geometry;
  const std::size_t blocks = (geometry.unit_bytes - rest_bytes(geometry)) / block_bytes;
  if (blocks == 0 || geometry.group_count == 0) return;
  const bool is_planes = lies_as_planes(geometry);
  const std::size_t kind = (is_planes ? planes : strided) + (batch.accumulate ? 1 : 0);
  const BlockFunction loop = loops_[kind];
  auto* const head = new (scratch) ScratchHead;
  head->unit_stride = geometry.unit_stride;
  // Planes are one block long: a loop takes a block of every group. Longer units are taken one
  // group after the other.
  const bool steps_over_groups = blocks == 1 && is_planes;
  const std::size_t calls = steps_over_groups ? 1 : geometry.group_count;
  const std::size_t count = steps_over_groups ? geometry.group_count : blocks;
  const std::size_t step = steps_over_groups ? geometry.group_stride : block_bytes;
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    const std::byte* const* const inputs = batch.inputs + stripe * input_shards_;
    std::byte* const* const outputs = batch.outputs + stripe * output_shards_;
    for (std::size_t call = 0; call < calls; ++call) {
      loop(inputs, outputs, geometry.offset + call * geometry.group_stride, count, step, scratch);
    }
  }
}

}  // namespace calpe::backend::jit
