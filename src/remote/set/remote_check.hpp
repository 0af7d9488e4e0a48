// SPDX-License-Identifier: Apache-2.0
// Verifies and repairs all generations of a set on places.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "remote/set/commit.hpp"
#include "remote/set/shard_places.hpp"

namespace calpe::remote {

struct CheckOptions {
  bool is_quick = false;  // trust names and sizes; read nothing
  bool repairs = false;
  bool reads_back = false;      // with `repairs`
  bool allows_weaker = false;   // with `repairs`: fewer places may be lost than the set is made for
  ChangeOptions change = {};    // with `repairs`
  OnProgress on_progress = {};  // of the content of all segments
};

// Places that may be lost, whichever they are.
struct PlaceLosses {
  std::size_t places = 0;                    // that answer
  std::optional<std::size_t> may_fail = {};  // nullopt: data is lost
  std::size_t promised = 0;                  // when the set was written
  std::size_t possible = 0;                  // if the shards were spread over these places
  bool is_weaker() const noexcept { return may_fail && *may_fail < promised; }
};

struct CheckReport {
  Generation newest = {};
  std::uint64_t segments = 0;          // distinct ones of all generations
  std::uint64_t damaged_segments = 0;  // with fewer good shards than there should be
  std::uint64_t lost_segments = 0;     // too few good shards
  std::uint64_t missing_copies = 0;    // of generations, on the given places
  std::uint64_t objects_written = 0;
  std::uint64_t objects_moved = 0;  // of those written: good ones that were on another place
  std::uint64_t bytes_written = 0;
  PlaceLosses losses = {};
  std::vector<std::string> problems = {};            // the first 100 bad objects and places
  std::vector<std::uint64_t> lost_generations = {};  // those that need a lost segment
  bool is_good() const noexcept { return damaged_segments == 0 && missing_copies == 0; }
};

// The places must have been listed. To repair, all of them must be reachable. A repair that would
// leave the set weaker than it is made for fails with invalid_argument, unless that is allowed.
Result<CheckReport> check_on_places(Places& places, const RemoteSet& set,
                                    const CheckOptions& options);

// By names and sizes.
Result<PlaceLosses> losses_by_listing(Places& places, const RemoteSet& set,
                                      const std::vector<Generation>& generations);

}  // namespace calpe::remote
