// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/transform_runner.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "backend/streaming.hpp"
#include "base/cpu_features.hpp"
#include "base/divide_up.hpp"
#include "base/try.hpp"

namespace calpe::backend::cpu {

namespace {

// Inputs to read side by side. The prefetcher follows 32 streams; a few more do no harm
// (docs/performance.md).
constexpr std::size_t narrow_inputs_max = 48;
constexpr std::size_t narrow_block_bytes = 4096;
// L1 space for the sums of a wide transform, which later hold its values. Long runs suit the
// prefetchers, short ones leave more of L1 to the inputs. Blocks are therefore longer if the shards
// come from beyond the core's own cache.
constexpr std::size_t sums_bytes = 32 * 1024;
constexpr std::size_t far_block_bytes = 1024;
constexpr std::size_t near_block_bytes = 512;
constexpr std::size_t near_schedule_bytes = 256;
constexpr std::size_t vector_bytes_max = 64;
constexpr std::size_t place_count = 256;

alignas(vector_bytes_max) constexpr std::array<std::byte, narrow_block_bytes> zeros = {};

}  // namespace

struct TransformRunner::Columns {
  const std::byte* const* inputs = nullptr;
  std::byte* const* outputs = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool accumulate = false;
  bool streams = false;
  bool is_near = false;  // the batch fits into the core's own cache
};

struct TransformRunner::Scratch {
  alignas(vector_bytes_max) std::array<std::byte, sums_bytes> sums;
  std::array<const std::byte*, place_count> places;  // of the current stripe, see enter()
  ScheduleRunner::Scratch schedule;
};

bool TransformRunner::has_kernels(const ir::Transform& transform) noexcept {
#if defined(CALPE_WITHOUT_ADDITIVE_FFT)
  constexpr bool is_built = false;
#else
  constexpr bool is_built = true;
#endif
  return is_built && (transform.locator || transform.has_cantor_basis()) &&
         transform.log_size >= transform_log_min && transform.log_size <= transform_log_max &&
         transform.field->word_bits() == 8 && !transform.places.empty() &&
         transform.places.size() + transform.outputs() <= place_count;
}

Result<TransformRunner> TransformRunner::create(const ir::Transform& transform,
                                                const CpuKernels& kernels,
                                                CoefficientTableCache& cache) {
  TransformRunner runner;
  runner.kernels_ = &kernels;
  runner.transforms_ = kernels.transforms[transform.log_size];
  runner.shared_tables_ = cache.get(*transform.field);
  runner.size_ = transform.size();
  runner.inputs_ = transform.places.size();
  runner.outputs_ = transform.outputs();
  if (transform.locator) {
    runner.schedule_.emplace(make_schedule(transform, kernels, *runner.shared_tables_), kernels);
    runner.schedule_block_bytes_ =
        runner.schedule_->block_bytes(sums_bytes, kernels.transform_bytes);
    CALPE_CHECK(runner.place_direct(*transform.locator, *transform.field, cache));
    return runner;
  }
  runner.points_.resize(place_count * table_entry_bytes(kernels.table_kind));
  std::array<std::uint8_t, place_count> points;
  std::ranges::copy(transform.points, points.begin());
  runner.shared_tables_->gather(points, runner.points_.data());

  std::array<std::int16_t, place_count> input_at;
  input_at.fill(-1);
  for (std::size_t i = 0; i < transform.places.size(); ++i)
    input_at[transform.places[i]] = static_cast<std::int16_t>(i);
  const std::size_t end = std::ranges::max(transform.places) + std::size_t{1};
  runner.set_chunks(end > runner.size_ ? end - runner.size_ : 1);
  const std::size_t used = runner.chunks_ * runner.size_ + runner.tail_;
  runner.input_at_.assign(
      input_at.begin() + static_cast<std::ptrdiff_t>(runner.size_),
      input_at.begin() + static_cast<std::ptrdiff_t>(std::min(place_count, runner.size_ + used)));
  runner.input_at_.resize(used, -1);
  for (std::size_t i = 0; i < used; ++i) {
    if (runner.input_at_[i] < 0) runner.empty_places_.push_back(static_cast<std::uint16_t>(i));
  }

  runner.values_ = transform.values;
  runner.value_count_ = transform.values.empty() ? 0 : transform.values.back() + std::size_t{1};
  runner.is_direct_ = !transform.finish && runner.value_count_ == transform.values.size();
  for (const std::uint16_t value : transform.values) {
    runner.added_.push_back(input_at[value]);
    runner.is_direct_ = runner.is_direct_ && input_at[value] < 0;
  }
  // The narrow kernels write more than half of the values. For fewer outputs, use the scratch.
  if (runner.is_narrow_ && runner.value_count_ <= runner.size_ / 2) runner.is_direct_ = false;
  if (transform.finish) {
    CALPE_TRY(runner.finish_,
              MatrixRunner::create(*transform.field, *transform.finish, kernels, cache));
  }
  return runner;
}

void TransformRunner::set_chunks(std::size_t places) {
  is_narrow_ = transforms_.narrow != nullptr && places <= narrow_inputs_max;
  chunks_ = std::max<std::size_t>(1, places / size_);
  const std::size_t rest = places > chunks_ * size_ ? places - chunks_ * size_ : 0;
  if (is_narrow_) {
    tail_ = rest == 0 ? 0 : rest <= 4 ? 4 : rest <= size_ / 2 ? size_ / 2 : size_;
  } else {
    tail_ = round_up(rest, transforms_.wide_tail);
  }
  if (tail_ == size_) {
    ++chunks_;
    tail_ = 0;
  }
}

// Outputs that the schedule writes first, then the others.
Status TransformRunner::place_direct(const ir::Locator& locator, const gf::Field& field,
                                     CoefficientTableCache& cache) {
  if (!locator.direct) return Done{};
  for (const bool adds : {true, false}) {
    Direct part{.adds = adds};
    for (std::size_t r = 0; r < outputs_; ++r) {
      if ((locator.outputs[r].factor != 0) == adds)
        part.outputs.push_back(static_cast<std::uint16_t>(r));
    }
    const auto is_used = [&](std::size_t i) {
      return std::ranges::any_of(part.outputs,
                                 [&](std::size_t r) { return (*locator.direct)(r, i) != 0; });
    };
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (is_used(i)) part.inputs.push_back(static_cast<std::uint16_t>(i));
    }
    if (part.outputs.empty() || (adds && part.inputs.empty())) continue;
    gf::Matrix rows(part.outputs.size(), part.inputs.size());
    for (std::size_t r = 0; r < rows.rows(); ++r) {
      for (std::size_t i = 0; i < rows.columns(); ++i)
        rows(r, i) = (*locator.direct)(part.outputs[r], part.inputs[i]);
    }
    CALPE_TRY(part.matrix, MatrixRunner::create(field, rows, *kernels_, cache));
    direct_.push_back(std::move(part));
  }
  return Done{};
}

void TransformRunner::run_direct(const Columns& columns, std::size_t begin,
                                 std::size_t bytes) const {
  std::array<const std::byte*, place_count> inputs;
  std::array<std::byte*, place_count> outputs;
  for (const Direct& part : direct_) {
    for (std::size_t i = 0; i < part.inputs.size(); ++i)
      inputs[i] = columns.inputs[part.inputs[i]] + begin;
    for (std::size_t r = 0; r < part.outputs.size(); ++r)
      outputs[r] = columns.outputs[part.outputs[r]] + begin;
    part.matrix->run({.inputs = inputs.data(),
                      .outputs = outputs.data(),
                      .geometry = {.unit_bytes = bytes},
                      .accumulate = part.adds || columns.accumulate,
                      .stores = Stores::cached});
  }
}

std::size_t TransformRunner::block_bytes(const Columns& columns) const noexcept {
  if (schedule_) {
    const bool is_short = columns.is_near && schedule_->uses_cells();
    return is_short ? std::min(near_schedule_bytes, schedule_block_bytes_) : schedule_block_bytes_;
  }
  const bool needs_sums = !is_narrow_ || !is_direct_ || columns.accumulate;
  if (!needs_sums) return narrow_block_bytes;
  return std::min(columns.is_near ? near_block_bytes : far_block_bytes, sums_bytes / size_);
}

void TransformRunner::run(const Batch& batch) const {
  Scratch scratch;
  const Geometry& geometry = batch.geometry;
  // Outputs that are added to come back from the caches.
  const bool is_streaming = !batch.accumulate && direct_.empty() && kernels_->fence != nullptr &&
                            wants_streaming(batch, inputs_ + outputs_);
  const bool is_near = bytes_touched(batch, inputs_ + outputs_) <= core_cache_bytes();
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    for (std::size_t group = 0; group < geometry.group_count; ++group) {
      const std::size_t begin = geometry.offset + group * geometry.group_stride;
      run_columns({.inputs = batch.inputs + stripe * inputs_,
                   .outputs = batch.outputs + stripe * outputs_,
                   .begin = begin,
                   .end = begin + geometry.unit_bytes,
                   .accumulate = batch.accumulate,
                   .streams = is_streaming,
                   .is_near = is_near},
                  scratch);
    }
  }
  if (is_streaming) kernels_->fence();
}

void TransformRunner::run_columns(const Columns& columns, Scratch& scratch) const {
  const std::size_t vector = std::max<std::size_t>(kernels_->transform_bytes, 1);
  Columns rest = columns;
  if (columns.streams) {
    const std::size_t head =
        bytes_to_alignment(std::span(columns.outputs, outputs_), columns.begin, vector);
    rest.streams = head < columns.end - columns.begin;
    if (rest.streams && head > 0) {
      run_staged(rest, rest.begin, head, scratch);
      rest.begin += head;
    }
  }
  const std::size_t block = block_bytes(columns);
  enter(columns.inputs, scratch);
  while (rest.end - rest.begin >= vector) {
    const std::size_t bytes = std::min(block, (rest.end - rest.begin) / vector * vector);
    run_block(rest, rest.begin, bytes, scratch);
    rest.begin += bytes;
  }
  if (rest.begin < rest.end) run_staged(rest, rest.begin, rest.end - rest.begin, scratch);
}

// Finds what every block of a stripe reads.
void TransformRunner::enter(const std::byte* const* shards, Scratch& scratch) const {
  for (std::size_t i = 0; i < input_at_.size(); ++i)
    scratch.places[i] = input_at_[i] < 0 ? nullptr : shards[input_at_[i]];
}

// Computes the first `wanted` values of `bytes` columns starting at `begin`.
void TransformRunner::transform(std::size_t begin, std::size_t bytes, const Values& to,
                                Scratch& scratch) const {
  // Places without a shard read zeros at any `begin`, because kernels add `begin` to all.
  const auto nowhere = reinterpret_cast<std::uintptr_t>(zeros.data()) - begin;
  for (const std::uint16_t empty : empty_places_) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): no object lies there before `begin` is added
    scratch.places[empty] = reinterpret_cast<const std::byte*>(nowhere);
  }
  const TransformBlock block{.inputs = scratch.places.data(),
                             .begin = begin,
                             .chunks = chunks_,
                             .tail = tail_,
                             .outputs = to.outputs,
                             .output_begin = to.begin,
                             .wanted = to.wanted,
                             .points = points_.data(),
                             .bytes = bytes,
                             .sums = scratch.sums.data()};
  if (is_narrow_) {
    (to.streams ? transforms_.narrow_stream : transforms_.narrow)(block);
  } else {
    (to.streams ? transforms_.wide_stream : transforms_.wide)(block);
  }
}

void TransformRunner::run_block(const Columns& columns, std::size_t begin, std::size_t bytes,
                                Scratch& scratch) const {
  if (schedule_) {
    schedule_->run({.inputs = columns.inputs,
                    .outputs = columns.outputs,
                    .begin = begin,
                    .bytes = bytes,
                    .accumulate = columns.accumulate,
                    .streams = columns.streams},
                   scratch.sums.data(), scratch.schedule);
    if (!direct_.empty()) run_direct(columns, begin, bytes);
  } else if (is_direct_ && !columns.accumulate) {
    transform(begin, bytes,
              {.outputs = columns.outputs,
               .begin = begin,
               .wanted = value_count_,
               .streams = columns.streams},
              scratch);
  } else {
    finish(columns, begin, bytes, scratch);
  }
}

// Writes values to the scratch in place of the sums (kernels read them before writing), then adds
// the inputs of the first coset there.
void TransformRunner::finish(const Columns& columns, std::size_t begin, std::size_t bytes,
                             Scratch& scratch) const {
  std::array<std::byte*, place_count> all;
  for (std::size_t i = 0; i < size_; ++i)
    all[i] = scratch.sums.data() + i * bytes;
  // The narrow kernels need more than half of the values.
  const std::size_t wanted = is_narrow_ ? std::max(value_count_, size_ / 2 + 1) : value_count_;
  transform(begin, bytes, {.outputs = all.data(), .wanted = wanted}, scratch);
  std::array<const std::byte*, place_count> values;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values[i] = all[values_[i]];
    if (added_[i] < 0) continue;
    const std::byte* const addend = columns.inputs[added_[i]] + begin;
    kernels_->xor_add(&addend, 1, all[values_[i]], bytes);
  }
  std::array<std::byte*, place_count> outputs;
  for (std::size_t i = 0; i < outputs_; ++i)
    outputs[i] = columns.outputs[i] + begin;
  if (finish_) {
    finish_->run({.inputs = values.data(),
                  .outputs = outputs.data(),
                  .geometry = {.unit_bytes = bytes},
                  .accumulate = columns.accumulate,
                  .stores = columns.streams ? Stores::streaming : Stores::cached});
    return;
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (columns.accumulate) {
      kernels_->xor_add(&values[i], 1, outputs[i], bytes);
    } else {
      std::memcpy(outputs[i], values[i], bytes);
    }
  }
}

// For less than a vector: works on copies of one vector.
void TransformRunner::run_staged(const Columns& columns, std::size_t begin, std::size_t bytes,
                                 Scratch& scratch) const {
  const std::size_t vector = kernels_->transform_bytes;
  alignas(vector_bytes_max) std::array<std::byte, place_count * vector_bytes_max> staging;
  std::array<const std::byte*, place_count> inputs;
  std::array<std::byte*, place_count> outputs;
  for (std::size_t i = 0; i < inputs_; ++i) {
    std::byte* const copy = staging.data() + i * vector;
    std::memcpy(copy, columns.inputs[i] + begin, bytes);
    std::memset(copy + bytes, 0, vector - bytes);
    inputs[i] = copy;
  }
  for (std::size_t i = 0; i < outputs_; ++i) {
    outputs[i] = staging.data() + (inputs_ + i) * vector;
    std::memset(outputs[i], 0, vector);
    if (columns.accumulate) std::memcpy(outputs[i], columns.outputs[i] + begin, bytes);
  }
  const Columns staged{.inputs = inputs.data(),
                       .outputs = outputs.data(),
                       .end = vector,
                       .accumulate = columns.accumulate};
  enter(staged.inputs, scratch);
  run_block(staged, 0, vector, scratch);
  for (std::size_t i = 0; i < outputs_; ++i)
    std::memcpy(columns.outputs[i] + begin, outputs[i], bytes);
}

}  // namespace calpe::backend::cpu
