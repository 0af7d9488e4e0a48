// SPDX-License-Identifier: Apache-2.0
// How a check of a whole set reads: which part, how fast, and from the disk or the page cache.
#pragma once
#include <chrono>
#include <cstdint>

#include "store/format/stripe_ranges.hpp"

namespace calpe::store {

struct Scrub {
  // Part `part` of `parts`, from 1: parts of the stripes that differ in size by at most one.
  std::uint64_t part = 1;
  std::uint64_t parts = 1;
  std::uint64_t bytes_per_second = 0;  // of all shards together; 0: no limit
  bool is_uncached = false;            // reads from the disk, and keeps the page cache as it is

  bool is_whole() const noexcept { return parts == 1; }
  StripeRun stripes_of(std::uint64_t stripe_count) const noexcept;
};

// Sleeps so that the bytes reported so far do not exceed the rate.
class ReadPace {
 public:
  explicit ReadPace(std::uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}
  void add(std::uint64_t bytes);

 private:
  std::uint64_t bytes_per_second_;
  std::uint64_t bytes_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace calpe::store
