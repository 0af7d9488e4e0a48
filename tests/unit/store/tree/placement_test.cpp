// SPDX-License-Identifier: Apache-2.0
// Files keep their places in the content, and new data goes where there is room.
#include "store/tree/placement.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "support/random_choice.hpp"

namespace calpe::store {
namespace {

using Extents = std::vector<Extent>;

Entry file(const std::string& path, Extents extents, std::int64_t seconds = 1,
           std::uint64_t file_bytes = 0) {
  Entry entry;
  entry.path = path;
  entry.seconds = seconds;
  entry.file_bytes = file_bytes;
  for (const Extent& extent : extents) {
    entry.file_bytes = std::max(entry.file_bytes, extent.file_offset + extent.bytes);
  }
  entry.extents = std::move(extents);
  return entry;
}

Result<Placement> place(const Manifest& before, const Manifest& after) {
  const auto difference = compare_trees(before, after);
  if (!difference) return difference.error();
  return place_files(before, after, *difference);
}

TEST(Placement, UnchangedFilesStayAndAreNotRead) {
  const Manifest before = {{file("a", {{0, 30, 10}}), file("b", {{0, 0, 5}, {9, 20, 7}})}};
  const Manifest after = {{file("a", {{0, 0, 10}}), file("b", {{0, 10, 5}, {9, 15, 7}})}};
  const auto placed = place(before, after);
  ASSERT_TRUE(placed) << placed.error().message;
  EXPECT_EQ(placed->manifest, before);
  EXPECT_TRUE(placed->pieces.empty());
  EXPECT_EQ(placed->data_bytes, 40U);
  EXPECT_EQ(placed->unused_bytes, 18U);
}

TEST(Placement, AGrownFileContinuesAfterTheOthers) {
  const Manifest before = {{file("a", {{0, 0, 10}}), file("b", {{0, 10, 10}})}};
  const Manifest after = {{file("a", {{0, 0, 25}}, 2), file("b", {{0, 25, 10}})}};
  const auto placed = place(before, after);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->manifest.entries[0].extents, (Extents{{0, 0, 10}, {10, 20, 15}}));
  EXPECT_EQ(placed->manifest.entries[1].extents, (Extents{{0, 10, 10}}));
  ASSERT_EQ(placed->pieces.size(), 2U);
  EXPECT_EQ(placed->pieces[1].content_offset, 20U);
  EXPECT_EQ(placed->pieces[1].file_offset, 10U);
  EXPECT_EQ(placed->pieces[1].entry, 0U);
  EXPECT_EQ(placed->unused_bytes, 0U);
}

// The last file of a content keeps one extent, however often it grows.
TEST(Placement, AdjacentPiecesAreMerged) {
  const Manifest before = {{file("a", {{0, 0, 10}}), file("b", {{0, 10, 10}})}};
  const Manifest after = {{file("a", {{0, 0, 10}}), file("b", {{0, 10, 30}}, 2)}};
  const auto placed = place(before, after);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->manifest.entries[1].extents, (Extents{{0, 10, 30}}));
}

TEST(Placement, NewDataFillsTheSmallestSufficientGap) {
  const Manifest before = {{file("a", {{0, 0, 10}}, 1), file("b", {{0, 10, 50}}, 2),
                            file("c", {{0, 60, 10}}, 3), file("d", {{0, 70, 20}}, 4),
                            file("e", {{0, 90, 10}}, 5)}};
  const Manifest after = {{file("a", {{0, 0, 10}}, 1), file("c", {{0, 0, 10}}, 3),
                           file("e", {{0, 0, 10}}, 5), file("x", {{0, 0, 15}}, 9),
                           file("y", {{0, 0, 60}}, 9)}};
  const auto placed = place(before, after);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->manifest.entries[3].extents, (Extents{{0, 70, 15}}));
  EXPECT_EQ(placed->manifest.entries[4].extents, (Extents{{0, 100, 60}}));
  EXPECT_EQ(placed->data_bytes, 160U);
  EXPECT_EQ(placed->unused_bytes, 55U);
}

TEST(Placement, ContentShrinksWithItsLastFile) {
  const Manifest before = {{file("a", {{0, 0, 10}}), file("b", {{0, 10, 50}}, 2)}};
  const auto placed = place(before, {{file("a", {{0, 0, 10}}), file("c", {}, 7)}});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->data_bytes, 10U);
  EXPECT_EQ(placed->unused_bytes, 0U);
  EXPECT_TRUE(placed->pieces.empty());
}

TEST(Placement, MovedHolesKeepUnchangedData) {
  const Manifest before = {{file("a", {{0, 0, 10}, {20, 10, 10}}, 1, 40), file("z", {{0, 20, 1}})}};
  const Manifest after = {{file("a", {{5, 0, 20}}, 2, 40), file("z", {{0, 20, 1}})}};
  const auto placed = place(before, after);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->manifest.entries[0].extents, (Extents{{5, 5, 5}, {10, 21, 10}, {20, 10, 5}}));
}

// Every byte of every file has one place, without overlaps.
TEST(Placement, RandomTreesKeepTheRules) {
  conformance::Random random(20261115);
  for (unsigned trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    Manifest before;
    for (unsigned step = 0; step < 8; ++step) {
      Manifest after;
      for (unsigned i = 0; i < 12; ++i) {
        if (random.below(4) == 0) continue;
        Extents extents;
        std::uint64_t at = 0;
        for (auto n = random.below(4); n > 0; --n) {
          at += random.below(2) * random.below(30);
          const std::uint64_t bytes = 1 + random.below(40);
          extents.push_back({at, 0, bytes});
          at += bytes + 1;
        }
        after.entries.push_back(
            file("f" + std::to_string(i), extents, static_cast<std::int64_t>(random.below(3)), at));
      }
      std::uint64_t wanted = 0;
      for (const Entry& entry : after.entries) {
        for (const Extent& extent : entry.extents)
          wanted += extent.bytes;
      }
      const auto difference = compare_trees(before, after);
      ASSERT_TRUE(difference);
      const auto placed = place_files(before, after, *difference);
      ASSERT_TRUE(placed) << placed.error().message;
      const Status checked = check_manifest(placed->manifest, placed->data_bytes);
      ASSERT_TRUE(checked) << checked.error().message;
      std::uint64_t read = 0;
      for (const PlacedPiece& piece : placed->pieces)
        read += piece.bytes;
      std::uint64_t kept = 0;
      for (std::size_t i = 0; i < after.entries.size(); ++i) {
        if (!difference->entries[i].keeps_bytes()) continue;
        for (const Extent& extent : after.entries[i].extents)
          wanted -= extent.bytes;
        for (const Extent& extent : placed->manifest.entries[i].extents)
          kept += extent.bytes;
      }
      EXPECT_EQ(read, wanted);
      EXPECT_EQ(placed->unused_bytes, placed->data_bytes - read - kept);
      before = placed->manifest;
    }
  }
}

}  // namespace
}  // namespace calpe::store
