// SPDX-License-Identifier: Apache-2.0
// Simulates one encode or decode in ReRAM and compares every byte with the CPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <calpe/codec.hpp>

#include "gf/matrix.hpp"
#include "reram/counters.hpp"
#include "reram/device/reram_device.hpp"
#include "reram/parameters.hpp"
#include "reram/reram_memory.hpp"

namespace calpe::tools {

// Bits of a symbol, and packets of each shard in a stripe: 64 * k bytes with packets of 8 bytes.
inline constexpr unsigned reram_word_bits = 8;

struct ReramRequest {
  unsigned data = 10;
  unsigned parity = 4;
  std::vector<ShardIndex> lose = {};  // empty: encode
  reram::Parameters parameters = {};
  backend::reram::ReramOptions options = {};
  std::size_t bytes = std::size_t{8} << 20U;  // data in all shards; rounded up to whole stripes
  double target_rate = 1e-15;                 // acceptable rate of wrong bits
};

// Counts of wrong bits.
struct ReramErrors {
  std::uint64_t bits = 0;
  std::uint64_t wrong = 0;
  // Expected rate; nullopt if a bit is computed by several crossbars or in several parts.
  std::optional<double> closed_form = {};
  std::size_t rows_driven = 0;      // largest number at once
  std::size_t rows_for_target = 0;  // largest number that meets target_rate
};

struct ReramRun {
  CodeSpec spec = {};
  bool is_decode = false;
  std::vector<ShardIndex> reads = {};
  std::vector<ShardIndex> writes = {};
  std::uint64_t stripes = 0;
  std::uint64_t bytes_read = 0;  // bytes of input shards; all rates count these
  std::uint64_t bytes_written = 0;

  backend::reram::ReramPlan plan = {};
  unsigned adc_bits_needed = 0;
  reram::Counters counters = {};
  reram::Wear wear = {};
  double simulated_seconds = 0;
  double rate = 0;         // bytes read per simulated second
  double steady_rate = 0;  // the same by formula, for an endless stream
  double wall_seconds = 0;
  ReramErrors errors = {};
  std::optional<double> joules = {};

  // True if rows are rewritten during the work, not only to map a matrix.
  bool is_wearing() const noexcept {
    return counters.data_row_writes + counters.partial_row_writes != 0;
  }
};

// The simulated code: profile hybrid with the packet size of the parameters.
CodeSpec reram_spec(unsigned data, unsigned parity, const reram::Parameters& parameters);

// Fails as Codec::create and plan_decode do, and if the matrix does not fit the simulated device.
// Wrong bytes are not a failure; errors.wrong counts them.
Result<ReramRun> run_reram(const ReramRequest& request);

}  // namespace calpe::tools
