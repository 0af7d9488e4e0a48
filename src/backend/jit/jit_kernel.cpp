// SPDX-License-Identifier: Apache-2.0
#include "backend/jit/jit_kernel.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include "backend/streaming.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::jit {

namespace {

// The assembler needs one register for outputs that are added to.
ir::RegisterSet registers_of(InstructionSet set) {
  if (set == InstructionSet::avx512) return {.count = 31, .three_input_xor = true};
  return {.count = 15, .three_input_xor = false};
}

constexpr std::size_t slots_few = 16;

constexpr std::size_t scratch_bytes(std::size_t slots) {
  return sizeof(ScratchHead) + slots * block_bytes;
}

}  // namespace

Result<JitKernel> JitKernel::create(const ir::Program& program, InstructionSet set,
                                    std::string* listing) {
  if (program.terms().size() > steps_max) {
    return make_error(ErrorCode::compile_failed, "program has ", program.terms().size(),
                      " terms; expected at most ", steps_max);
  }
  const ir::RegisterPlan plan = ir::plan_registers(program, registers_of(set));
  if (plan.slots > slots_max) {
    return make_error(ErrorCode::compile_failed, "program keeps ", plan.slots,
                      " temporary values at once; expected at most ", slots_max);
  }
  std::vector<Loop> loops = {{}, {.accumulates = true}, {.streams = true}};  // same order as Way
  if (program.unit_count() <= strided_units_max) {
    for (std::size_t way = 0; way < way_count; ++way) {
      loops.push_back(loops[way]);
      loops.back().is_strided = true;
    }
  }
  CALPE_TRY(const Assembly assembly, assemble(program.shape(), plan, set, loops, listing));
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

// Streams if it pays off and every block of every output is aligned.
bool JitKernel::can_stream(const Batch& batch) const {
  if (!wants_streaming(batch, (input_shards_ + output_shards_) * unit_count_)) return false;
  const Geometry& geometry = batch.geometry;
  std::uintptr_t rest = geometry.offset | geometry.group_stride;
  if (unit_count_ > 1) rest |= geometry.unit_stride;
  for (std::size_t i = 0; i < batch.stripe_count * output_shards_; ++i)
    rest |= reinterpret_cast<std::uintptr_t>(batch.outputs[i]);
  return rest % block_bytes == 0;
}

std::size_t JitKernel::run_in_scratch(const Batch& batch) const {
  const Geometry& geometry = batch.geometry;
  const std::size_t blocks = geometry.unit_bytes / block_bytes;
  if (loops_[strided] == nullptr && !lies_as_planes(geometry)) return geometry.unit_bytes;
  if (blocks != 0 && geometry.group_count != 0) {
    if (slots_ <= slots_few) {
      alignas(block_bytes) std::array<std::byte, scratch_bytes(slots_few)> scratch;
      run_stripes(batch, blocks, scratch.data());
    } else {
      run_with_many_slots(batch, blocks);
    }
  }
  return geometry.unit_bytes % block_bytes;
}

// Not inlined, so that only programs with many temporaries pay for the stack.
[[gnu::noinline]] void JitKernel::run_with_many_slots(const Batch& batch,
                                                      std::size_t blocks) const {
  alignas(block_bytes) std::array<std::byte, scratch_bytes(slots_max)> scratch;
  run_stripes(batch, blocks, scratch.data());
}

void JitKernel::run_stripes(const Batch& batch, std::size_t blocks, std::byte* scratch) const {
  const Geometry& geometry = batch.geometry;
  const bool is_planes = lies_as_planes(geometry);
  const BlockFunction loop = loops_[(is_planes ? planes : strided) + way_of(batch)];
  auto* const head = new (scratch) ScratchHead;
  head->unit_stride = geometry.unit_stride;
  // Longer units are processed one group at a time. So is a single unit, because its groups may be
  // anywhere.
  const bool steps_over_groups = is_planes && unit_count_ > 1;
  const std::size_t calls = steps_over_groups ? 1 : geometry.group_count;
  const std::size_t count = steps_over_groups ? geometry.group_count : blocks;
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    const std::byte* const* const inputs = batch.inputs + stripe * input_shards_;
    std::byte* const* const outputs = batch.outputs + stripe * output_shards_;
    for (std::size_t call = 0; call < calls; ++call) {
      loop(inputs, outputs, geometry.offset + call * geometry.group_stride, count, scratch);
    }
  }
}

}  // namespace calpe::backend::jit
