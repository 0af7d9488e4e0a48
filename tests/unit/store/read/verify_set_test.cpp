// SPDX-License-Identifier: Apache-2.0
// verify reports exactly the damage that was done.
#include "store/read/verify_set.hpp"

#include <gtest/gtest.h>

#include "store/read/set_reader.hpp"
#include "support/faulty_files.hpp"
#include "support/set_damage.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::MadeSet;
using tests::MemoryFiles;

VerifyReport must_verify(FileSystem& files, bool deep = false, unsigned jobs = 1) {
  const auto set = tests::find_one(files);
  EXPECT_TRUE(set.has_value()) << set.error().message;
  auto report = verify_set(files, *set, deep, jobs);
  EXPECT_TRUE(report.has_value()) << report.error().message;
  return *std::move(report);
}

TEST(VerifySet, AWholeSetIsGood) {
  for (const std::uint64_t stripes : {0U, 1U, 7U, 512U, 1030U}) {
    const MadeSet made({.stripes = stripes});
    MemoryFiles files;
    made.put(files);
    for (const bool deep : {false, true}) {
      const VerifyReport report = must_verify(files, deep, deep ? 3 : 1);
      EXPECT_TRUE(report.is_good()) << stripes;
      EXPECT_TRUE(report.is_repairable());
      ASSERT_EQ(report.shards.size(), 5U);
      for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(report.shards[i].index, i);
        EXPECT_EQ(report.shards[i].path, made.path(i));
        EXPECT_TRUE(report.shards[i].headers_good && report.shards[i].size_good);
        EXPECT_EQ(report.shards[i].problem, "");
      }
    }
  }
}

TEST(VerifySet, DescribesEveryKindOfDamage) {
  const MadeSet made({.stripes = 600});
  MemoryFiles files;
  made.put(files);
  tests::flip_bit(files.at(made.path(0)), 50, 0);
  files.at(made.path(1)).resize(made.images()[1].size() + 5);
  ASSERT_TRUE(files.remove(made.path(2)).has_value());
  for (const std::uint64_t stripe : {1U, 2U, 599U}) {
    tests::flip_bit(files.at(made.path(3)), made.block_at(stripe), 0);
  }
  Bytes& last = files.at(made.path(4));
  tests::flip_bit(last, last.size() - 5000, 0);  // after the 88 checksums of the last page
  tests::flip_bit(last, last.size() - 50, 0);
  const VerifyReport report = must_verify(files);
  EXPECT_EQ(report.shards[0].problem, "the header at the front is damaged");
  EXPECT_FALSE(report.shards[0].headers_good);
  EXPECT_EQ(report.shards[1].problem, text("it has ", made.images()[1].size() + 5,
                                           " bytes; expected ", made.images()[1].size()));
  EXPECT_FALSE(report.shards[1].size_good);
  EXPECT_EQ(report.shards[2].problem, "missing");
  EXPECT_EQ(report.shards[2].path, "");
  EXPECT_EQ(report.shards[2].bad_blocks, 600U);
  EXPECT_EQ(report.shards[3].problem, "3 of 600 blocks are damaged");
  EXPECT_EQ(report.shards[3].bad_blocks, 3U);
  EXPECT_EQ(report.shards[4].problem, "the header at the end is damaged, unused bytes are not 0");
  EXPECT_EQ(report.bad_stripes, 600U);
  EXPECT_EQ(report.lost_stripe_count, 0U);
  EXPECT_FALSE(report.is_good());
  EXPECT_TRUE(report.is_repairable());
}

// verify detects a flipped bit anywhere.
TEST(VerifySet, DetectsEveryFlippedBit) {
  const MadeSet made({.stripes = 3});
  const std::size_t bytes = made.images()[0].size();
  MemoryFiles files;
  made.put(files);
  Bytes& file = files.at(made.path(2));
  for (std::size_t at = 0; at<bytes; at += at % 4096> 300 ? 29 : 1) {
    tests::flip_bit(file, at, at);
    const VerifyReport report = must_verify(files);
    tests::flip_bit(file, at, at);
    ASSERT_FALSE(report.is_good()) << at;
    ASSERT_NE(report.shards[2].problem, "") << at;
    ASSERT_TRUE(report.is_repairable()) << at;
  }
  EXPECT_TRUE(must_verify(files).is_good());
}

TEST(VerifySet, LostStripesAreNamed) {
  const MadeSet made({.stripes = 3000});
  MemoryFiles files;
  made.put(files);
  for (const std::uint64_t stripe : {5U, 6U, 513U}) {
    for (const std::size_t shard : {0U, 1U, 4U}) {
      tests::flip_bit(files.at(made.path(shard)), made.block_at(stripe), 0);
    }
  }
  tests::flip_bit(files.at(made.path(1)), made.block_at(9), 0);
  VerifyReport report = must_verify(files, false, 2);
  EXPECT_EQ(report.lost_stripes, (std::vector<std::uint64_t>{5, 6, 513}));
  EXPECT_EQ(report.lost_stripe_count, 3U);
  EXPECT_EQ(report.bad_stripes, 4U);
  EXPECT_FALSE(report.is_repairable());
  for (const std::size_t shard : {0U, 1U, 2U}) {
    ASSERT_TRUE(files.remove(made.path(shard)).has_value());
  }
  report = must_verify(files);
  EXPECT_EQ(report.lost_stripe_count, 3000U);
  EXPECT_EQ(report.lost_stripes.size(), 1000U);
}

TEST(VerifySet, OnlyDeepSeesForgedBlocks) {
  const MadeSet made({});
  for (std::size_t shard = 0; shard < 5; ++shard) {
    MemoryFiles files;
    made.put(files);
    Bytes& forged = files.at(made.path(shard));
    tests::flip_bit(forged, made.block_at(2) + 5, 0);
    MadeSet::put_number(forged, made.checksum_at(2),
                        made.checksum(shard, 2, forged.data() + made.block_at(2)), 8);
    EXPECT_TRUE(must_verify(files).is_good());
    const VerifyReport report = must_verify(files, true);
    EXPECT_EQ(report.contradicting_stripes, 1U);
    EXPECT_FALSE(report.is_good());
    EXPECT_FALSE(report.is_repairable());
    // Remove as many as leave one to compare.
    ASSERT_TRUE(files.remove(made.path((shard + 1) % 5)).has_value());
    EXPECT_EQ(must_verify(files, true).contradicting_stripes, 1U);
  }
}

TEST(VerifySet, ADamagedCopyIsDamage) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  files.put("disk/z", made.images()[3]);
  EXPECT_TRUE(must_verify(files).is_good());
  tests::flip_bit(files.at("disk/z"), made.block_at(0), 0);
  const VerifyReport report = must_verify(files);
  EXPECT_FALSE(report.is_good());
  EXPECT_EQ(report.shards[3].problem, "copy disk/z: 1 of 7 blocks are damaged");
}

TEST(VerifySet, ProgressEndsAtTheContentsEnd) {
  const MadeSet made({.stripes = 1500});
  MemoryFiles files;
  made.put(files);
  std::vector<std::uint64_t> seen;
  const auto report = verify_set(files, *tests::find_one(files), false, 1,
                                 [&](std::uint64_t done, std::uint64_t all) {
                                   EXPECT_EQ(all, made.content().size());
                                   seen.push_back(done);
                                 });
  ASSERT_TRUE(report.has_value());
  EXPECT_GT(seen.size(), 2U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), made.content().size());
}

TEST(VerifySet, HugeHeaderClaimsCostNothing) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  FoundSet set = *tests::find_one(files);
  set.header.stripe_count = std::uint64_t{1} << 50U;
  set.header.content_bytes = set.header.stripe_count * 192;
  const auto report = verify_set(files, set);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_GT(report->lost_stripe_count, std::uint64_t{1} << 49U);
  EXPECT_EQ(report->lost_stripes.size(), 1000U);
}

// The same with only a back header, which could belong to a file that lost its start.
TEST(VerifySet, HugeBackHeaderClaimsCostNothing) {
  const MadeSet made({});
  MemoryFiles files;
  files.put("disk/a", made.images()[0]);
  ShardHeader header = tests::find_one(files)->header;
  header.stripe_count = std::uint64_t{1} << 50U;
  header.content_bytes = header.stripe_count * 192;
  header.manifest_offset = header.content_bytes - header.manifest_bytes;
  Bytes file(20000);
  const HeaderBytes back = to_bytes(header);
  std::copy(back.begin(), back.end(), file.end() - header_bytes);
  files.put("disk/a", file);
  const auto set = tests::find_one(files);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_EQ(set->header.stripe_count, header.stripe_count);
  const auto report = verify_set(files, *set);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->lost_stripe_count, header.stripe_count);
}

TEST(VerifySet, AFailedReadCountsAsDamage) {
  const MadeSet made({});
  MemoryFiles memory;
  made.put(memory);
  tests::FaultyFiles files(memory);
  files.fail_below(made.path(1));
  auto set = *tests::find_one(memory);
  const auto gone = verify_set(files, set);
  ASSERT_FALSE(gone.has_value());  // not even open works
  EXPECT_EQ(gone.error().code, ErrorCode::io);
  files.stop_failing();
  files.fail_call(~std::uint64_t{0}, tests::Fault::short_read);  // fail none, only count the calls
  ASSERT_TRUE(SetReader::open(files, set).has_value());
  const std::uint64_t opening = files.calls();
  // A short read of one of a shard's two headers, while the set is opened, does no harm.
  for (std::uint64_t call = 0; call < opening; ++call) {
    files.fail_call(call, tests::Fault::short_read);
    const auto report = verify_set(files, set);
    ASSERT_TRUE(report.has_value()) << call << ": " << report.error().message;
    EXPECT_TRUE(report->is_good()) << call;
  }
  std::uint64_t damaged = 0;
  for (std::uint64_t call = opening;; ++call) {
    files.fail_call(call, tests::Fault::short_read);
    const auto report = verify_set(files, set);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    if (!files.has_failed()) break;
    EXPECT_FALSE(report->is_good()) << call;
    EXPECT_TRUE(report->is_repairable()) << call;
    ++damaged;
  }
  EXPECT_GE(damaged, 10U);
}

}  // namespace
}  // namespace calpe::store
