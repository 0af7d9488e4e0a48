// SPDX-License-Identifier: Apache-2.0
// Reading damaged sets gives the right bytes or an error that names the stripes.
#include <algorithm>
#include <gtest/gtest.h>

#include "store/read/set_reader.hpp"
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

TEST(DamagedReader, EveryLossPatternOfThreeAndTwo) {
  const MadeSet made({});
  for (unsigned pattern = 0; pattern < 31; ++pattern) {  // pattern 31: all lost, no set
    MemoryFiles files;
    for (std::size_t i = 0; i < 5; ++i) {
      if ((pattern >> i & 1U) == 0) files.put(made.path(i), made.images()[i]);
    }
    const auto read = read_content(files);
    if (std::popcount(pattern) <= 2) {
      ASSERT_TRUE(read.has_value()) << pattern << ": " << read.error().message;
      EXPECT_TRUE(*read == made.content()) << pattern;
    } else if ((pattern & 7U) != 0) {
      ASSERT_FALSE(read.has_value()) << pattern;
      EXPECT_EQ(read.error().code, ErrorCode::unrecoverable);
      EXPECT_NE(read.error().message.find("too few shards are present"), std::string::npos)
          << read.error().message;
    }
  }
}

TEST(DamagedReader, EveryKindOfDamageOnUpToTwoShards) {
  tests::for_each_two_damages([](MemoryFiles& files, const MadeSet& made, tests::Damage,
                                 tests::Damage) { expect_content(files, made); });
}

TEST(DamagedReader, TruncatedAtEveryLength) {
  const MadeSet made({.stripes = 3});
  const Bytes& whole = made.images()[0];
  for (std::size_t bytes = 0; bytes<whole.size(); bytes += bytes % 4096> 4000 ? 1 : 13) {
    MemoryFiles files;
    made.put(files);
    files.at(made.path(0)).resize(bytes);
    files.at(made.path(3)).resize(bytes);
    expect_content(files, made);
  }
}

TEST(DamagedReader, NamesAndContentsSwapped) {
  const MadeSet made({});
  MemoryFiles files;
  for (std::size_t i = 0; i < 5; ++i) {  // swap only the names
    files.put(made.path((i + 2) % 5), made.images()[i]);
  }
  expect_content(files, made);
  made.put(files);
  // Swap the bodies of shards 0 and 1, but not their headers.
  Bytes& zero = files.at(made.path(0));
  Bytes& one = files.at(made.path(1));
  std::swap_ranges(zero.begin() + 4096, zero.end() - 4096, one.begin() + 4096);
  expect_content(files, made);
}

TEST(DamagedReader, EveryShardDamagedInDifferentStripes) {
  const MadeSet made({.stripes = 20});
  MemoryFiles files;
  made.put(files);
  for (std::uint64_t stripe = 0; stripe < 20; ++stripe) {
    tests::flip_bit(files.at(made.path(stripe % 5)), made.block_at(stripe), 0);
    tests::flip_bit(files.at(made.path((stripe + 1) % 5)), made.checksum_at(stripe), 3);
  }
  expect_content(files, made);
}

TEST(DamagedReader, ThreeOfFiveInAStripeAreTooMany) {
  const MadeSet made({.stripes = 30});
  MemoryFiles files;
  made.put(files);
  for (const std::uint64_t stripe : {3U, 17U, 18U, 19U, 20U, 21U}) {
    for (const std::size_t shard : {0U, 2U, 4U}) {
      tests::flip_bit(files.at(made.path(shard)), made.block_at(stripe) + 1, 0);
    }
  }
  for (const unsigned jobs : {1U, 3U}) {
    const auto read = read_content(files, ~std::size_t{0}, jobs);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, ErrorCode::unrecoverable);
    EXPECT_EQ(read.error().message,
              "too many blocks are missing or damaged in stripes 3, 17 .. 21: fewer than 3 of 5 "
              "are good");
  }
  // The stripes next to them are still readable.
  auto reader = SetReader::open(files, *tests::find_one(files));
  Bytes stripes(13 * 192);
  ASSERT_TRUE(reader->read(stripes, 4 * 192).has_value());
  EXPECT_TRUE(std::equal(stripes.begin(), stripes.end(), made.content().begin() + 4 * 192));
  Bytes byte(1);
  EXPECT_TRUE(reader->read(byte, 3 * 192 - 1).has_value());
  EXPECT_FALSE(reader->read(byte, 3 * 192).has_value());
  EXPECT_TRUE(reader->read(byte, 4 * 192).has_value());
}

TEST(DamagedReader, ABlockIsGoodIfItIsInAnyCopy) {
  const MadeSet made({});
  MemoryFiles files;
  for (std::size_t i = 0; i < 3; ++i) {  // no parity, so everything must come from the copies
    for (const char* name : {"a", "b"}) {
      files.put(std::string("disk/") + name + std::to_string(i), made.images()[i]);
    }
    for (std::uint64_t stripe = 0; stripe < 7; ++stripe) {
      const std::string path = std::string("disk/") + (stripe % 2 == 0 ? "a" : "b");
      tests::flip_bit(files.at(path + std::to_string(i)), made.block_at(stripe), 0);
    }
  }
  expect_content(files, made);
}

// Inserted or removed bytes shift everything after them, but each block still counts.
TEST(DamagedReader, AllShardsShifted) {
  const MadeSet made({.stripes = 9});
  MemoryFiles files;
  made.put(files);
  for (std::size_t i = 0; i < 5; ++i) {
    Bytes& file = files.at(made.path(i));
    if (i % 2 == 0) {
      file.insert(file.begin(), 100 + i, std::byte{3});
    } else {
      file.erase(file.begin(), file.begin() + 40);
    }
  }
  expect_content(files, made);
}

// Both checksums match, so only the redundant block reveals the forgery.
TEST(DamagedReader, AForgedBlockDoesNotSpread) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  Bytes& forged = files.at(made.path(1));
  tests::flip_bit(forged, made.block_at(2) + 5, 0);
  MadeSet::put_number(forged, made.checksum_at(2),
                      made.checksum(1, 2, forged.data() + made.block_at(2)), 8);
  ASSERT_TRUE(files.remove(made.path(0)).has_value());
  const auto read = read_content(files);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  EXPECT_EQ(read.error().message,
            "the blocks of stripe 2 match their checksums but contradict each other");
}

// A bad sector costs one block, not the whole run read with it.
TEST(DamagedReader, AFailedReadCountsAsDamage) {
  const MadeSet made({.stripes = 40});
  MemoryFiles memory;
  made.put(memory);
  tests::FaultyFiles files(memory);
  const auto set = *tests::find_one(memory);
  for (const tests::Fault fault : {tests::Fault::input_output, tests::Fault::short_read}) {
    std::uint64_t failed = 0;
    files.fail_call(~std::uint64_t{0}, fault);  // fail none, only count the calls of open
    ASSERT_TRUE(SetReader::open(files, set).has_value());
    for (std::uint64_t call = files.calls();; ++call) {
      files.fail_call(call, fault);
      auto reader = SetReader::open(files, set);
      ASSERT_TRUE(reader.has_value()) << reader.error().message;
      Bytes content(made.content().size());
      const Status read = reader->read(content, 0);
      ASSERT_TRUE(read.has_value()) << call << ": " << read.error().message;
      ASSERT_TRUE(content == made.content()) << call;
      if (!files.has_failed()) break;
      ++failed;
    }
    EXPECT_GT(failed, 5U);
  }
}

}  // namespace
}  // namespace calpe::store
