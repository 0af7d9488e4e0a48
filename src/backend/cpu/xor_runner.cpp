// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/xor_runner.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "ir/verify.hpp"

namespace calpe::backend::cpu {

namespace {

// Maximum number of pointers per kernel call; longer sums continue in the next call.
constexpr std::size_t sources_max = 64;

// Total size of the values of a block. Calls cost more than the step from L1 to L2: 32 KiB is a
// quarter slower (docs/performance.md).
constexpr std::size_t working_set_bytes = 256 * 1024;
constexpr std::size_t block_bytes_wanted_min = 1024;
constexpr std::size_t block_bytes_max = 4096;

std::size_t choose_block_bytes(std::size_t values, std::size_t slots) {
  std::size_t bytes = working_set_bytes / std::max<std::size_t>(values, 1);
  bytes = std::clamp(bytes, block_bytes_wanted_min, block_bytes_max);
  if (slots != 0) bytes = std::min(bytes, XorRunner::scratch_bytes_max / slots);
  return bytes / XorRunner::block_bytes_min * XorRunner::block_bytes_min;
}

}  // namespace

// Assigns places to values. Temporaries use scratch slots, which are reused after the last read. So
// do outputs that a later instruction reads; they are copied out when ready, because with
// Batch::accumulate the output memory never holds the program's value.
class XorRunner::Builder {
 public:
  Builder(const ir::Program& program, XorRunner& runner)
      : program_(program),
        runner_(runner),
        last_read_(program.values(), never),
        slots_(program.values()) {
    for (std::size_t at = 0; at < program.instructions().size(); ++at) {
      for (const ir::Term& term : program.terms(program.instructions()[at])) {
        last_read_[term.value] = at;
      }
    }
  }

  void build() {
    for (std::size_t at = 0; at < program_.instructions().size(); ++at) {
      const ir::Instruction& instruction = program_.instructions()[at];
      const ir::Value target = instruction.target;
      // Before freeing the operands' slots: a sum of several steps must not overwrite a source.
      if (needs_slot(target)) slots_[target] = take_slot();
      add_sum(place_of(target), program_.terms(instruction));
      if (needs_slot(target) && program_.is_output(target)) {
        add_sum(shard_place(Space::output, target - program_.inputs()),
                std::array{ir::Term{.value = target}});
      }
      free_slots(at);
    }
  }

 private:
  static constexpr std::size_t never = ~std::size_t{0};

  bool needs_slot(ir::Value v) const {
    return program_.is_output(v) ? last_read_[v] != never : !program_.is_input(v);
  }
  std::uint16_t take_slot() {
    if (free_.empty()) return static_cast<std::uint16_t>(runner_.slot_count_++);
    const std::uint16_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void free_slots(std::size_t at) {
    const ir::Instruction& instruction = program_.instructions()[at];
    for (const ir::Term& term : program_.terms(instruction)) {
      if (last_read_[term.value] != at || !needs_slot(term.value)) continue;
      free_.push_back(slots_[term.value]);
      last_read_[term.value] = 0;  // a value that is named twice is freed once
    }
    if (needs_slot(instruction.target) && last_read_[instruction.target] == never) {
      free_.push_back(slots_[instruction.target]);  // a temporary that is never read
    }
  }

  Place shard_place(Space space, std::size_t index) const {
    return {.shard = static_cast<std::uint32_t>(index / program_.unit_count()),
            .unit = static_cast<std::uint16_t>(index % program_.unit_count()),
            .space = space};
  }
  Place place_of(ir::Value v) const {
    if (needs_slot(v)) return {.shard = 0, .unit = slots_[v], .space = Space::scratch};
    if (program_.is_input(v)) return shard_place(Space::input, v);
    return shard_place(Space::output, v - program_.inputs());
  }

  void add_sum(const Place& target, std::span<const ir::Term> terms) {
    bool continues = false;
    do {  // runs once even without terms, to zero the target
      const std::size_t count = std::min(terms.size(), sources_max);
      runner_.steps_.push_back({.target = target,
                                .first_source = static_cast<std::uint32_t>(runner_.sources_.size()),
                                .source_count = static_cast<std::uint16_t>(count),
                                .continues = continues});
      for (const ir::Term& term : terms.first(count)) {
        runner_.sources_.push_back(place_of(term.value));
      }
      terms = terms.subspan(count);
      continues = true;
    } while (!terms.empty());
  }

  const ir::Program& program_;
  XorRunner& runner_;
  std::vector<std::size_t> last_read_;  // by value: the instruction, or never
  std::vector<std::uint16_t> slots_;    // by value
  std::vector<std::uint16_t> free_;
};

Result<XorRunner> XorRunner::create(const ir::Program& program, const CpuKernels& kernels) {
  if (const Status sound = ir::verify(program); !sound) {
    return make_error(ErrorCode::compile_failed, sound.error().message);
  }
  XorRunner runner;
  runner.kernels_ = &kernels;
  runner.input_shards_ = program.input_shards();
  runner.output_shards_ = program.output_shards();
  Builder(program, runner).build();
  if (runner.slot_count_ > slots_max) {
    return make_error(ErrorCode::compile_failed, "program keeps ", runner.slot_count_,
                      " values in scratch at once; expected at most ", slots_max);
  }
  runner.block_bytes_ = choose_block_bytes(
      program.inputs() + program.outputs() + runner.slot_count_, runner.slot_count_);
  return runner;
}

// One block of one group of one stripe. The address of a Place is bases[space][shard] +
// offsets[space] + unit * strides[space].
struct XorRunner::Block {
  std::array<const std::byte* const*, 3> bases;
  std::array<std::size_t, 3> offsets;
  std::array<std::size_t, 3> strides;
  std::size_t bytes;
  bool accumulate;

  const std::byte* address(const Place& place) const {
    const auto space = static_cast<std::size_t>(place.space);
    return bases[space][place.shard] + offsets[space] + place.unit * strides[space];
  }
};

void XorRunner::run(const Batch& batch) const {
  if (slot_count_ == 0) {
    run_blocks(batch, nullptr);
  } else {
    run_with_scratch(batch);
  }
}

// Not inlined, so that only programs with temporaries pay for the stack.
[[gnu::noinline]] void XorRunner::run_with_scratch(const Batch& batch) const {
  alignas(64) std::array<std::byte, scratch_bytes_max> scratch;
  run_blocks(batch, scratch.data());
}

void XorRunner::run_blocks(const Batch& batch, std::byte* scratch) const {
  const Geometry& geometry = batch.geometry;
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    Block block{.bases = {batch.inputs + stripe * input_shards_,
                          batch.outputs + stripe * output_shards_, &scratch},
                .offsets = {},
                .strides = {geometry.unit_stride, geometry.unit_stride, block_bytes_},
                .bytes = 0,
                .accumulate = batch.accumulate};
    for (std::size_t group = 0; group < geometry.group_count; ++group) {
      const std::size_t begin = geometry.offset + group * geometry.group_stride;
      for (std::size_t done = 0; done < geometry.unit_bytes; done += block.bytes) {
        block.bytes = std::min(block_bytes_, geometry.unit_bytes - done);
        block.offsets = {begin + done, begin + done, 0};
        run_block(block);
      }
    }
  }
}

void XorRunner::run_block(const Block& block) const {
  std::array<const std::byte*, sources_max> sources;
  for (const Step& step : steps_) {
    for (std::size_t i = 0; i < step.source_count; ++i) {
      sources[i] = block.address(sources_[step.first_source + i]);
    }
    // Outputs and scratch are writable; inputs are never targets.
    auto* target = const_cast<std::byte*>(block.address(step.target));
    const bool adds = step.continues || (block.accumulate && step.target.space == Space::output);
    (adds ? kernels_->xor_add : kernels_->xor_into)(sources.data(), step.source_count, target,
                                                    block.bytes);
  }
}

}  // namespace calpe::backend::cpu
