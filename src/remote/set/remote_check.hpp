// SPDX-License-Identifier: Apache-2.0
// Verifies and repairs all generations of a set on places.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "remote/set/commit.hpp"

namespace calpe::remote {

struct CheckOptions {
  bool is_quick = false;  // trust names and sizes; read nothing
  bool repairs = false;
  bool reads_back = false;      // with `repairs`
  OnProgress on_progress = {};  // of the content of all segments
};

struct CheckReport {
  Generation newest = {};
  std::uint64_t segments = 0;          // distinct ones of all generations
  std::uint64_t damaged_segments = 0;  // with fewer good shards than there should be
  std::uint64_t lost_segments = 0;     // too few good shards
  std::uint64_t missing_copies = 0;    // of generations, on the given places
  std::uint64_t objects_written = 0;
  std::uint64_t bytes_written = 0;
  std::vector<std::string> problems = {};            // the first 100 bad objects and places
  std::vector<std::uint64_t> lost_generations = {};  // those that need a lost segment
  bool is_good() const noexcept { return damaged_segments == 0 && missing_copies == 0; }
};

// The places must have been listed. To repair, all of them must be reachable.
Result<CheckReport> check_on_places(Places& places, const RemoteSet& set,
                                    const CheckOptions& options);

}  // namespace calpe::remote
