// SPDX-License-Identifier: Apache-2.0
// The extent of a whole run of `calpe bench`, and its progress callback.
#pragma once
#include <functional>
#include <string>

#include "bench/harness/sections.hpp"

namespace calpe::tools {

struct BenchExtent {
  bench::Extent extent = bench::Extent::quick;
  // Factor on the time of a quick or full run; --seconds changes it.
  double time_scale = 1;
  unsigned rounds = 0;  // 0 = as many as the time allows
  std::function<void(const std::string& what)> on_progress = [](const std::string&) {};

  bool is_full() const noexcept { return extent == bench::Extent::full; }
  double seconds(double quick, double full) const noexcept {
    return time_scale * (is_full() ? full : quick);
  }
};

}  // namespace calpe::tools
