// SPDX-License-Identifier: Apache-2.0
// ReRAM that computes: chips of banks x subarrays crossbars behind a controller, with counts,
// simulated time and wear. The memory in a RAID controller multiplies by a matrix; the one in each
// SSD adds rows.
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

namespace calpe::reram {

struct Wear {
  std::uint64_t most = 0;                   // writes to the most written row
  std::vector<std::uint64_t> per_row = {};  // maximum over all crossbars for row r

  // Combines two memories, or a memory and a crossbar's writes_per_row().
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

  // Switches the crossbars to compute mode and writes the matrix to every group of them, unless it
  // is already mapped.
  void map(std::shared_ptr<const Mapping> mapping);
  // Multiplies one packet of each input (at most 8 * packet_bytes vectors) by the mapped matrix, in
  // the next group of crossbars. Input i of vector t is bit t % 64 of inputs[t / 64 * inputs + i];
  // outputs use the same layout.
  void multiply(std::span<const std::uint64_t> inputs, std::span<std::uint64_t> outputs,
                std::size_t vectors);

  // XOR mode: writes each block (all as long as `sum`, at most columns / 8 bytes) to a row of the
  // next crossbar and adds them with one activation. More blocks than rows take several rounds; the
  // sum so far is an input of the next round.
  void add_blocks(std::span<const std::byte* const> blocks, std::span<std::byte> sum);

  // Returns all crossbars to storage mode. The next use switches and maps again.
  void release();

  const Parameters& parameters() const noexcept { return parameters_; }
  Counters counters() const;
  Wear wear() const;
  // Simulated seconds.
  double seconds() const noexcept { return schedule_seconds_ + schedule_.seconds(); }

 private:
  // Starts a new schedule; the simulated time continues.
  void start_schedule(std::size_t groups);
  Crossbar& crossbar(std::size_t chip, std::size_t index);
  // Switches to compute mode and adds the switching time to `time`.
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
  std::vector<std::unique_ptr<Crossbar>> crossbars_;  // created on first use
  std::shared_ptr<const Mapping> mapping_;
  Picoseconds vector_time_ = 0;  // of the current mapping
  Schedule schedule_;
  double schedule_seconds_ = 0;  // of earlier schedules
  Counters counters_;            // counts that crossbars do not keep
};

}  // namespace calpe::reram
