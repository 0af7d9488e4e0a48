// SPDX-License-Identifier: Apache-2.0
// After repair every file has its original bytes.
#include <gtest/gtest.h>

#include "store/repair/repair_set.hpp"
#include "support/expected_set.hpp"
#include "support/faulty_files.hpp"
#include "support/repaired_set.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using conformance::Random;
using tests::Bytes;
using tests::Damage;
using tests::expect_whole;
using tests::FaultyFiles;
using tests::MadeSet;
using tests::MemoryFiles;
using tests::repair;

TEST(RepairSet, AWholeSetIsLeftAlone) {
  const MadeSet made({});
  MemoryFiles memory;
  made.put(memory);
  FaultyFiles files(memory);
  const auto report = repair(files);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->before.is_good());
  EXPECT_EQ(report->blocks_written, 0U);
  for (const std::string& call : files.log()) {
    EXPECT_TRUE(call.starts_with("read_at") || call.starts_with("open ") ||
                call.starts_with("open_to_change ") ||  // to lock it; nothing is written
                call.starts_with("size") || call.starts_with("list"))
        << call;
  }
}

TEST(RepairSet, EveryLossPatternOfThreeAndTwo) {
  const MadeSet made({.stripes = 515});
  for (unsigned pattern = 1; pattern < 31; ++pattern) {
    MemoryFiles files;
    for (std::size_t i = 0; i < 5; ++i) {
      if ((pattern >> i & 1U) == 0) files.put(made.path(i), made.images()[i]);
    }
    const auto before = files.images();
    const auto report = repair(files, {.jobs = 1 + pattern % 3});
    if (std::popcount(pattern) <= 2) {
      ASSERT_TRUE(report.has_value()) << pattern << ": " << report.error().message;
      expect_whole(files, made);
      EXPECT_EQ(report->files_created.size(), static_cast<std::size_t>(std::popcount(pattern)));
      EXPECT_EQ(report->blocks_written, 515U * static_cast<unsigned>(std::popcount(pattern)));
    } else {
      ASSERT_FALSE(report.has_value()) << pattern;
      EXPECT_EQ(report.error().code, ErrorCode::unrecoverable);
      EXPECT_NE(report.error().message.find("stripes 0 .. 514"), std::string::npos);
      EXPECT_EQ(files.images(), before);
    }
  }
}

TEST(RepairSet, EveryKindOfDamageOnUpToTwoShards) {
  tests::for_each_two_damages([](MemoryFiles& files, const MadeSet& made, Damage one, Damage two) {
    const auto report = repair(files);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    const auto after = tests::find_one(files);
    const auto verified = verify_set(files, *after, true);
    ASSERT_TRUE(verified.has_value() && verified->is_good());
    EXPECT_TRUE(*tests::read_content(files) == made.content());
    // A file that contains another shard counts as its copy, and its own shard is created next to
    // it.
    const auto makes_copy = [](Damage damage) {
      return damage == Damage::of_another_shard || damage == Damage::half_of_another_shard;
    };
    if (!makes_copy(one) && !makes_copy(two)) expect_whole(files, made);
  });
}

TEST(RepairSet, EveryShardDamagedInDifferentStripes) {
  const MadeSet made({.stripes = 600});
  MemoryFiles files;
  made.put(files);
  for (std::uint64_t stripe = 0; stripe < 600; ++stripe) {
    tests::flip_bit(files.at(made.path(stripe % 5)), made.block_at(stripe), 0);
    tests::flip_bit(files.at(made.path((stripe + 1) % 5)), made.checksum_at(stripe), 3);
  }
  const auto report = repair(files, {.jobs = 2});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->blocks_written, 1200U);
  EXPECT_EQ(report->files_changed.size(), 5U);
  EXPECT_TRUE(report->files_created.empty());
  expect_whole(files, made);
}

TEST(RepairSet, ProgressEndsAtTwiceTheContent) {
  const MadeSet made({.stripes = 1100});
  MemoryFiles files;
  made.put(files);
  tests::flip_bit(files.at(made.path(1)), made.block_at(700), 0);
  std::vector<std::uint64_t> seen;
  const auto report = repair(files, {.on_progress = [&](std::uint64_t done, std::uint64_t all) {
                               EXPECT_EQ(all, 2 * made.content().size());
                               seen.push_back(done);
                             }});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_GT(seen.size(), 4U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 2 * made.content().size());
}

TEST(RepairSet, OnlyBadBlocksAreWritten) {
  const MadeSet made({.stripes = 40});
  MemoryFiles memory;
  made.put(memory);
  tests::flip_bit(memory.at(made.path(1)), made.block_at(7), 0);
  FaultyFiles files(memory);
  ASSERT_TRUE(repair(files).has_value());
  std::uint64_t bytes = 0;
  for (const std::string& call : files.log()) {
    if (!call.starts_with("write_at")) continue;
    EXPECT_NE(call.find(made.path(1)), std::string::npos);
    bytes += std::stoull(call.substr(call.find('+') + 1));
  }
  EXPECT_EQ(bytes, 64U + 8U + (512U - 40U) * 8U);  // block, checksum, the unused part of the page
  expect_whole(memory, made);
}

TEST(RepairSet, NothingIsWrittenWhenAStripeIsLost) {
  const MadeSet made({.stripes = 30});
  MemoryFiles memory;
  made.put(memory);
  ASSERT_TRUE(memory.remove(made.path(0)).has_value());
  for (const std::uint64_t stripe : {3U, 17U, 18U}) {
    for (const std::size_t shard : {2U, 4U}) {
      tests::flip_bit(memory.at(made.path(shard)), made.block_at(stripe), 0);
    }
  }
  const auto before = memory.images();
  FaultyFiles files(memory);
  const auto report = repair(files);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::unrecoverable);
  EXPECT_NE(report.error().message.find("stripes 3, 17, 18:"), std::string::npos)
      << report.error().message;
  EXPECT_EQ(memory.images(), before);
  for (const std::string& call : files.log()) {
    EXPECT_FALSE(call.starts_with("write_at") || call.starts_with("create")) << call;
  }
}

TEST(RepairSet, NothingIsWrittenFromBlocksThatContradict) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  Bytes& forged = files.at(made.path(1));
  tests::flip_bit(forged, made.block_at(2) + 5, 0);
  MadeSet::put_number(forged, made.checksum_at(2),
                      made.checksum(1, 2, forged.data() + made.block_at(2)), 8);
  ASSERT_TRUE(files.remove(made.path(0)).has_value());
  const auto before = files.images();
  const auto report = repair(files);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::corrupt);
  EXPECT_NE(report.error().message.find("stripe 2;"), std::string::npos);
  EXPECT_EQ(files.images(), before);
}

TEST(RepairSet, AllCopiesAreRepaired) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  files.put("disk/z", made.images()[3]);
  tests::flip_bit(files.at("disk/z"), made.block_at(0), 0);
  tests::flip_bit(files.at(made.path(3)), made.block_at(1), 0);
  ASSERT_TRUE(repair(files).has_value());
  EXPECT_TRUE(files.at("disk/z") == made.images()[3]);
  EXPECT_TRUE(files.at(made.path(3)) == made.images()[3]);
}

TEST(RepairSet, OnARealDisk) {
  const tests::Workshop shop;
  const MadeSet made({.block_bytes = 16384, .stripes = 30});
  std::filesystem::create_directory(shop.path("a"));
  const auto write = [&](std::size_t i, const Bytes& bytes) {
    shop.write("a/" + made.path(i, ".").substr(2),
               std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  };
  for (const std::size_t i : {0U, 2U, 3U}) {
    write(i, made.images()[i]);
  }
  Bytes cut = made.images()[1];
  cut.resize(100000);
  write(1, cut);
  const auto findings = find_sets(posix_files(), {shop.path("a")});
  const auto report = repair_set(posix_files(), *choose_set(*findings));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  for (std::size_t i = 0; i < 5; ++i) {
    const Bytes bytes = tests::read_whole(shop.path("a") + "/" + made.path(i, ".").substr(2));
    EXPECT_TRUE(bytes == made.images()[i]) << i;
  }
}

}  // namespace
}  // namespace calpe::store
