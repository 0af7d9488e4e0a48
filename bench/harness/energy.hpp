// SPDX-License-Identifier: Apache-2.0
// Energy counters of the processor, where the system lets us read them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::bench {

// The packages of RAPL under Linux's powercap: all that a socket uses, whoever made it do so.
class EnergyCounters {
 public:
  // Fails with backend_unavailable and the reason: no such folder (virtual machines, other
  // processors), or counters that only root may read.
  static Result<EnergyCounters> open(const std::string& folder = "/sys/class/powercap");

  std::size_t count() const noexcept { return counters_.size(); }
  // Joules since the call before, or since open(). Counters wrap; one wrap is seen. Fails with io.
  Result<double> joules();

 private:
  struct Counter {
    std::string path;          // of energy_uj
    std::uint64_t range = 0;   // microjoules at which it starts again
    std::uint64_t before = 0;  // microjoules
  };
  std::vector<Counter> counters_;
};

}  // namespace calpe::bench
