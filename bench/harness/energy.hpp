// SPDX-License-Identifier: Apache-2.0
// Energy counters of the processor, where they are readable.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::bench {

// RAPL package counters in Linux powercap. They count everything a socket uses.
class EnergyCounters {
 public:
  // Fails with backend_unavailable and the reason: no such directory (virtual machines, other
  // processors), or no read permission.
  static Result<EnergyCounters> open(const std::string& folder = "/sys/class/powercap");

  std::size_t count() const noexcept { return counters_.size(); }
  // Joules since the previous call, or since open(). Handles one counter wrap. Fails with io.
  Result<double> joules();

 private:
  struct Counter {
    std::string path;          // energy_uj
    std::uint64_t range = 0;   // microjoules at which it wraps
    std::uint64_t before = 0;  // microjoules
  };
  std::vector<Counter> counters_;
};

}  // namespace calpe::bench
