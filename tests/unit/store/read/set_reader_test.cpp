// SPDX-License-Identifier: Apache-2.0
// Reads content from the remains of a set: the right bytes or an error.
#include "store/read/set_reader.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "support/faulty_files.hpp"
#include "support/set_damage.hpp"

namespace calpe::store {
namespace {

using conformance::Random;
using tests::Bytes;
using tests::expect_content;
using tests::MadeSet;
using tests::MemoryFiles;
using tests::read_content;

TEST(SetReader, WholeSets) {
  for (const tests::SetShape& shape :
       {tests::SetShape{}, tests::SetShape{.stripes = 1}, tests::SetShape{.stripes = 0},
        tests::SetShape{.stripes = 512}, tests::SetShape{.stripes = 1025},
        tests::SetShape{.data_shards = 1, .parity_shards = 1},
        tests::SetShape{.block_bytes = 65536, .stripes = 5},
        tests::SetShape{.data_shards = 10, .parity_shards = 4, .block_bytes = 192}}) {
    const MadeSet made(shape);
    MemoryFiles files;
    made.put(files);
    expect_content(files, made);
  }
}

TEST(SetReader, AnyPartByAnyNumberOfThreads) {
  const MadeSet made({.block_bytes = 1024, .stripes = 1400});
  const Bytes content = made.content();
  for (const bool is_damaged : {false, true}) {
    MemoryFiles files;
    made.put(files);
    if (is_damaged) {
      ASSERT_TRUE(files.remove(made.path(1)).has_value());
    }
    const auto set = tests::find_one(files);
    for (const unsigned jobs : {1U, 2U, 5U}) {
      auto reader = SetReader::open(files, *set, jobs);
      ASSERT_TRUE(reader.has_value()) << reader.error().message;
      Random random(jobs);
      Bytes part;
      for (int i = 0; i < 100; ++i) {
        const std::uint64_t offset = random.below(content.size() + 1);
        const std::uint64_t most =
            std::min<std::uint64_t>(content.size() - offset, random.coin() ? 100 : content.size());
        part.assign(random.below(most + 1), std::byte{0});
        const Status read = reader->read(part, offset);
        ASSERT_TRUE(read.has_value()) << read.error().message;
        ASSERT_TRUE(std::equal(part.begin(), part.end(),
                               content.begin() + static_cast<std::ptrdiff_t>(offset)))
            << offset << " +" << part.size();
      }
      Bytes too_much(2);
      const Status beyond = reader->read(too_much, content.size() - 1);
      ASSERT_FALSE(beyond.has_value());
      EXPECT_EQ(beyond.error().code, ErrorCode::invalid_argument);
    }
  }
}

TEST(SetReader, ParityIsReadOnlyWhereDataIsBad) {
  const MadeSet made({.block_bytes = 65536, .stripes = 20});
  MemoryFiles memory;
  made.put(memory);
  tests::FaultyFiles files(memory);
  const auto parity_reads = [&] {
    const std::size_t before = files.log().size();
    auto reader = SetReader::open(files, *tests::find_one(memory));
    Bytes content(made.content().size());
    EXPECT_TRUE(reader->read(content, 0).has_value());
    std::uint64_t reads = 0;
    const auto log = files.log();
    for (std::size_t i = before; i < log.size(); ++i) {
      const bool is_parity =
          log[i].find("s003") != log[i].npos || log[i].find("s004") != log[i].npos;
      if (is_parity && log[i].ends_with("+65536")) ++reads;
    }
    return reads;
  };
  EXPECT_EQ(parity_reads(), 0U);
  tests::flip_bit(memory.at(made.path(0)), made.block_at(7), 0);
  EXPECT_EQ(parity_reads(), 2U);  // the required one, and one to compare with
}

TEST(SetReader, ShardsThatVanishBeforeOpen) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  const auto set = *tests::find_one(files);
  ASSERT_TRUE(files.remove(made.path(2)).has_value());
  const auto reader = SetReader::open(files, set);
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, ErrorCode::io);
  EXPECT_NE(reader.error().message.find("s002"), std::string::npos);
}

TEST(SetReader, RefusesInvalidRequests) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  FoundSet set = *tests::find_one(files);
  set.header.spec.matrix_hash ^= 1U;
  auto refused = SetReader::open(files, set);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  set = *tests::find_one(files);
  set.header.spec.matrix_hash = 0;
  refused = SetReader::open(files, set);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
}

// A small file may claim any number of stripes; this must not cost memory or time.
TEST(SetReader, HugeHeaderClaimsCostNothing) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  FoundSet set = *tests::find_one(files);
  set.header.stripe_count = std::uint64_t{1} << 40U;
  set.header.content_bytes = set.header.stripe_count * 192;
  set.header.manifest_bytes = manifest_bytes_max;
  set.header.manifest_offset = set.header.content_bytes - manifest_bytes_max;
  auto reader = SetReader::open(files, set);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  Bytes end(1000);
  const Status read = reader->read(end, set.header.content_bytes - end.size());
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::unrecoverable);
}

TEST(SetReader, BlocksOfARun) {
  const MadeSet made({.stripes = 600});
  MemoryFiles files;
  made.put(files);
  ASSERT_TRUE(files.remove(made.path(4)).has_value());
  tests::flip_bit(files.at(made.path(1)), made.block_at(512), 0);
  auto reader = SetReader::open(files, *tests::find_one(files));
  SetReader::Blocks blocks;
  ASSERT_TRUE(reader->read_blocks({.first_stripe = 510, .stripe_count = 5}, blocks).has_value());
  for (std::size_t shard = 0; shard < 5; ++shard) {
    for (std::size_t j = 0; j < 5; ++j) {
      const bool is_good = shard != 4 && (shard != 1 || j != 2);
      EXPECT_EQ(blocks.good.at(shard).at(j), is_good) << shard << " " << j;
      if (!is_good) continue;
      EXPECT_TRUE(std::equal(
          blocks.blocks[shard].begin() + static_cast<std::ptrdiff_t>(j * 64),
          blocks.blocks[shard].begin() + static_cast<std::ptrdiff_t>(j * 64 + 64),
          made.images()[shard].begin() + static_cast<std::ptrdiff_t>(made.block_at(510 + j))));
    }
  }
  EXPECT_FALSE(reader->read_blocks({.first_stripe = 600, .stripe_count = 1}, blocks).has_value());
}

// Not MDS: some losses of m shards cannot be rebuilt, and some need only one local group.
TEST(SetReader, LocalGroups) {
  const MadeSet made(
      {.data_shards = 6, .parity_shards = 4, .family = CodeFamily::lrc, .local_groups = 2});
  std::size_t rebuilt = 0;
  std::size_t refused = 0;
  for (unsigned pattern = 0; pattern < 1024; ++pattern) {
    if (std::popcount(pattern) > 4) continue;
    MemoryFiles files;
    for (std::size_t i = 0; i < 10; ++i) {
      if ((pattern >> i & 1U) == 0) files.put(made.path(i), made.images()[i]);
    }
    const auto read = read_content(files);
    if (read) {
      ASSERT_TRUE(*read == made.content()) << pattern;
      ++rebuilt;
    } else {
      ASSERT_EQ(read.error().code, ErrorCode::unrecoverable);
      ASSERT_EQ(std::popcount(pattern), 4);
      ++refused;
    }
  }
  EXPECT_GT(rebuilt, 300U);
  EXPECT_GT(refused, 0U);
}

}  // namespace
}  // namespace calpe::store
