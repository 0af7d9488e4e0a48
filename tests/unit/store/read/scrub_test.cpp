// SPDX-License-Identifier: Apache-2.0
// Parts of a set, read errors and rates.
#include "store/read/scrub.hpp"

#include <gtest/gtest.h>

#include "store/read/verify_set.hpp"
#include "support/faulty_files.hpp"
#include "support/set_damage.hpp"

namespace calpe::store {
namespace {

using tests::MadeSet;
using tests::MemoryFiles;

TEST(Scrub, PartsCoverEveryStripeOnce) {
  for (const std::uint64_t stripes : {1U, 2U, 29U, 30U, 31U, 1000U}) {
    for (const std::uint64_t parts : {1U, 2U, 7U, 30U}) {
      std::uint64_t next = 0;
      for (std::uint64_t part = 1; part <= parts; ++part) {
        const StripeRun run = Scrub{.part = part, .parts = parts}.stripes_of(stripes);
        EXPECT_EQ(run.first_stripe, next);
        EXPECT_LE(run.stripe_count, stripes / parts + 1);
        next = run.end();
      }
      EXPECT_EQ(next, stripes);
    }
  }
}

TEST(Scrub, APartReportsItsOwnDamageOnly) {
  const MadeSet made({.stripes = 600});
  MemoryFiles files;
  made.put(files);
  for (const std::uint64_t stripe : {0U, 299U, 300U, 599U})
    tests::flip_bit(files.at(made.path(1)), made.block_at(stripe), 0);
  const auto set = tests::find_one(files);
  const auto bad_in = [&](std::uint64_t part, std::uint64_t parts) {
    const auto report = verify_set(files, *set, false, 2, {}, {.part = part, .parts = parts});
    EXPECT_TRUE(report.has_value() && report->is_repairable());
    return report->bad_stripes;
  };
  EXPECT_EQ(bad_in(1, 1), 4U);
  EXPECT_EQ(bad_in(1, 2), 2U);
  EXPECT_EQ(bad_in(2, 2), 2U);
  EXPECT_EQ(bad_in(2, 4), 1U);
  EXPECT_EQ(bad_in(3, 4), 1U);
  EXPECT_EQ(bad_in(5, 10), 1U);
  EXPECT_EQ(bad_in(4, 10), 0U);
}

TEST(Scrub, AMissingEndIsLostInItsPartOnly) {
  const MadeSet made({.stripes = 600});
  MemoryFiles files;
  made.put(files);
  for (std::size_t shard = 0; shard < 3; ++shard)
    files.at(made.path(shard)).resize(made.block_at(512));
  const auto set = tests::find_one(files);
  const auto first = verify_set(files, *set, false, 1, {}, {.part = 1, .parts = 2});
  EXPECT_EQ(first->lost_stripe_count, 0U);
  const auto second = verify_set(files, *set, false, 1, {}, {.part = 2, .parts = 2});
  EXPECT_EQ(second->lost_stripe_count, 88U);
}

}  // namespace
}  // namespace calpe::store
