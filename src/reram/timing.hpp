// SPDX-License-Identifier: Apache-2.0
// How long the simulated hardware takes. Formulas in docs/reram.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reram/mapping.hpp"
#include "reram/parameters.hpp"

namespace calpe::sim {

using Picoseconds = std::int64_t;

Picoseconds activation_time(const Parameters& parameters);
Picoseconds mode_switch_time(const Parameters& parameters);
Picoseconds row_write_time(const Parameters& parameters, std::size_t bits);
// One vector through a group of crossbars; rows of so many bits through XOR mode.
Picoseconds vector_time(const Parameters& parameters, const Mapping& mapping);
Picoseconds sum_time(const Parameters& parameters, std::size_t rows, std::size_t bits);

// Bytes of inputs per second when there is no end of vectors: the closed form that the schedule
// must come to.
double steady_rate(const Parameters& parameters, const Mapping& mapping);
// Bytes rebuilt per second in XOR mode over so many SSDs.
double steady_sum_rate(const Parameters& parameters, std::size_t rows, std::size_t ssds);

// Blocks of work in order: over the bus, into a group of crossbars that is free, out over the bus.
// At most queue_depth are under way. Event by event; exact in picoseconds.
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
  // Where the next block goes: to the units in turn, in each to its groups in turn.
  Place next() const noexcept { return {next_unit_, units_[next_unit_].next_group}; }
  void add(const Block& block);
  // Nothing added later starts before everything so far has ended, and then so much later.
  void pause(Picoseconds time) noexcept;
  double seconds() const noexcept { return static_cast<double>(end_) * 1e-12; }

 private:
  struct Unit {
    Picoseconds bus_in_free = 0;
    Picoseconds bus_out_free = 0;
    std::vector<Picoseconds> group_free;
    std::vector<Picoseconds> queue;  // when the last queue_depth blocks left, as a ring
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

}  // namespace calpe::sim
