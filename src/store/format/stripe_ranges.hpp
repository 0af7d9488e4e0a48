// SPDX-License-Identifier: Apache-2.0
// Sets of stripes stored as ranges, as damage comes in runs and a missing shard is one range.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace calpe::store {

// Consecutive stripes.
struct StripeRun {
  std::uint64_t first_stripe = 0;
  std::uint64_t stripe_count = 0;
  std::uint64_t end() const noexcept { return first_stripe + stripe_count; }
  bool operator==(const StripeRun&) const = default;
};

class StripeRanges {
 public:
  void add(std::uint64_t stripe) { add_run({.first_stripe = stripe, .stripe_count = 1}); }
  // Adds a run. No stripe of it may precede one that was added before.
  void add_run(const StripeRun& run);
  const std::vector<StripeRun>& runs() const noexcept { return runs_; }
  bool is_empty() const noexcept { return runs_.empty(); }
  std::uint64_t count() const noexcept;
  bool contains(std::uint64_t stripe) const noexcept;
  bool contains_run(const StripeRun& run) const noexcept;  // all of it; not empty

 private:
  std::vector<StripeRun> runs_;
};

// "stripe 3", "stripes 3, 17 .. 21", "stripes 0, 2, 4 and 1000 more"
std::string to_text(const StripeRanges& ranges);

}  // namespace calpe::store
