// SPDX-License-Identifier: Apache-2.0
#include "reram/timing.hpp"

#include <algorithm>
#include <cmath>

#include "base/divide_up.hpp"

namespace calpe::reram {

namespace {

Picoseconds picoseconds(double ns) {
  return std::llround(ns * 1e3);
}

// Time of a tile's activations for a vector, including the XORs that join their results.
Picoseconds tile_time(const Parameters& parameters, const Mapping& mapping, const Tile& tile) {
  const auto parts = static_cast<Picoseconds>(row_parts(mapping.options, tile).size());
  return parts * activation_time(parameters) +
         (parts - 1) * picoseconds(parameters.combine_ns.value);
}

// Bytes per second for an endless stream of blocks: the narrowest part decides.
double steady(const Parameters& parameters, const Schedule::Block& block, std::size_t counted_bytes,
              std::size_t groups) {
  const double work = static_cast<double>(block.work) * 1e-12;
  const double bus = parameters.bus_gb_per_s.value * 1e9;
  double blocks = static_cast<double>(groups) / work;
  double stay = work;
  if (bus > 0) {
    const double in = static_cast<double>(block.bytes_in) / bus;
    const double out = static_cast<double>(block.bytes_out) / bus;
    blocks = std::min({blocks, 1 / in, 1 / out});
    stay += in + out;
  }
  return std::min(blocks, parameters.queue_depth.value / stay) * static_cast<double>(counted_bytes);
}

}  // namespace

Picoseconds activation_time(const Parameters& parameters) {
  return picoseconds(parameters.read_ns.value * parameters.column_mux.value);
}

Picoseconds mode_switch_time(const Parameters& parameters) {
  return picoseconds(parameters.mode_switch_ns.value);
}

Picoseconds row_write_time(const Parameters& parameters, std::size_t bits) {
  const auto word = static_cast<std::size_t>(parameters.write_word_bits.value);
  return static_cast<Picoseconds>(divide_up(bits, word)) *
         picoseconds(parameters.write_word_ns.value);
}

Picoseconds vector_time(const Parameters& parameters, const Mapping& mapping) {
  const std::size_t grid_columns = mapping.options.grid.columns;
  Picoseconds load = 0;
  Picoseconds work = 0;
  // Tile sizes do not increase, so the first of each row of tiles is the slowest.
  for (std::size_t t = 0; t < mapping.tiles.size(); t += grid_columns) {
    const Tile& tile = mapping.tiles[t];
    const auto bytes = static_cast<double>(divide_up(tile.input_count, 8));
    load = std::max(load, picoseconds(parameters.load_ns_per_byte.value * bytes));
    const Picoseconds activations = tile_time(parameters, mapping, tile);
    if (t == 0) {
      work = activations;
    } else if (mapping.options.combine == Combine::rewrite) {
      work += row_write_time(parameters, tile.output_count) + activations;
    } else {
      work = std::max(work, activations);
    }
  }
  if (mapping.options.combine == Combine::digital) {
    work += static_cast<Picoseconds>(mapping.options.grid.rows - 1) *
            picoseconds(parameters.combine_ns.value);
  }
  return load + work;
}

Picoseconds sum_time(const Parameters& parameters, std::size_t rows, std::size_t bits) {
  return static_cast<Picoseconds>(rows) * row_write_time(parameters, bits) +
         activation_time(parameters);
}

double steady_rate(const Parameters& parameters, const Mapping& mapping) {
  const auto vectors = static_cast<std::size_t>(parameters.packet_bytes.value) * 8;
  const Schedule::Block block{
      .bytes_in = mapping.inputs() * vectors / 8,
      .bytes_out = mapping.outputs() * vectors / 8,
      .work = static_cast<Picoseconds>(vectors) * vector_time(parameters, mapping)};
  return steady(parameters, block, block.bytes_in, mapping.groups);
}

double steady_sum_rate(const Parameters& parameters, std::size_t rows, std::size_t ssds) {
  const auto bits = static_cast<std::size_t>(parameters.columns.value);
  const Schedule::Block block{
      .bytes_in = rows * bits / 8, .bytes_out = bits / 8, .work = sum_time(parameters, rows, bits)};
  return static_cast<double>(ssds) *
         steady(parameters, block, block.bytes_out, parameters.crossbar_count());
}

Schedule::Schedule(const Parameters& parameters, std::size_t groups, std::size_t units)
    : units_(units) {
  if (parameters.bus_gb_per_s.value > 0) bus_ps_per_byte_ = 1e3 / parameters.bus_gb_per_s.value;
  for (Unit& unit : units_) {
    unit.group_free.resize(groups);
    unit.queue.resize(static_cast<std::size_t>(parameters.queue_depth.value));
  }
}

Picoseconds Schedule::bus_time(std::size_t bytes) const noexcept {
  return std::llround(bus_ps_per_byte_ * static_cast<double>(bytes));
}

void Schedule::add(const Block& block) {
  Unit& unit = units_[next_unit_];
  next_unit_ = (next_unit_ + 1) % units_.size();
  Picoseconds& slot = unit.queue[unit.next_slot];
  unit.next_slot = (unit.next_slot + 1) % unit.queue.size();
  Picoseconds& group = unit.group_free[unit.next_group];
  unit.next_group = (unit.next_group + 1) % unit.group_free.size();

  unit.bus_in_free = std::max({start_, unit.bus_in_free, slot}) + bus_time(block.bytes_in);
  group = std::max(unit.bus_in_free, group) + block.work;
  unit.bus_out_free = std::max(unit.bus_out_free, group) + bus_time(block.bytes_out);
  slot = unit.bus_out_free;
  end_ = std::max(end_, slot);
}

void Schedule::pause(Picoseconds time) noexcept {
  start_ = end_ + time;
  end_ = start_;
}

}  // namespace calpe::reram
