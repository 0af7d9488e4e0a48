// SPDX-License-Identifier: Apache-2.0
// Runs seeds of the simulation, 500 operations each. CALPE_NIGHTLY=1 runs 100,000 other seeds,
// CALPE_ARRAY_SEED=n only that one, printing its operations.
#include <gtest/gtest.h>

#include "array/simulation_faults.hpp"

namespace calpe::tests {
namespace {

constexpr unsigned operations = 500;
constexpr unsigned failures_most = 5;  // several seeds tell more about a bug than one

void add(Simulation::Counts& sum, const Simulation::Counts& one) {
  sum.operations += one.operations;
  sum.cuts += one.cuts;
  sum.cuts_in_recovery += one.cuts_in_recovery;
  sum.faults += one.faults;
  sum.rebuilds += one.rebuilds;
  sum.returns += one.returns;
  sum.refusals += one.refusals;
  sum.grown += one.grown;
  sum.enlarged += one.enlarged;
  sum.replaced += one.replaced;
}

// Eight parts, which ctest runs in parallel.
class ArraySimulation : public testing::TestWithParam<unsigned> {};
constexpr unsigned parts = 8;

TEST_P(ArraySimulation, DiffersNowhereFromTheModel) {
  keep_memory();
  if (const char* seed = std::getenv("CALPE_ARRAY_SEED")) {
    if (GetParam() != 0) GTEST_SKIP() << "CALPE_ARRAY_SEED selects one seed";
    Simulation one(std::strtoull(seed, nullptr, 0), true);
    ASSERT_EQ(one.run(operations), "");
    return;
  }
  // CI always uses the same seeds; the nightly run uses new ones.
  const bool is_night = std::getenv("CALPE_NIGHTLY") != nullptr;
  const std::uint64_t seeds = (is_night ? 100'000 : 2'000) / parts;
  const std::uint64_t base = is_night ? conformance::run_seed() % 1'000'000'000 : 1;
  const std::uint64_t first = base * 1'000'000 + GetParam() * seeds;
  Simulation::Counts sum;
  unsigned failures = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    Simulation one(seed, false);
    EXPECT_EQ(one.run(operations), "") << "repeat with CALPE_ARRAY_SEED=" << seed;
    add(sum, one.counts());
    failures += one.is_sound() ? 0 : 1;
    ASSERT_LT(failures, failures_most) << "of " << seed - first + 1 << " seeds";
  }
  std::cout << seeds << " seeds from " << first << ", " << sum.operations << " operations, "
            << sum.cuts << " power cuts and " << sum.cuts_in_recovery << " in recovery, "
            << sum.faults << " faults, " << sum.rebuilds << " rebuilds, " << sum.returns
            << " returns and " << sum.refusals << " refused, " << sum.grown
            << " times more parity, " << sum.enlarged << " times more capacity, " << sum.replaced
            << " replaced while in: " << failures << " differences\n";
}

INSTANTIATE_TEST_SUITE_P(Part, ArraySimulation, testing::Range(0U, parts));

}  // namespace
}  // namespace calpe::tests
