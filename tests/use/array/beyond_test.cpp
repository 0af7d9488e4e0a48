// SPDX-License-Identifier: Apache-2.0
// Arrays with more faults than they can survive return errors, never old bytes. Runs 20,000 seeds,
// and 1,000,000 others in the nightly run. CALPE_ARRAY_SEED=n runs only that one, printing its
// operations.
#include "beyond.hpp"

#include <gtest/gtest.h>

namespace calpe::tests {
namespace {

constexpr unsigned failures_most = 5;  // several seeds tell more about a bug than one

void add(BeyondFaults::Counts& sum, const BeyondFaults::Counts& one) {
  sum.operations += one.operations;
  sum.errors += one.errors;
  sum.cuts += one.cuts;
  sum.faults += one.faults;
  sum.opened += one.opened;
  sum.refused += one.refused;
  sum.gaps += one.gaps;
  sum.reopened += one.reopened;
  sum.right += one.right;
  sum.unreadable += one.unreadable;
}

TEST(ArrayBeyond, EveryBlockIsRightOrAnError) {
  keep_memory();
  if (const char* seed = std::getenv("CALPE_ARRAY_SEED")) {
    BeyondFaults one(std::strtoull(seed, nullptr, 0), true);
    ASSERT_EQ(one.run(), "");
    return;
  }
  // CI always uses the same seeds; the nightly run uses new ones.
  const bool is_night = std::getenv("CALPE_NIGHTLY") != nullptr;
  const char* asked = std::getenv("CALPE_ARRAY_SEEDS");
  const std::uint64_t given = asked == nullptr ? 0 : std::strtoull(asked, nullptr, 0);
  const std::uint64_t seeds = given != 0 ? given : is_night ? 1'000'000 : 20'000;
  const std::uint64_t first = is_night ? conformance::run_seed() % 1'000'000'000 * 1'000'000 : 1;
  BeyondFaults::Counts sum;
  unsigned failures = 0;
  for (std::uint64_t seed = first; seed < first + seeds && failures < failures_most; ++seed) {
    BeyondFaults one(seed, false);
    const std::string wrong = one.run();
    EXPECT_EQ(wrong, "") << "repeat with CALPE_ARRAY_SEED=" << seed;
    failures += wrong.empty() ? 0 : 1;
    add(sum, one.counts());
  }
  std::cout << seeds << " seeds from " << first << ": " << sum.operations << " operations ("
            << sum.errors << " gave errors), " << sum.cuts << " power cuts, " << sum.faults
            << " faults, " << sum.opened << " times opened, " << sum.refused << " refused ("
            << sum.gaps << " for a gap in the log), " << sum.reopened
            << " opened when members came back; " << sum.right << " blocks right, "
            << sum.unreadable << " errors\n";
  // Each of these must happen, or the run tests less than it claims.
  EXPECT_GT(sum.gaps, 0U);
  EXPECT_GT(sum.reopened, 0U);
  EXPECT_GT(sum.unreadable, 0U);
  EXPECT_GT(sum.right, sum.unreadable);
}

}  // namespace
}  // namespace calpe::tests
