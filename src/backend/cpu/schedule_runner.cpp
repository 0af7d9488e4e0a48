// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/schedule_runner.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace calpe::backend::cpu {

namespace {

using Kind = BlockRef::Kind;
using Step = TransformSchedule::Step;

constexpr std::size_t zero_bytes = 8192;
alignas(64) constexpr std::array<std::byte, zero_bytes> zero_block = {};

}  // namespace

ScheduleRunner::ScheduleRunner(TransformSchedule schedule, const CpuKernels& kernels)
    : schedule_(std::move(schedule)), kernels_(&kernels) {
  CALPE_ASSERT(schedule_.sources().size() <= Scratch{}.sources.size());
  CALPE_ASSERT(schedule_.targets().size() <= Scratch{}.targets.size());
  for (std::size_t i = 0; i < schedule_.sources().size(); ++i) {
    const BlockRef& source = schedule_.sources()[i];
    if (source.kind == Kind::input)
      inputs_.push_back({.slot = static_cast<std::uint16_t>(i), .shard = source.index});
  }
  for (std::size_t i = 0; i < schedule_.targets().size(); ++i) {
    const BlockRef& target = schedule_.targets()[i];
    if (target.kind == Kind::output)
      outputs_.push_back({.slot = static_cast<std::uint16_t>(i), .shard = target.index});
  }
}

std::size_t ScheduleRunner::block_bytes(std::size_t cell_bytes, std::size_t vector) const noexcept {
  const std::size_t bytes = std::min({Scratch::block_bytes_max, zero_bytes / schedule_.run_max(),
                                      cell_bytes / std::max<std::size_t>(schedule_.cells(), 1)});
  return bytes / vector * vector;
}

void ScheduleRunner::place_cells(std::byte* cells, std::size_t bytes, Scratch& scratch) const {
  scratch.cells = cells;
  scratch.bytes = bytes;
  for (std::size_t i = 0; i < schedule_.sources().size(); ++i) {
    const BlockRef& source = schedule_.sources()[i];
    if (source.kind == Kind::cell) scratch.sources[i] = cells + source.index * bytes;
    if (source.kind == Kind::zeros) scratch.sources[i] = zero_block.data();
  }
  for (std::size_t i = 0; i < schedule_.targets().size(); ++i) {
    const BlockRef& target = schedule_.targets()[i];
    if (target.kind == Kind::cell) scratch.targets[i] = cells + target.index * bytes;
    if (target.kind == Kind::dump) scratch.targets[i] = scratch.dump.data();
  }
}

void ScheduleRunner::run(const Block& block, std::byte* cells, Scratch& scratch) const {
  if (scratch.cells != cells || scratch.bytes != block.bytes)
    place_cells(cells, block.bytes, scratch);
  for (const Moving& input : inputs_)
    scratch.sources[input.slot] = block.inputs[input.shard] + block.begin;
  for (const Moving& output : outputs_)
    scratch.targets[output.slot] = block.outputs[output.shard] + block.begin;
  for (const Step& step : schedule_.steps()) {
    const std::byte* const* const sources = &scratch.sources[step.sources];
    std::byte* const target = scratch.targets[step.targets];
    switch (step.kind) {
      case Step::Kind::pass:
        run_pass(step, step.kernel, block.bytes, scratch);
        break;
      case Step::Kind::outputs:
        run_pass(step, output_kernel(step, block), block.bytes, scratch);
        break;
      case Step::Kind::copy:
        (block.accumulate ? kernels_->xor_add : kernels_->xor_into)(sources, step.groups, target,
                                                                    block.bytes);
        break;
      case Step::Kind::sum:
        kernels_->xor_into(sources, step.groups, target, block.bytes);
        break;
      case Step::Kind::add:
        kernels_->xor_add(sources, step.groups, target, block.bytes);
        break;
    }
  }
}

void ScheduleRunner::run_pass(const Step& step, ButterflyKernel kernel, std::size_t bytes,
                              const Scratch& scratch) const {
  kernel({.sources = &scratch.sources[step.sources],
          .targets = &scratch.targets[step.targets],
          .addends = &scratch.sources[step.addends],
          .tables = schedule_.tables() + step.tables,
          .table_step = step.table_step,
          .groups = step.groups,
          .bytes = step.run * bytes});
}

ButterflyKernel ScheduleRunner::output_kernel(const Step& step, const Block& block) noexcept {
  const OutputKernels& kernels = *step.outputs;
  if (block.accumulate) return kernels.add;
  if (block.streams) return kernels.stream;
  return step.has_factors ? kernels.scaled : kernels.over;
}

}  // namespace calpe::backend::cpu
