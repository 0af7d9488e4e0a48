// SPDX-License-Identifier: Apache-2.0
// Repair of sets with roots: every file gets its original bytes, root and path, and nothing is
// written that the set's root does not prove.
#include <bit>
#include <gtest/gtest.h>

#include "store/read/set_roots.hpp"
#include "store/repair/repair_set.hpp"
#include "support/repaired_set.hpp"
#include "support/rooted_set.hpp"

namespace calpe::store {
namespace {

using tests::repair;
using tests::RootedSet;

void expect_repaired(RootedSet& set, const RepairOptions& options = {}) {
  const auto report = repair(set.files(), options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->before.is_good());
  EXPECT_TRUE(set.is_whole());
}

TEST(RepairRoots, EveryLossPatternOfThreeAndTwo) {
  for (unsigned pattern = 1; pattern < 31; ++pattern) {
    RootedSet set({.data_bytes = 3 * 64 * 515});
    for (std::size_t i = 0; i < 5; ++i) {
      if ((pattern >> i & 1U) == 0) continue;
      ASSERT_TRUE(set.files().remove(set.path(i)).has_value());
    }
    if (std::popcount(pattern) <= 2) {
      expect_repaired(set, {.jobs = 1 + pattern % 3});
    } else {
      EXPECT_EQ(repair(set.files()).error().code, ErrorCode::unrecoverable);
    }
  }
}

TEST(RepairRoots, ManyShards) {
  for (const std::uint16_t k : std::vector<std::uint16_t>{1, 6, 10, 30}) {
    RootedSet set({.data_shards = k, .parity_shards = 3, .data_bytes = 5000});
    for (const std::size_t i : {std::size_t{0}, std::size_t{k}}) {
      ASSERT_TRUE(set.files().remove(set.path(i)).has_value());
    }
    expect_repaired(set);
  }
}

TEST(RepairRoots, HeadersComeFromTheGoodCopy) {
  RootedSet set;
  tests::flip_bit(set.files().at(set.path(0)), 500, 1);
  tests::Bytes& file = set.files().at(set.path(3));
  tests::flip_bit(file, file.size() - 4000, 1);
  expect_repaired(set);
}

TEST(RepairRoots, DamagedInPlace) {
  RootedSet set;
  for (std::size_t i = 0; i < 5; ++i) {
    set.damage_block(i, i + 1);
  }
  set.files().at(set.path(2)).resize(5000);
  expect_repaired(set);
}

TEST(RepairRoots, ForgedFilesAreRebuilt) {
  RootedSet set;
  set.forge_block(1, 3);
  set.forge_header(4, [](ShardHeader& h) { h.root_path[0][0] ^= std::byte{1}; });
  expect_repaired(set);
}

TEST(RepairRoots, AForgedBlockInADamagedFile) {
  RootedSet set;
  set.damage_block(1, 3);
  set.forge_block(1, 5);
  set.damage_block(2, 4);
  expect_repaired(set);
}

TEST(RepairRoots, WritesOnlyProvenBlocks) {
  RootedSet set;
  ASSERT_TRUE(set.files().remove(set.path(0)).has_value());
  ASSERT_TRUE(set.files().remove(set.path(3)).has_value());
  set.damage_block(1, 3);
  // Stripe 3 would be lost without a forged block.
  set.forge_block(1, 3);
  set.forge_block(2, 3);
  const auto before = set.files().images();
  const auto report = repair(set.files());
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::unrecoverable);
  EXPECT_EQ(set.files().images(), before);
}

// Too few files are complete, and the blocks rebuilt from the others do not match the root.
TEST(RepairRoots, AWrongRebuiltRootChangesNothing) {
  RootedSet set;
  ASSERT_TRUE(set.files().remove(set.path(0)).has_value());
  ASSERT_TRUE(set.files().remove(set.path(3)).has_value());
  set.forge_headers([](ShardHeader& h) { h.name = "evil"; });
  const auto before = set.files().images();
  EXPECT_FALSE(repair(set.files()).has_value());
  EXPECT_EQ(set.files().images(), before);
}

TEST(RepairRoots, DamageEverywhereAndAForgedBlockChangeNothing) {
  RootedSet set;
  for (std::size_t i = 0; i < 5; ++i) {
    set.damage_block(i, i + 6);
  }
  set.forge_block(1, 3);  // no file is proven, so the right one is unknown
  const auto before = set.files().images();
  const auto report = repair(set.files());
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(set.files().images(), before);
}

// The key owner computed roots over wrong parity: each file is proven, but the rebuilt data does
// not match the root.
TEST(RepairRoots, AllFilesProvenButNotTheRebuiltOne) {
  RootedSet set;
  set.forge_block(4, 3);
  const auto opened = OpenSet::open(set.files(), *tests::find_one(set.files()));
  const auto roots = compute_roots(*opened, tests::sample_key());
  ASSERT_TRUE(roots.has_value()) << roots.error().message;
  set.forge_headers([&](ShardHeader& h) { h = header_with_roots(h, *roots, h.shard_index); });
  EXPECT_TRUE(verify_set(set.files(), *tests::find_one(set.files()))->is_good());
  for (const std::size_t shard : {0U, 1U}) {
    ASSERT_TRUE(set.files().remove(set.path(shard)).has_value());
  }
  const auto before = set.files().images();
  const auto report = repair(set.files());
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::corrupt);
  EXPECT_NE(report.error().message.find("the rebuilt shards would have the root"),
            std::string::npos);
  EXPECT_EQ(set.files().images(), before);
}

TEST(RepairRoots, ProgressEndsAtThreeTimesTheContent) {
  RootedSet set;
  set.damage_block(0, 0);
  std::vector<std::uint64_t> seen;
  expect_repaired(set, {.on_progress = [&](std::uint64_t done, std::uint64_t all) {
                    EXPECT_EQ(all, 3 * set.content().size());
                    seen.push_back(done);
                  }});
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 3 * set.content().size());
}

}  // namespace
}  // namespace calpe::store
