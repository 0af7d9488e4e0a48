// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/wide_transform_runner.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "backend/streaming.hpp"
#include "base/cpu_features.hpp"
#include "base/try.hpp"

namespace calpe::backend::cpu {

namespace {

// The cells of a group would otherwise share a few sets of L1.
constexpr std::size_t block_padding = wide_cell_bytes;
constexpr unsigned log_page = 8;
constexpr std::size_t page_cells_max = std::size_t{1} << log_page;
constexpr std::size_t page_bytes_max = page_cells_max * wide_cell_bytes;
constexpr std::size_t columns_max = 8;
constexpr std::size_t far_columns = 4;
constexpr std::size_t areas_max = 32;

// Groups that fit into registers, if blocks then have at most 256 cells.
unsigned log_block_of(unsigned log_size) {
  if (log_size <= 3) return log_size;
  if (log_size <= 5) return log_size - 2;
  if (log_size == 6) return 3;
  if (log_size <= 8) return log_size - 2;
  return std::min(log_size - 3, wide_log_block_max);
}

}  // namespace

// Memory and pointers of one run. An area has the N cells of a column; area 0 has the sums.
class WideTransformRunner::Scratch {
 public:
  // is_far: the shards are not in the caches of the core.
  Scratch(const WideTransformRunner& runner, bool is_far)
      : runner_(runner),
        is_far_(is_far),
        lease_(
            runner.pool_->take(first_area + runner.area_bytes_ * runner.columns_ * runner.areas_)) {
    const std::size_t block_cells = std::size_t{1} << runner.log_block_;
    for (std::size_t i = 0; i < runner.page_cells_; ++i) {
      cells_[i] = lease_.data() + i / block_cells * runner.block_stride_ +
                  i % block_cells * wide_cell_bytes;
    }
  }

  std::byte* area(std::size_t number, std::size_t column) const noexcept {
    return lease_.data() + area_begin(number, column);
  }
  std::byte* page(std::size_t number, std::size_t column, std::size_t page) const noexcept {
    return area(number, column) + page * runner_.page_stride_;
  }
  // The same as a source and target of kernels.
  WideSource page_source(std::size_t number, std::size_t column, std::size_t page) const noexcept {
    return {.cells = cells_.data(),
            .begin = area_begin(number, column) + page * runner_.page_stride_,
            .full = runner_.page_cells_,
            .live = runner_.page_cells_};
  }
  WideTarget page_target(std::size_t number, std::size_t column, std::size_t page) const noexcept {
    const WideSource source = page_source(number, column, page);
    return {
        .cells = cells_.data(), .begin = source.begin, .full = source.full, .live = source.live};
  }

  WideSource inputs(const Layout& layout, const Page& page, const std::byte* const* shards,
                    const WideColumn& column) {
    const std::span slots = std::span(layout.slots).subspan(page.first_slot, page.slot_count);
    WideSource source{.cells = sources_.data(), .full = page.full, .live = page.live};
    if (column.is_whole()) {
      source.begin = column.begin;
      source.high = column.high;
      if (page.full == runner_.page_cells_) {
        source.cells = shards + slots[0].shard;
        if (is_far_) source.next = shards + page.next_shard;
        return source;
      }
    }
    sources_.fill(nullptr);
    for (const Slot& slot : slots) {
      sources_[slot.cell] = shards[slot.shard];
      if (column.is_whole()) continue;
      std::byte* const copy = lease_.data() + staged_inputs + slot.cell * wide_cell_bytes;
      copy_to_cell(shards[slot.shard], column, copy);
      sources_[slot.cell] = copy;
    }
    return source;
  }

  WideTarget outputs(const Layout& layout, const Page& page, std::byte* const* shards,
                     const WideColumn& column) {
    const std::span slots = std::span(layout.slots).subspan(page.first_slot, page.slot_count);
    WideTarget target{.cells = targets_.data(), .full = page.full, .live = page.live};
    if (column.is_whole()) {
      target.begin = column.begin;
      target.high = column.high;
      if (page.full == runner_.page_cells_) {
        target.cells = shards + slots[0].shard;
        return target;
      }
    }
    targets_.fill(nullptr);
    for (const Slot& slot : slots) {
      targets_[slot.cell] = column.is_whole()
                                ? shards[slot.shard]
                                : lease_.data() + staged_outputs + slot.cell * wide_cell_bytes;
    }
    return target;
  }

 private:
  static constexpr std::size_t staged_inputs = 0;
  static constexpr std::size_t staged_outputs = page_bytes_max;
  static constexpr std::size_t first_area = 2 * page_bytes_max;

  std::size_t area_begin(std::size_t number, std::size_t column) const noexcept {
    return first_area + (column * runner_.areas_ + number) * runner_.area_bytes_;
  }

  const WideTransformRunner& runner_;
  bool is_far_;
  WideScratchPool::Lease lease_;
  std::array<std::byte*, page_cells_max> cells_;  // if a page began with the memory
  std::array<const std::byte*, page_cells_max> sources_;
  std::array<std::byte*, page_cells_max> targets_;
};

bool WideTransformRunner::has_kernels(const ir::Transform& transform) noexcept {
#if defined(CALPE_WITHOUT_ADDITIVE_FFT)
  constexpr bool is_built = false;
#else
  constexpr bool is_built = true;
#endif
  const bool is_plain =
      !transform.locator || (transform.locator->coset_scales.empty() && !transform.locator->direct);
  return is_built && !transform.finish && is_plain;
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
  runner.log_block_ = log_block_of(transform.log_size);
  runner.page_cells_ = std::min<std::size_t>(transform.size(), page_cells_max);
  runner.pages_ = transform.size() / runner.page_cells_;
  runner.inputs_ = transform.places.size();
  runner.outputs_ = transform.outputs();
  runner.place_inputs(transform);
  runner.place_outputs(transform);
  if (transform.locator) runner.scales_ = transform.locator->scales;
  runner.choose_areas();
  return runner;
}

void WideTransformRunner::choose_areas() {
  block_stride_ = (wide_cell_bytes << log_block_) + block_padding;
  page_stride_ = (page_cells_ >> log_block_) * block_stride_;
  area_bytes_ = pages_ * page_stride_;
  // Cosets that are added at once save trips of the sums, but must not push the shards out of L2.
  const std::size_t cache = core_cache_bytes();
  const std::size_t needed = std::max(sources_.cosets.size(), targets_.cosets.size()) > 1 ? 2 : 1;
  const std::size_t useful = std::clamp<std::size_t>(sources_.cosets.size(), needed, areas_max);
  areas_ = std::clamp<std::size_t>(cache / 8 / area_bytes_, needed, useful);
  // Several columns share the visit to a shard: as many as stay in L2, or some if not even one
  // does.
  if (pages_ == 1) return;
  const std::size_t fitting = cache / 2 / (area_bytes_ * areas_);
  columns_ = fitting == 0 ? far_columns : std::min(fitting, columns_max);
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
    const std::size_t number = (place - base) / page_cells_;
    const std::size_t cell = place % page_cells_;
    if (layout.cosets.empty() || layout.cosets.back().base != base)
      layout.cosets.push_back({.base = base});
    std::vector<Page>& pages = layout.cosets.back().pages;
    if (pages.empty() || pages.back().number != number)
      pages.push_back({.number = number, .first_slot = layout.slots.size()});
    Page& page = pages.back();
    layout.slots.push_back(
        {.cell = static_cast<std::uint16_t>(cell), .shard = static_cast<std::uint16_t>(shard)});
    const bool follows = cell == page.full && shard == layout.slots[page.first_slot].shard + cell;
    page.full += follows ? 1 : 0;
    ++page.slot_count;
    page.live = cell + 1;
  }
  Page* before = nullptr;
  for (Coset& coset : layout.cosets) {
    for (Page& page : coset.pages) {
      page.next_shard = layout.slots[page.first_slot].shard;
      if (before != nullptr && page.full == page_cells_) before->next_shard = page.next_shard;
      before = &page;
    }
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

const WideTransformRunner::Page* WideTransformRunner::find_page(std::span<const Coset> coset,
                                                                std::size_t number) noexcept {
  if (coset.empty()) return nullptr;
  const auto found = std::ranges::find(coset[0].pages, number, &Page::number);
  return found == coset[0].pages.end() ? nullptr : &*found;
}

WidePointTables WideTransformRunner::points() const noexcept {
  return {.tables = points_->data(), .subfield = points_->subfield()};
}

void WideTransformRunner::run(const Batch& batch) const {
  const WideColumns all(batch.geometry);
  if (all.count() == 0 || outputs_ == 0) return;
  // Fetching ahead pays off for pages of many shards that come from far away.
  const bool is_far =
      pages_ > 1 && bytes_touched(batch, 2 * (inputs_ + outputs_)) > core_cache_bytes();
  Scratch scratch(*this, is_far);
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
  // If only one coset follows, the groups are transformed forward to it at once.
  std::optional<std::size_t> only;
  if (targets_.cosets.size() == 1) only = targets_.cosets[0].base;
  if (is_scaled) {
    sum_cosets(stripe, 0, scratch);
    if (only == 0U) only.reset();  // the derivative comes first
    turn_values(stripe, only, scratch);
  } else {
    if (!is_located) only = 0;
    sum_cosets(stripe, only, scratch);
  }
  for (const Coset& coset : targets_.cosets) {
    const bool derives = is_scaled && coset.base == 0;
    const std::size_t area = targets_.cosets.size() > 1 ? 1 : 0;
    for (std::size_t g = 0; !only && g < stripe.columns.size(); ++g) {
      if (derives) derive(scratch.area(0, g));
      transform_groups({.start = 0, .forth_base = coset.base, .to = area}, g, scratch);
    }
    write_coset(stripe, coset, area, stripe.accumulate || derives, scratch);
  }
}

// Sums all cosets, and transforms the groups of the sum forward at `next`.
void WideTransformRunner::sum_cosets(const Stripe& stripe, std::optional<std::size_t> next,
                                     Scratch& scratch) const {
  const std::size_t columns = stripe.columns.size();
  std::span<const Coset> left = sources_.cosets;
  for (std::size_t g = 0; left.empty() && g < columns; ++g)
    std::memset(scratch.area(0, g), 0, area_bytes_);
  for (bool is_first = true; !left.empty(); is_first = false) {
    const std::size_t first_area = is_first ? 0 : 1;
    const auto turn = left.first(std::min(left.size(), areas_ - first_area));
    left = left.subspan(turn.size());
    for (std::size_t i = 0; i < turn.size(); ++i)
      transform_pages_back(stripe, turn[i], first_area + i, scratch);
    Groups groups{.cosets = turn, .first_area = first_area};
    if (!is_first) groups.start = 0;
    if (left.empty()) groups.forth_base = next;
    for (std::size_t g = 0; g < columns; ++g)
      transform_groups(groups, g, scratch);
  }
}

void WideTransformRunner::transform_pages_back(const Stripe& stripe, const Coset& coset,
                                               std::size_t area, Scratch& scratch) const {
  auto page = coset.pages.begin();
  for (std::size_t number = 0; number < pages_; ++number) {
    const bool is_empty = page == coset.pages.end() || page->number != number;
    for (std::size_t g = 0; g < stripe.columns.size(); ++g) {
      std::byte* const cells = scratch.page(area, g, number);
      if (is_empty) {
        std::memset(cells, 0, page_stride_);
        continue;
      }
      kernels_->wide.back(
          {.points = points(),
           .log_block = log_block_,
           .count = page_cells_ >> log_block_,
           .position = coset.base + number * page_cells_,
           .source = scratch.inputs(sources_, *page, stripe.inputs, stripe.columns[g]),
           .cells = cells,
           .block_stride = block_stride_});
    }
    if (!is_empty) ++page;
  }
}

void WideTransformRunner::transform_groups(const Groups& groups, std::size_t column,
                                           const Scratch& scratch) const {
  std::array<std::byte*, areas_max> cosets;
  std::array<std::size_t, areas_max> positions;
  for (std::size_t i = 0; i < groups.cosets.size(); ++i) {
    cosets[i] = scratch.area(groups.first_area + i, column);
    positions[i] = groups.cosets[i].base >> log_block_;
  }
  kernels_->wide.groups({.points = points(),
                         .log_group = log_size_ - log_block_,
                         .count = std::size_t{1} << log_block_,
                         .block_stride = block_stride_,
                         .start = groups.start ? scratch.area(*groups.start, column) : nullptr,
                         .cosets = cosets.data(),
                         .positions = positions.data(),
                         .coset_count = groups.cosets.size(),
                         .goes_forth = groups.forth_base.has_value(),
                         .forth_position = groups.forth_base.value_or(0) >> log_block_,
                         .to = scratch.area(groups.to, column)});
}

// Values of the first coset, scaled and transformed back. Outputs there get their value here.
void WideTransformRunner::turn_values(const Stripe& stripe, std::optional<std::size_t> next,
                                      Scratch& scratch) const {
  const bool has_outputs = !targets_.cosets.empty() && targets_.cosets.back().base == 0;
  const Coset at_zero{};
  for (std::size_t g = 0; g < stripe.columns.size(); ++g) {
    const WideColumn& column = stripe.columns[g];
    for (std::size_t number = 0; number < pages_; ++number) {
      std::byte* const cells = scratch.page(0, g, number);
      const std::size_t position = number * page_cells_;
      const std::size_t blocks = page_cells_ >> log_block_;
      kernels_->wide.forth({.points = points(),
                            .log_block = log_block_,
                            .count = blocks,
                            .position = position,
                            .cells = cells,
                            .block_stride = block_stride_});
      const WideSource values = scratch.page_source(0, g, number);
      const Page* const known = find_page(first_.cosets, number);
      const Page* const wanted =
          has_outputs ? find_page(std::span(targets_.cosets).last(1), number) : nullptr;
      if (wanted != nullptr) {
        write_page(stripe, column, *wanted,
                   {.source = values, .addend = known, .adds = stripe.accumulate}, scratch);
      }
      WideScale scale{.tables = products_->data(),
                      .factors = scales_.data() + position,
                      .count = page_cells_,
                      .source = values,
                      .target = scratch.page_target(0, g, number)};
      if (known != nullptr) scale.addend = scratch.inputs(first_, *known, stripe.inputs, column);
      kernels_->wide.scale(scale);
      kernels_->wide.back({.points = points(),
                           .log_block = log_block_,
                           .count = blocks,
                           .position = position,
                           .source = values,
                           .cells = cells,
                           .block_stride = block_stride_});
    }
    transform_groups({.cosets = std::span(&at_zero, 1), .forth_base = next}, g, scratch);
  }
}

// The derivative of coefficients (ir::Locator). Ascending, because a coefficient only depends on
// later ones.
void WideTransformRunner::derive(std::byte* cells) const {
  const std::size_t size = page_cells_ * pages_;
  const std::size_t block_cells = std::size_t{1} << log_block_;
  const auto at = [&](std::size_t j) {
    return cells + j / block_cells * block_stride_ + j % block_cells * wide_cell_bytes;
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
void WideTransformRunner::write_coset(const Stripe& stripe, const Coset& coset, std::size_t area,
                                      bool adds, Scratch& scratch) const {
  const bool is_located = !targets_.factors.empty();
  for (const Page& page : coset.pages) {
    const Page* const addend = is_located ? nullptr : find_page(first_.cosets, page.number);
    for (std::size_t g = 0; g < stripe.columns.size(); ++g) {
      const WideColumn& column = stripe.columns[g];
      const bool is_direct = !is_located && addend == nullptr && column.is_whole();
      WideBlocksForth forth{.points = points(),
                            .log_block = log_block_,
                            .count = page_cells_ >> log_block_,
                            .position = coset.base + page.number * page_cells_,
                            .cells = scratch.page(area, g, page.number),
                            .block_stride = block_stride_};
      if (is_direct) {
        forth.target = scratch.outputs(targets_, page, stripe.outputs, column);
        forth.target.adds = adds;
      }
      kernels_->wide.forth(forth);
      if (is_direct) continue;
      write_page(stripe, column, page,
                 {.source = scratch.page_source(area, g, page.number),
                  .addend = addend,
                  .takes_factors = is_located,
                  .adds = adds},
                 scratch);
    }
  }
}

void WideTransformRunner::write_page(const Stripe& stripe, const WideColumn& column,
                                     const Page& page, const Values& values,
                                     Scratch& scratch) const {
  const std::span slots = std::span(targets_.slots).subspan(page.first_slot, page.slot_count);
  std::array<gf::Element, page_cells_max> factors;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    factors[slots[i].cell] =
        values.takes_factors ? targets_.factors[page.first_slot + i] : gf::Element{1};
  }
  WideScale scale{.tables = products_->data(),
                  .factors = factors.data(),
                  .count = page.live,
                  .source = values.source,
                  .target = scratch.outputs(targets_, page, stripe.outputs, column)};
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
