// SPDX-License-Identifier: Apache-2.0
// ReRAM that computes: chips of banks x subarrays crossbars behind a controller, with all that they
// did, how long it took and how worn they are. One in a RAID controller multiplies by a matrix; one
// in each SSD adds rows.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "reram/counters.hpp"
#include "reram/crossbar.hpp"
#include "reram/mapping.hpp"
#include "reram/parameters.hpp"
#include "reram/timing.hpp"

namespace calpe::sim {

struct Wear {
  std::uint64_t most = 0;                   // writes of the most written row
  std::vector<std::uint64_t> per_row = {};  // most writes of row r, over all crossbars

  // Of two memories, or of one and a crossbar's writes_per_row().
  void merge(std::span<const std::uint64_t> writes) {
    per_row.resize(std::max(per_row.size(), writes.size()));
    for (std::size_t r = 0; r < writes.size(); ++r) {
      per_row[r] = std::max(per_row[r], writes[r]);
      most = std::max(most, writes[r]);
    }
  }
};

class ReramMemory {
 public:
  explicit ReramMemory(const Parameters& parameters, std::size_t chip_count = 1);

  // Takes the crossbars into compute mode and writes the matrix into every group of them, unless it
  // is there already.
  void map(std::shared_ptr<const Mapping> mapping);
  // One packet of each input through the mapped matrix, by the next group of crossbars: at most
  // 8 * packet_bytes vectors. Input i of vector t is bit t % 64 of inputs[t / 64 * inputs + i],
  // and so are outputs.
  void multiply(std::span<const std::uint64_t> inputs, std::span<std::uint64_t> outputs,
                std::size_t vectors);

  // XOR mode: each block (all as long as `sum`, at most columns / 8 bytes) is written to a row of
  // the next crossbar, and one activation adds them. More blocks than rows take several rounds, the
  // sum so far being one of the next round's.
  void add_blocks(std::span<const std::byte* const> blocks, std::span<std::byte> sum);

  // Gives all crossbars back to storage. The next use takes them again, and maps again.
  void release();

  const Parameters& parameters() const noexcept { return parameters_; }
  Counters counters() const;
  Wear wear() const;
  double seconds() const noexcept { return schedule_seconds_ + schedule_.seconds(); }  // simulated

 private:
  // Time goes on where it was.
  void start_schedule(std::size_t groups);
  Crossbar& crossbar(std::size_t chip, std::size_t index);
  // In compute mode; adds what the switch takes to `time`.
  Crossbar& computing_crossbar(std::size_t chip, std::size_t index, Picoseconds& time);
  void write_tile(Crossbar& crossbar, const Tile& tile);
  void multiply_lanes(std::size_t chip, std::size_t first_crossbar,
                      std::span<const std::uint64_t> inputs, std::span<std::uint64_t> outputs,
                      std::size_t lanes);
  void activate_tile(Crossbar& crossbar, const Tile& tile, bool takes_result,
                     std::span<const std::uint64_t> inputs, std::span<std::uint64_t> results,
                     std::size_t lanes);
  std::size_t words_of(std::size_t bits) const noexcept;

  Parameters parameters_;
  std::size_t chip_count_;
  std::vector<std::unique_ptr<Crossbar>> crossbars_;  // made when first used
  std::shared_ptr<const Mapping> mapping_;
  Picoseconds vector_time_ = 0;  // of the mapping
  Schedule schedule_;
  double schedule_seconds_ = 0;  // of schedules before this one
  Counters counters_;            // what crossbars do not count themselves
};

}  // namespace calpe::sim
