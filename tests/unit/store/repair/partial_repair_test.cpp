// SPDX-License-Identifier: Apache-2.0
// A repair of all stripes but those that are lost. Lost blocks stay bad.
#include <bit>
#include <gtest/gtest.h>

#include "store/repair/repair_set.hpp"
#include "support/faulty_files.hpp"
#include "support/repaired_set.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::MadeSet;
using tests::MemoryFiles;
using tests::repair;

constexpr std::size_t block = 64;
constexpr unsigned patterns = 32;

// Stripe p of a 3+2 set has lost the blocks of pattern p: all 32 patterns.
void damage_every_pattern(MemoryFiles& files, const MadeSet& made) {
  for (std::uint64_t stripe = 0; stripe < patterns; ++stripe) {
    for (std::size_t shard = 0; shard < 5; ++shard) {
      if ((stripe >> shard & 1U) != 0 && files.images().contains(made.path(shard)))
        tests::flip_bit(files.at(made.path(shard)), made.block_at(stripe), 0);
    }
  }
}

struct Salvaged {
  Bytes bytes;
  std::vector<ContentRange> lost;
};

Salvaged salvage(MemoryFiles& files, std::size_t bytes) {
  auto reader = SetReader::open(files, *tests::find_one(files));
  Salvaged out = {.bytes = Bytes(bytes), .lost = {}};
  EXPECT_TRUE(reader->salvage(out.bytes, 0, out.lost).has_value());
  out.lost = merged(std::move(out.lost));
  return out;
}

// `gone`: shards that are missing, as bits. Blocks that are good afterwards have their old bytes.
void check_partial(unsigned gone, unsigned jobs) {
  const MadeSet made({.stripes = patterns});
  MemoryFiles files;
  made.put(files);
  for (std::size_t shard = 0; shard < 5; ++shard) {
    if ((gone >> shard & 1U) != 0) {
      ASSERT_TRUE(files.remove(made.path(shard)).has_value());
    }
  }
  damage_every_pattern(files, made);
  const Salvaged before = salvage(files, made.content().size());
  const auto images = files.images();
  ASSERT_EQ(repair(files).error().code, ErrorCode::unrecoverable);
  ASSERT_EQ(files.images(), images);
  const auto report = repair(files, {.jobs = jobs, .partial = true});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->is_any_lost());
  EXPECT_EQ(report->lost, before.lost);
  EXPECT_EQ(report->files_created.size(), static_cast<std::size_t>(std::popcount(gone)));
  const Salvaged after = salvage(files, made.content().size());
  EXPECT_EQ(after.bytes, before.bytes);
  EXPECT_EQ(after.lost, before.lost);
  auto reader = SetReader::open(files, *tests::find_one(files));
  SetReader::Blocks blocks;
  ASSERT_TRUE(reader->read_blocks({0, patterns}, blocks).has_value());
  std::uint64_t lost_stripes = 0;
  for (unsigned stripe = 0; stripe < patterns; ++stripe) {
    const bool is_lost = std::popcount(stripe | gone) > 2;
    lost_stripes += is_lost ? 1 : 0;
    for (std::size_t shard = 0; shard < 5; ++shard) {
      const bool was_bad = ((stripe | gone) >> shard & 1U) != 0;
      ASSERT_EQ(blocks.good[shard][stripe], !is_lost || !was_bad) << shard << ", " << stripe;
      if (!blocks.good[shard][stripe]) continue;
      const auto at = static_cast<std::ptrdiff_t>(made.block_at(stripe));
      EXPECT_TRUE(
          std::equal(made.images()[shard].begin() + at,
                     made.images()[shard].begin() + at + static_cast<std::ptrdiff_t>(block),
                     blocks.blocks[shard].begin() + static_cast<std::ptrdiff_t>(stripe * block)));
    }
  }
  const auto verified = verify_set(files, *tests::find_one(files), true);
  ASSERT_TRUE(verified.has_value());
  EXPECT_FALSE(verified->is_repairable());
  EXPECT_EQ(verified->lost_stripe_count, lost_stripes);
  EXPECT_EQ(verified->bad_stripes, lost_stripes);
}

TEST(PartialRepair, EveryPatternInPlace) {
  check_partial(0, 1);
  check_partial(0, 3);
}

TEST(PartialRepair, NewShardsHaveNoLostBlocks) {
  for (const unsigned gone : {1U, 2U, 16U, 3U, 9U, 24U})
    check_partial(gone, 1 + gone % 3);
}

TEST(PartialRepair, ARepairWithTheReturnedShardIsComplete) {
  const MadeSet made({.stripes = patterns});
  MemoryFiles files;
  made.put(files);
  ASSERT_TRUE(files.remove(made.path(1)).has_value());
  for (const std::size_t shard : {0U, 4U})
    tests::flip_bit(files.at(made.path(shard)), made.block_at(7), 0);
  ASSERT_TRUE(repair(files, {.partial = true})->is_any_lost());
  files.put(made.path(1) + ".returned", made.images()[1]);
  const auto report = repair(files);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_TRUE(files.remove(made.path(1) + ".returned").has_value());
  tests::expect_whole(files, made);
}

TEST(PartialRepair, NothingIsWrittenIfAllIsLost) {
  const MadeSet made({.stripes = 600});
  MemoryFiles files;
  made.put(files);
  for (const std::size_t gone : {0U, 1U, 4U})
    ASSERT_TRUE(files.remove(made.path(gone)).has_value());
  const auto before = files.images();
  const auto report = repair(files, {.partial = true});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::unrecoverable);
  EXPECT_EQ(files.images(), before);
}

TEST(PartialRepair, AWholeSetAndARepairableOneAreAsWithoutIt) {
  const MadeSet made({.stripes = 600});
  MemoryFiles files;
  made.put(files);
  ASSERT_FALSE(repair(files, {.partial = true})->is_any_lost());
  ASSERT_TRUE(files.remove(made.path(1)).has_value());
  tests::flip_bit(files.at(made.path(4)), made.block_at(7), 0);
  const auto report = repair(files, {.partial = true});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->is_any_lost());
  EXPECT_TRUE(report->lost.empty());
  tests::expect_whole(files, made);
}

// Two shards are cut, so that the last stripes have too few blocks.
TEST(PartialRepair, CutFilesGetTheirSizeButNoGoodBlocks) {
  const MadeSet made({.stripes = 1100});
  MemoryFiles files;
  made.put(files);
  for (const std::size_t shard : {0U, 2U, 3U})
    files.at(made.path(shard)).resize(made.block_at(1050));
  const auto report = repair(files, {.partial = true});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->files_changed.size(), 3U);
  for (std::size_t shard = 0; shard < 5; ++shard)
    EXPECT_EQ(files.images().at(made.path(shard)).size(), made.images()[shard].size());
  const auto verified = verify_set(files, *tests::find_one(files), true);
  EXPECT_EQ(verified->lost_stripe_count, 1100U - 1024U);  // their checksums were cut off too
}

}  // namespace
}  // namespace calpe::store
