// SPDX-License-Identifier: Apache-2.0
// Time that a lost device is missing: detection, replacement and rebuild.
#pragma once
#include <string_view>

#include "durability/inputs.hpp"

namespace calpe::durability {

enum class Bottleneck : std::uint8_t { write, read, network, decode, pool, given };
std::string_view name_of(Bottleneck bottleneck);  // readable name

struct RebuildTime {
  double waiting_hours = 0;   // detection and replacement
  double transfer_hours = 0;  // of the slowest part
  Bottleneck bottleneck = Bottleneck::write;
  double hours() const { return waiting_hours + transfer_hours; }
};

// `reads` shards are read for each one written. The parts run in parallel, so the slowest decides.
// Example: 16 TB at 0.3 * 200 MB/s take 74.1 h; with 0.5 + 12 h of waiting, 86.6 h.
RebuildTime rebuild_time(const Inputs& inputs, double reads);

}  // namespace calpe::durability
