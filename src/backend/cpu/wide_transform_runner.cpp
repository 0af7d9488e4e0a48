// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/wide_transform_runner.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/cpu_features.hpp"
#include "base/try.hpp"

namespace calpe::backend::cpu {

namespace {

// The cells of a group would otherwise share a few sets of L1.
constexpr std::size_t block_padding = wide_cell_bytes;
constexpr std::size_t group_cells_max = 128;
constexpr std::size_t columns_max = 8;

std::byte* cell_at(std::byte* cells, std::size_t index) {
  return cells + index * wide_cell_bytes;
}

}  // namespace

// Memory and pointers of one run. An area has the N cells of one column, in blocks; areas are
// offsets in the memory.
class WideTransformRunner::Scratch {
 public:
  explicit Scratch(const WideTransformRunner& runner)
      : runner_(runner),
        lease_(runner.pool_->take(first_area + runner.area_bytes_ * runner.columns_ *
                                                   (runner.needs_other_ ? 2 : 1))) {
    for (std::size_t i = 0; i < cells_.size(); ++i)
      cells_[i] = cell_at(memory(), i);
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      blocks_[i] = memory() + i * runner.block_stride_;
  }

  std::byte* memory() const noexcept { return lease_.data(); }
  std::byte* work() const noexcept { return memory(); }
  std::size_t sums(std::size_t column) const noexcept {
    return first_area + column * runner_.area_bytes_;
  }
  std::size_t other(std::size_t column) const noexcept { return sums(runner_.columns_ + column); }
  // All cells of a block, or of a group, of an area.
  WideTarget block(std::size_t area, std::size_t number) const noexcept {
    return {.cells = cells_.data(), .begin = area + number * runner_.block_stride_};
  }
  WideTarget group(std::size_t area, std::size_t number) const noexcept {
    return {.cells = blocks_.data(), .begin = area + number * wide_cell_bytes};
  }
  WideTarget staged() const noexcept { return {.cells = cells_.data(), .begin = staged_outputs}; }
  static WideSource read(const WideTarget& cells) noexcept {
    return {.cells = cells.cells, .begin = cells.begin, .high = cells.high};
  }

  WideSource inputs(const Layout& layout, const Block& block, const std::byte* const* shards,
                    const WideColumn& column) {
    const std::span slots = std::span(layout.slots).subspan(block.first_slot, block.slot_count);
    if (column.is_whole() && block.is_dense) {
      return {.cells = shards + slots[0].shard, .begin = column.begin, .high = column.high};
    }
    sources_.fill(nullptr);
    for (const Slot& slot : slots) {
      sources_[slot.cell] = shards[slot.shard];
      if (column.is_whole()) continue;
      std::byte* const copy = cell_at(memory() + staged_inputs, slot.cell);
      copy_to_cell(shards[slot.shard], column, copy);
      sources_[slot.cell] = copy;
    }
    if (!column.is_whole()) return {.cells = sources_.data()};
    return {.cells = sources_.data(), .begin = column.begin, .high = column.high};
  }

  WideTarget outputs(const Layout& layout, const Block& block, std::byte* const* shards,
                     const WideColumn& column) {
    const std::span slots = std::span(layout.slots).subspan(block.first_slot, block.slot_count);
    if (column.is_whole() && block.is_dense) {
      return {.cells = shards + slots[0].shard, .begin = column.begin, .high = column.high};
    }
    targets_.fill(nullptr);
    for (const Slot& slot : slots)
      targets_[slot.cell] =
          column.is_whole() ? shards[slot.shard] : cell_at(memory() + staged_outputs, slot.cell);
    if (!column.is_whole()) return {.cells = targets_.data()};
    return {.cells = targets_.data(), .begin = column.begin, .high = column.high};
  }

 private:
  static constexpr std::size_t block_bytes = wide_block_cells * wide_cell_bytes;
  static constexpr std::size_t staged_inputs = block_bytes;
  static constexpr std::size_t staged_outputs = 2 * block_bytes;
  static constexpr std::size_t first_area = 3 * block_bytes;

  const WideTransformRunner& runner_;
  WideScratchPool::Lease lease_;
  std::array<std::byte*, wide_block_cells> cells_;  // of the first block of the memory
  std::array<std::byte*, group_cells_max> blocks_;
  std::array<const std::byte*, wide_block_cells> sources_;
  std::array<std::byte*, wide_block_cells> targets_;
};

bool WideTransformRunner::has_kernels(const ir::Transform& transform) noexcept {
  return !transform.finish;
}

Result<WideTransformRunner> WideTransformRunner::create(const ir::Transform& transform,
                                                        const CpuKernels& kernels,
                                                        WideTableCache& cache,
                                                        std::shared_ptr<WideScratchPool> pool) {
  WideTransformRunner runner;
  CALPE_TRY(runner.products_, cache.products(*transform.field));
  runner.points_ = cache.points(transform.points, *runner.products_);
  runner.kernels_ = &kernels;
  runner.pool_ = std::move(pool);
  runner.log_size_ = transform.log_size;
  runner.log_block_ = std::min(transform.log_size, wide_log_max);
  runner.block_cells_ = std::size_t{1} << runner.log_block_;
  runner.blocks_ = transform.size() / runner.block_cells_;
  runner.inputs_ = transform.places.size();
  runner.outputs_ = transform.outputs();
  runner.place_inputs(transform);
  runner.place_outputs(transform);
  if (transform.locator) runner.scales_ = transform.locator->scales;
  runner.needs_other_ = runner.blocks_ > 1 &&
                        (runner.sources_.cosets.size() > 1 || runner.targets_.cosets.size() > 1);
  runner.block_stride_ =
      runner.block_cells_ * wide_cell_bytes + (runner.blocks_ > 1 ? block_padding : 0);
  runner.area_bytes_ = runner.blocks_ * runner.block_stride_;
  runner.choose_columns();
  return runner;
}

// Several columns share the visit to a shard, as long as their areas stay in L2.
void WideTransformRunner::choose_columns() {
  if (blocks_ == 1) return;
  const std::size_t fitting = core_cache_bytes() / 2 / (area_bytes_ * (needs_other_ ? 2 : 1));
  columns_ = std::clamp<std::size_t>(fitting, 1, columns_max);
}

// Shard i is at places[i].
WideTransformRunner::Layout WideTransformRunner::lay_out(
    std::span<const std::uint16_t> places) const {
  std::vector<std::uint32_t> order(places.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return places[i]; });
  Layout layout;
  for (const std::uint32_t shard : order) {
    const std::size_t place = places[shard];
    const std::size_t base = place >> log_size_ << log_size_;
    const std::size_t number = (place - base) / block_cells_;
    const std::size_t cell = place % block_cells_;
    if (layout.cosets.empty() || layout.cosets.back().base != base)
      layout.cosets.push_back({.base = base});
    std::vector<Block>& blocks = layout.cosets.back().blocks;
    if (blocks.empty() || blocks.back().number != number) {
      blocks.push_back({.number = number, .first_slot = layout.slots.size(), .is_dense = true});
    }
    Block& block = blocks.back();
    layout.slots.push_back(
        {.cell = static_cast<std::uint16_t>(cell), .shard = static_cast<std::uint16_t>(shard)});
    block.is_dense = block.is_dense && cell == block.slot_count &&
                     shard == layout.slots[block.first_slot].shard + cell;
    ++block.slot_count;
    block.live = cell + 1;
  }
  for (Coset& coset : layout.cosets) {
    for (Block& block : coset.blocks)
      block.is_dense = block.is_dense && block.slot_count == block_cells_;
  }
  return layout;
}

void WideTransformRunner::place_inputs(const ir::Transform& transform) {
  sources_ = lay_out(transform.places);
  // Without scales, the first coset is as the others.
  const bool is_unscaled = transform.locator && transform.locator->scales.empty();
  if (is_unscaled || sources_.cosets.empty() || sources_.cosets[0].base != 0) return;
  first_ = sources_;
  first_.cosets.resize(1);
  sources_.cosets.erase(sources_.cosets.begin());
}

void WideTransformRunner::place_outputs(const ir::Transform& transform) {
  if (!transform.locator) {
    targets_ = lay_out(transform.values);
    return;
  }
  std::vector<std::uint16_t> places;
  for (const ir::Locator::Output& output : transform.locator->outputs)
    places.push_back(output.place);
  targets_ = lay_out(places);
  for (const Slot& slot : targets_.slots)
    targets_.factors.push_back(transform.locator->outputs[slot.shard].factor);
  // The first coset needs the derivative, which replaces what the others need.
  if (!targets_.cosets.empty() && targets_.cosets[0].base == 0)
    std::rotate(targets_.cosets.begin(), targets_.cosets.begin() + 1, targets_.cosets.end());
}

const WideTransformRunner::Block* WideTransformRunner::find_block(std::span<const Coset> coset,
                                                                  std::size_t number) noexcept {
  if (coset.empty()) return nullptr;
  const auto found = std::ranges::find(coset[0].blocks, number, &Block::number);
  return found == coset[0].blocks.end() ? nullptr : &*found;
}

WideTransform WideTransformRunner::transform_at(std::size_t position, unsigned log_size,
                                                const Scratch& scratch) const noexcept {
  return {.points = points_->data(),
          .subfield = points_->subfield(),
          .log_size = log_size,
          .position = position,
          .live = std::size_t{1} << log_size,
          .work = scratch.work()};
}

void WideTransformRunner::run(const Batch& batch) const {
  const WideColumns all(batch.geometry);
  if (all.count() == 0 || outputs_ == 0) return;
  Scratch scratch(*this);
  std::array<WideColumn, columns_max> columns;
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    for (std::size_t i = 0; i < all.count();) {
      columns[0] = all[i];
      std::size_t count = 1;
      while (columns[0].is_whole() && count < columns_ && i + count < all.count() &&
             all[i + count].is_whole()) {
        columns[count] = all[i + count];
        ++count;
      }
      run_columns({.inputs = batch.inputs + stripe * inputs_,
                   .outputs = batch.outputs + stripe * outputs_,
                   .accumulate = batch.accumulate,
                   .columns = std::span(columns).first(count)},
                  scratch);
      i += count;
    }
  }
}

void WideTransformRunner::run_columns(const Stripe& stripe, Scratch& scratch) const {
  const bool is_scaled = !scales_.empty();
  const bool is_located = !targets_.factors.empty();
  // The layers of a group follow each other while it is in L1, if only one coset follows.
  std::optional<std::size_t> only;
  if (targets_.cosets.size() == 1) only = targets_.cosets[0].base;
  if (is_scaled) {
    sum_cosets(stripe, 0, scratch);
    if (only == 0U) only.reset();  // the derivative comes first
    turn_values(stripe, only, scratch);
  } else {
    sum_cosets(stripe, is_located ? only : 0, scratch);
  }
  for (const Coset& coset : targets_.cosets) {
    const bool derives = is_scaled && coset.base == 0;
    for (std::size_t g = 0; g < stripe.columns.size(); ++g) {
      std::size_t area = scratch.sums(g);
      if (derives) derive(area, scratch);
      if (!only && is_located) {
        const std::size_t from = area;
        if (needs_other_) area = scratch.other(g);
        transform_groups_forth(coset.base, from, area, scratch);
      }
      write_coset(stripe, g, coset, {.area = area, .adds = stripe.accumulate || derives}, scratch);
    }
  }
}

void WideTransformRunner::sum_cosets(const Stripe& stripe, std::optional<std::size_t> next,
                                     Scratch& scratch) const {
  const std::size_t columns = stripe.columns.size();
  if (sources_.cosets.empty()) {
    for (std::size_t g = 0; g < columns; ++g)
      std::memset(scratch.memory() + scratch.sums(g), 0, area_bytes_);
  }
  for (const Coset& coset : sources_.cosets) {
    const bool is_first = &coset == &sources_.cosets.front();
    const bool is_last = &coset == &sources_.cosets.back();
    transform_blocks_back(stripe, coset, is_first, scratch);
    if (blocks_ == 1) continue;
    for (std::size_t g = 0; g < columns; ++g) {
      transform_groups_back({.base = coset.base,
                             .from = is_first ? scratch.sums(g) : scratch.other(g),
                             .to = scratch.sums(g),
                             .adds = !is_first,
                             .next = is_last ? next : std::nullopt},
                            scratch);
    }
  }
}

// Layers of the blocks of a coset. A single block is added to the sums, others wait for the layers
// of their groups.
void WideTransformRunner::transform_blocks_back(const Stripe& stripe, const Coset& coset,
                                                bool is_first, Scratch& scratch) const {
  auto block = coset.blocks.begin();
  for (std::size_t number = 0; number < blocks_; ++number) {
    const bool is_empty = block == coset.blocks.end() || block->number != number;
    for (std::size_t g = 0; g < stripe.columns.size(); ++g) {
      const std::size_t area = is_first || blocks_ == 1 ? scratch.sums(g) : scratch.other(g);
      WideTarget target = scratch.block(area, number);
      if (is_empty) {
        std::memset(scratch.memory() + target.begin, 0, block_cells_ * wide_cell_bytes);
        continue;
      }
      target.adds = !is_first && blocks_ == 1;
      WideTransform back = transform_at(coset.base + number * block_cells_, log_block_, scratch);
      back.live = block->live;
      back.source = scratch.inputs(sources_, *block, stripe.inputs, stripe.columns[g]);
      back.target = target;
      kernels_->wide.back(back);
    }
    if (!is_empty) ++block;
  }
}

// Layers of the groups, and those at `next`.
void WideTransformRunner::transform_groups_back(const GroupsBack& groups, Scratch& scratch) const {
  const unsigned log_group = log_size_ - log_block_;
  WideTransform back = transform_at(groups.base / block_cells_, log_group, scratch);
  for (std::size_t j = 0; j < block_cells_; ++j) {
    back.source = Scratch::read(scratch.group(groups.from, j));
    back.target = scratch.group(groups.to, j);
    back.target.adds = groups.adds;
    kernels_->wide.back(back);
    if (!groups.next) continue;
    WideTransform forth = transform_at(*groups.next / block_cells_, log_group, scratch);
    forth.source = Scratch::read(back.target);
    forth.target = scratch.group(groups.to, j);
    kernels_->wide.forth(forth);
  }
}

void WideTransformRunner::transform_groups_forth(std::size_t base, std::size_t from, std::size_t to,
                                                 Scratch& scratch) const {
  if (blocks_ == 1) return;
  WideTransform forth = transform_at(base / block_cells_, log_size_ - log_block_, scratch);
  for (std::size_t j = 0; j < block_cells_; ++j) {
    forth.source = Scratch::read(scratch.group(from, j));
    forth.target = scratch.group(to, j);
    kernels_->wide.forth(forth);
  }
}

// Values of the first coset, scaled and transformed back. Outputs there get their value here.
void WideTransformRunner::turn_values(const Stripe& stripe, std::optional<std::size_t> next,
                                      Scratch& scratch) const {
  const bool has_outputs = !targets_.cosets.empty() && targets_.cosets.back().base == 0;
  for (std::size_t g = 0; g < stripe.columns.size(); ++g) {
    for (std::size_t number = 0; number < blocks_; ++number) {
      const WideTarget cells = scratch.block(scratch.sums(g), number);
      WideTransform turn = transform_at(number * block_cells_, log_block_, scratch);
      turn.source = Scratch::read(cells);
      turn.target = cells;
      kernels_->wide.forth(turn);
      const Block* const known = find_block(first_.cosets, number);
      const Block* const wanted =
          has_outputs ? find_block(std::span(targets_.cosets).last(1), number) : nullptr;
      if (wanted != nullptr) {
        write_block(stripe, stripe.columns[g], *wanted,
                    {.source = turn.source, .addend = known, .adds = stripe.accumulate}, scratch);
      }
      WideScale scale{.tables = products_->data(),
                      .factors = scales_.data() + number * block_cells_,
                      .count = block_cells_,
                      .source = turn.source,
                      .target = cells};
      if (known != nullptr)
        scale.addend = scratch.inputs(first_, *known, stripe.inputs, stripe.columns[g]);
      kernels_->wide.scale(scale);
      kernels_->wide.back(turn);
    }
    if (blocks_ == 1) continue;
    transform_groups_back({.base = 0, .from = scratch.sums(g), .to = scratch.sums(g), .next = next},
                          scratch);
  }
}

// The derivative of the coefficients in an area (ir::Locator). Ascending, because a coefficient
// only depends on later ones.
void WideTransformRunner::derive(std::size_t area, const Scratch& scratch) const {
  const std::size_t size = block_cells_ * blocks_;
  const auto at = [&](std::size_t j) {
    return scratch.memory() + area + j / block_cells_ * block_stride_ +
           j % block_cells_ * wide_cell_bytes;
  };
  std::array<const std::byte*, 16> terms;
  for (std::size_t j = 0; j < size; ++j) {
    std::size_t count = 0;
    for (std::size_t bit = 1; bit < size; bit *= 2) {
      if ((j & bit) == 0) terms[count++] = at(j + bit);
    }
    kernels_->xor_into(terms.data(), count, at(j), wide_cell_bytes);
  }
}

// The layers of blocks with outputs.
void WideTransformRunner::write_coset(const Stripe& stripe, std::size_t g, const Coset& coset,
                                      const CosetValues& values, Scratch& scratch) const {
  const WideColumn& column = stripe.columns[g];
  const bool is_located = !targets_.factors.empty();
  for (const Block& block : coset.blocks) {
    WideTransform forth =
        transform_at(coset.base + block.number * block_cells_, log_block_, scratch);
    forth.live = block.live;
    forth.source = Scratch::read(scratch.block(values.area, block.number));
    const Block* const addend = is_located ? nullptr : find_block(first_.cosets, block.number);
    if (is_located || addend != nullptr || !column.is_whole()) {
      forth.target = scratch.staged();
      kernels_->wide.forth(forth);
      write_block(stripe, column, block,
                  {.source = Scratch::read(forth.target),
                   .addend = addend,
                   .takes_factors = is_located,
                   .adds = values.adds},
                  scratch);
    } else {
      forth.target = scratch.outputs(targets_, block, stripe.outputs, column);
      forth.target.adds = values.adds;
      kernels_->wide.forth(forth);
    }
  }
}

void WideTransformRunner::write_block(const Stripe& stripe, const WideColumn& column,
                                      const Block& block, const Values& values,
                                      Scratch& scratch) const {
  const std::span slots = std::span(targets_.slots).subspan(block.first_slot, block.slot_count);
  std::array<gf::Element, wide_block_cells> factors;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    factors[slots[i].cell] =
        values.takes_factors ? targets_.factors[block.first_slot + i] : gf::Element{1};
  }
  WideScale scale{.tables = products_->data(),
                  .factors = factors.data(),
                  .count = block.live,
                  .source = values.source,
                  .target = scratch.outputs(targets_, block, stripe.outputs, column)};
  if (values.addend != nullptr)
    scale.addend = scratch.inputs(first_, *values.addend, stripe.inputs, column);
  scale.target.adds = values.adds && column.is_whole();
  kernels_->wide.scale(scale);
  if (column.is_whole()) return;
  for (const Slot& slot : slots) {
    const std::byte* const cell = scale.target.cells[slot.cell];
    std::byte* const shard = stripe.outputs[slot.shard];
    if (values.adds) {
      add_from_cell(cell, column, shard);
    } else {
      copy_from_cell(cell, column, shard);
    }
  }
}

}  // namespace calpe::backend::cpu
