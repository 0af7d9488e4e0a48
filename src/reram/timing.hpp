// SPDX-License-Identifier: Apache-2.0
// Simulated time. docs/reram.md has the formulas.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reram/mapping.hpp"
#include "reram/parameters.hpp"

namespace calpe::reram {

using Picoseconds = std::int64_t;

Picoseconds activation_time(const Parameters& parameters);
Picoseconds mode_switch_time(const Parameters& parameters);
Picoseconds row_write_time(const Parameters& parameters, std::size_t bits);
// Time of one vector through a group of crossbars; time of XOR mode for rows of this many bits.
Picoseconds vector_time(const Parameters& parameters, const Mapping& mapping);
Picoseconds sum_time(const Parameters& parameters, std::size_t rows, std::size_t bits);

// Input bytes per second for an endless stream of vectors: the closed form that the schedule must
// approach.
double steady_rate(const Parameters& parameters, const Mapping& mapping);
// Rebuilt bytes per second in XOR mode over this many SSDs.
double steady_sum_rate(const Parameters& parameters, std::size_t rows, std::size_t ssds);

// Schedules blocks of work in order: in over the bus, through a free group of crossbars, out over
// the bus. At most queue_depth are in flight. Event-driven, exact in picoseconds.
class Schedule {
 public:
  // `units` chips, each with its own bus and queue.
  Schedule(const Parameters& parameters, std::size_t groups, std::size_t units = 1);

  struct Block {
    std::size_t bytes_in = 0;
    std::size_t bytes_out = 0;
    Picoseconds work = 0;
  };
  struct Place {
    std::size_t unit = 0;
    std::size_t group = 0;
  };
  // Destination of the next block: round-robin over the units, then over the groups of a unit.
  Place next() const noexcept { return {next_unit_, units_[next_unit_].next_group}; }
  void add(const Block& block);
  // A barrier: later blocks start only after all earlier ones ended, plus this delay.
  void pause(Picoseconds time) noexcept;
  double seconds() const noexcept { return static_cast<double>(end_) * 1e-12; }

 private:
  struct Unit {
    Picoseconds bus_in_free = 0;
    Picoseconds bus_out_free = 0;
    std::vector<Picoseconds> group_free;
    std::vector<Picoseconds> queue;  // ring of the departure times of the last queue_depth blocks
    std::size_t next_group = 0;
    std::size_t next_slot = 0;
  };
  Picoseconds bus_time(std::size_t bytes) const noexcept;

  double bus_ps_per_byte_ = 0;
  std::vector<Unit> units_;
  std::size_t next_unit_ = 0;
  Picoseconds start_ = 0;
  Picoseconds end_ = 0;
};

}  // namespace calpe::reram
