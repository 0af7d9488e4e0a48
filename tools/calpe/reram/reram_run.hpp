// SPDX-License-Identifier: Apache-2.0
// One encode or decode on simulated ReRAM, compared with the CPU byte for byte.
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

// Bits of a symbol; so many packets of each shard are a stripe, 64 * k bytes with packets of 8.
inline constexpr unsigned reram_word_bits = 8;

struct ReramRequest {
  unsigned data = 10;
  unsigned parity = 4;
  std::vector<ShardIndex> lose = {};  // empty: encode
  sim::Parameters parameters = {};
  backend::reram::ReramOptions options = {};
  std::size_t bytes = std::size_t{8} << 20U;  // of data, over all shards; whole stripes are coded
  double target_rate = 1e-15;                 // wrong bits that somebody would put up with
};

// Of bits that come out wrong.
struct ReramErrors {
  std::uint64_t bits = 0;
  std::uint64_t wrong = 0;
  // By formula; none where several crossbars, or several parts of one, make a bit.
  std::optional<double> closed_form = {};
  std::size_t rows_driven = 0;      // at once, at most
  std::size_t rows_for_target = 0;  // that may be, for target_rate
};

struct ReramRun {
  CodeSpec spec = {};
  bool is_decode = false;
  std::vector<ShardIndex> reads = {};
  std::vector<ShardIndex> writes = {};
  std::uint64_t stripes = 0;
  std::uint64_t bytes_read = 0;  // of the shards that are read; all rates are of these
  std::uint64_t bytes_written = 0;

  backend::reram::ReramPlan plan = {};
  unsigned adc_bits_needed = 0;
  sim::Counters counters = {};
  sim::Wear wear = {};
  double simulated_seconds = 0;
  double rate = 0;         // bytes read per simulated second
  double steady_rate = 0;  // the same by formula, when there is no end of data
  double wall_seconds = 0;
  ReramErrors errors = {};
  std::optional<double> joules = {};

  // Rows are written again and again, and not only when a matrix is mapped.
  bool is_wearing() const noexcept {
    return counters.data_row_writes + counters.partial_row_writes != 0;
  }
};

// The code that is simulated: hybrid, packets as the parameters say.
CodeSpec reram_spec(unsigned data, unsigned parity, const sim::Parameters& parameters);

// Fails as Codec::create and plan_decode do, and as the simulated device does when it cannot take
// the matrix. Wrong bytes are no failure: errors.wrong counts them.
Result<ReramRun> run_reram(const ReramRequest& request);

}  // namespace calpe::tools
