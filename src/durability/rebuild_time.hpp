// SPDX-License-Identifier: Apache-2.0
// How long a lost device is missed: until it is noticed, replaced and rebuilt.
#pragma once
#include <string_view>

#include "durability/inputs.hpp"

namespace calpe::durability {

enum class Bottleneck : std::uint8_t { write, read, network, decode, pool, given };
std::string_view name_of(Bottleneck bottleneck);  // for a person

struct RebuildTime {
  double waiting_hours = 0;   // detection and replacement
  double transfer_hours = 0;  // by the slowest part
  Bottleneck bottleneck = Bottleneck::write;
  double hours() const { return waiting_hours + transfer_hours; }
};

// With `reads` shards read for each that is written. The parts work side by side, so that the
// slowest decides. Example: 16 TB at 0.3 * 200 MB/s are 74.1 h; with 0.5 + 12 h before, 86.6 h.
RebuildTime rebuild_time(const Inputs& inputs, double reads);

}  // namespace calpe::durability
