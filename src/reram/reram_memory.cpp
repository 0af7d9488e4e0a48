// SPDX-License-Identifier: Apache-2.0
#include "reram/reram_memory.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/divide_up.hpp"
#include "reram/bit_lanes.hpp"

namespace calpe::reram {

namespace {

// The bytes of a block in word i of a row; the last word may have fewer than 8.
template <class Byte>
std::span<Byte> word_of(std::span<Byte> bytes, std::size_t i) {
  return bytes.subspan(8 * i, std::min<std::size_t>(8, bytes.size() - 8 * i));
}

}  // namespace

ReramMemory::ReramMemory(const Parameters& parameters, std::size_t chip_count)
    : parameters_(parameters),
      chip_count_(chip_count),
      crossbars_(chip_count * parameters.crossbar_count()),
      schedule_(parameters, parameters.crossbar_count(), chip_count) {}

void ReramMemory::start_schedule(std::size_t groups) {
  schedule_seconds_ += schedule_.seconds();
  schedule_ = Schedule(parameters_, groups, chip_count_);
}

Crossbar& ReramMemory::crossbar(std::size_t chip, std::size_t index) {
  const std::size_t place = chip * parameters_.crossbar_count() + index;
  if (crossbars_[place] == nullptr)
    crossbars_[place] = std::make_unique<Crossbar>(parameters_, place);
  return *crossbars_[place];
}

Crossbar& ReramMemory::computing_crossbar(std::size_t chip, std::size_t index, Picoseconds& time) {
  Crossbar& chosen = crossbar(chip, index);
  if (chosen.mode() == Crossbar::Mode::storage) time += mode_switch_time(parameters_);
  chosen.set_mode(Crossbar::Mode::compute);
  return chosen;
}

std::size_t ReramMemory::words_of(std::size_t bits) const noexcept {
  return divide_up(bits, static_cast<std::size_t>(parameters_.write_word_bits.value));
}

void ReramMemory::map(std::shared_ptr<const Mapping> mapping) {
  if (mapping_ == mapping) return;
  mapping_ = std::move(mapping);
  vector_time_ = vector_time(parameters_, *mapping_);
  start_schedule(mapping_->groups);
  // All crossbars are written at the same time, so the largest tile determines the duration.
  Picoseconds longest = 0;
  const std::size_t tile_count = mapping_->tiles.size();
  for (std::size_t chip = 0; chip < chip_count_; ++chip) {
    for (std::size_t i = 0; i < mapping_->groups * tile_count; ++i) {
      const Tile& tile = mapping_->tiles[i % tile_count];
      Picoseconds time = 0;
      write_tile(computing_crossbar(chip, i, time), tile);
      time += static_cast<Picoseconds>(tile.input_count) *
              row_write_time(parameters_, tile.output_count);
      longest = std::max(longest, time);
    }
  }
  schedule_.pause(longest);
}

void ReramMemory::write_tile(Crossbar& crossbar, const Tile& tile) {
  std::vector<std::uint64_t> bits(divide_up(tile.output_count, 64));
  for (std::size_t i = 0; i < tile.input_count; ++i) {
    std::ranges::fill(bits, 0);
    for (std::size_t o = 0; o < tile.output_count; ++o) {
      const bool bit = mapping_->matrix.get(tile.first_output + o, tile.first_input + i);
      bits[o / 64] |= std::uint64_t{bit} << (o % 64);
    }
    crossbar.write_row(tile.first_row + i, bits, tile.output_count);
  }
  counters_.matrix_row_writes += tile.input_count;
  counters_.words_written += tile.input_count * words_of(tile.output_count);
}

void ReramMemory::multiply(std::span<const std::uint64_t> inputs, std::span<std::uint64_t> outputs,
                           std::size_t vectors) {
  CALPE_ASSERT(mapping_ != nullptr);
  CALPE_ASSERT(vectors <= static_cast<std::size_t>(parameters_.packet_bytes.value) * 8);
  const std::size_t words = divide_up(vectors, lane_count);
  CALPE_ASSERT(inputs.size() == words * mapping_->inputs());
  CALPE_ASSERT(outputs.size() == words * mapping_->outputs());
  const Schedule::Place place = schedule_.next();
  const std::size_t first_crossbar = place.group * mapping_->tiles.size();
  for (std::size_t w = 0; w < words; ++w) {
    multiply_lanes(place.unit, first_crossbar,
                   inputs.subspan(w * mapping_->inputs(), mapping_->inputs()),
                   outputs.subspan(w * mapping_->outputs(), mapping_->outputs()),
                   std::min(lane_count, vectors - w * lane_count));
  }
  const Schedule::Block block{.bytes_in = divide_up(mapping_->inputs() * vectors, 8),
                              .bytes_out = divide_up(mapping_->outputs() * vectors, 8),
                              .work = static_cast<Picoseconds>(vectors) * vector_time_};
  schedule_.add(block);
  counters_.bytes_in += block.bytes_in;
  counters_.bytes_out += block.bytes_out;
}

void ReramMemory::multiply_lanes(std::size_t chip, std::size_t first_crossbar,
                                 std::span<const std::uint64_t> inputs,
                                 std::span<std::uint64_t> outputs, std::size_t lanes) {
  const bool is_digital = mapping_->options.combine == Combine::digital;
  const std::size_t grid_columns = mapping_->options.grid.columns;
  std::vector<std::uint64_t> results;
  for (std::size_t t = 0; t < mapping_->tiles.size(); ++t) {
    const Tile& tile = mapping_->tiles[t];
    Crossbar& chosen = crossbar(chip, first_crossbar + t);
    const std::span<std::uint64_t> wanted = outputs.subspan(tile.first_output, tile.output_count);
    const std::span<const std::uint64_t> driven =
        inputs.subspan(tile.first_input, tile.input_count);
    const bool is_first = t < grid_columns;
    results.assign(wanted.begin(), wanted.end());
    activate_tile(chosen, tile, !is_first && !is_digital, driven, results, lanes);
    if (is_first || !is_digital) {
      std::ranges::copy(results, wanted.begin());
    } else {
      for (std::size_t o = 0; o < wanted.size(); ++o)
        wanted[o] ^= results[o];
      counters_.combined_bits += lanes * wanted.size();
    }
    counters_.words_loaded += lanes * words_of(tile.input_count);
  }
}

// results: on entry those of the tile above if takes_result; on return those of this tile.
void ReramMemory::activate_tile(Crossbar& chosen, const Tile& tile, bool takes_result,
                                std::span<const std::uint64_t> inputs,
                                std::span<std::uint64_t> results, std::size_t lanes) {
  std::vector<std::uint64_t> more(results.begin(), results.end());
  for (const RowPart& part : row_parts(mapping_->options, tile)) {
    const std::span<const std::uint64_t> driven =
        inputs.subspan(part.first_input, part.input_count);
    const std::size_t first_row = tile.first_row + part.first_input;
    counters_.words_read += lanes * words_of(tile.output_count);
    if (part.first_input == 0 && takes_result) {
      chosen.activate_rewriting(more, first_row, driven, results, lanes);
      counters_.partial_row_writes += lanes;
      counters_.words_written += lanes * words_of(tile.output_count);
    } else if (part.first_input == 0) {
      chosen.activate(first_row, driven, results, lanes);
    } else {
      chosen.activate(first_row, driven, more, lanes);
      for (std::size_t o = 0; o < results.size(); ++o)
        results[o] ^= more[o];
      counters_.combined_bits += lanes * results.size();
    }
  }
}

void ReramMemory::add_blocks(std::span<const std::byte* const> blocks, std::span<std::byte> sum) {
  const auto rows = static_cast<std::size_t>(parameters_.rows.value);
  const std::size_t bits = sum.size() * 8;
  CALPE_ASSERT(bits <= static_cast<std::size_t>(parameters_.columns.value));
  if (mapping_ != nullptr) {  // rows of a matrix are overwritten
    mapping_ = nullptr;
    start_schedule(parameters_.crossbar_count());
  }
  const Schedule::Place place = schedule_.next();
  Picoseconds work = 0;
  Crossbar& chosen = computing_crossbar(place.unit, place.group, work);
  std::vector<std::uint64_t> row(divide_up(bits, 64));
  std::size_t done = 0;
  do {
    std::size_t used = 0;
    if (done != 0) chosen.write_row(used++, row, bits);  // the sum so far
    for (; used < rows && done < blocks.size(); ++done, ++used) {
      for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = load_lanes(word_of(std::span(blocks[done], sum.size()), i));
      chosen.write_row(used, row, bits);
    }
    chosen.activate_rows(0, used, row, bits);
    counters_.data_row_writes += used;
    counters_.words_written += used * words_of(bits);
    counters_.words_read += words_of(bits);
    work += sum_time(parameters_, used, bits);
  } while (done < blocks.size());
  for (std::size_t i = 0; i < row.size(); ++i)
    store_lanes(row[i], word_of(sum, i));
  const Schedule::Block block{
      .bytes_in = blocks.size() * sum.size(), .bytes_out = sum.size(), .work = work};
  schedule_.add(block);
  counters_.bytes_in += block.bytes_in;
  counters_.bytes_out += block.bytes_out;
}

void ReramMemory::release() {
  for (const std::unique_ptr<Crossbar>& crossbar : crossbars_) {
    if (crossbar != nullptr) crossbar->set_mode(Crossbar::Mode::storage);
  }
  mapping_ = nullptr;
  start_schedule(parameters_.crossbar_count());
  schedule_.pause(mode_switch_time(parameters_));
}

Counters ReramMemory::counters() const {
  Counters all = counters_;
  for (const std::unique_ptr<Crossbar>& crossbar : crossbars_) {
    if (crossbar != nullptr) all += crossbar->counters();
  }
  return all;
}

Wear ReramMemory::wear() const {
  Wear wear;
  for (const std::unique_ptr<Crossbar>& crossbar : crossbars_) {
    if (crossbar != nullptr) wear.merge(crossbar->writes_per_row());
  }
  return wear;
}

}  // namespace calpe::reram
