// SPDX-License-Identifier: Apache-2.0
// What can still be read of stripes that cannot be rebuilt.
#include <algorithm>
#include <gtest/gtest.h>

#include "store/read/set_reader.hpp"
#include "support/faulty_files.hpp"
#include "support/set_damage.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::MadeSet;
using tests::MemoryFiles;

constexpr std::size_t block = 64;

// Stripe p of a 3+2 set has lost the blocks of pattern p: all 32 patterns.
struct EveryPattern {
  EveryPattern() : made({.stripes = 32}) {
    made.put(files);
    for (std::uint64_t stripe = 0; stripe < 32; ++stripe) {
      for (std::size_t shard = 0; shard < 5; ++shard) {
        if ((stripe >> shard & 1U) != 0)
          tests::flip_bit(files.at(made.path(shard)), made.block_at(stripe), 0);
      }
    }
  }
  // Fewer than 3 of the 5 blocks are good, and this one is not.
  static bool is_lost(std::uint64_t at) {
    const std::uint64_t stripe = at / block / 3;
    const std::uint64_t shard = at / block % 3;
    return __builtin_popcountll(stripe) > 2 && (stripe >> shard & 1U) != 0;
  }
  MadeSet made;
  MemoryFiles files;
};

TEST(Salvage, EveryLossPatternKeepsWhatIsThere) {
  EveryPattern set;
  const Bytes content = set.made.content();
  Bytes expected = content;
  std::vector<ContentRange> expected_lost;
  for (std::uint64_t at = 0; at < content.size(); ++at) {
    if (!EveryPattern::is_lost(at)) continue;
    expected[at] = std::byte{0};
    expected_lost.push_back({at, at + 1});
  }
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{50}, std::size_t{192}, content.size()}) {
    auto reader = SetReader::open(set.files, *tests::find_one(set.files));
    Bytes bytes(content.size(), std::byte{0x55});
    std::vector<ContentRange> lost;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const auto part = std::span(bytes).subspan(at, std::min(piece, bytes.size() - at));
      ASSERT_TRUE(reader->salvage(part, at, lost).has_value());
    }
    EXPECT_EQ(bytes, expected) << piece;
    EXPECT_EQ(merged(lost), merged(expected_lost)) << piece;
  }
}

TEST(Salvage, AGoodBlockOfALostStripeCanBeRead) {
  EveryPattern set;
  const Bytes content = set.made.content();
  auto reader = SetReader::open(set.files, *tests::find_one(set.files));
  for (std::uint64_t at = 0; at < content.size(); at += 16) {
    Bytes byte(1);
    const Status read = reader->read(byte, at);
    ASSERT_EQ(read.has_value(), !EveryPattern::is_lost(at)) << at;
    if (read) {
      ASSERT_EQ(byte[0], content[at]) << at;
    }
  }
}

TEST(Salvage, TooFewShardsStillGiveTheirOwnBlocks) {
  const MadeSet made({.stripes = 20});
  MemoryFiles files;
  made.put(files);
  for (const std::size_t gone : {1U, 2U, 4U})
    ASSERT_TRUE(files.remove(made.path(gone)).has_value());
  auto reader = SetReader::open(files, *tests::find_one(files));
  EXPECT_FALSE(reader->check_enough().has_value());
  Bytes bytes(made.content().size());
  EXPECT_FALSE(reader->read(bytes, 0).has_value());
  std::vector<ContentRange> lost;
  ASSERT_TRUE(reader->salvage(bytes, 0, lost).has_value());
  for (std::size_t at = 0; at < bytes.size(); ++at)
    ASSERT_EQ(bytes[at], at / block % 3 == 0 ? made.content()[at] : std::byte{0}) << at;
  EXPECT_EQ(merged(lost).size(), 20U);
}

// A restore of one file must not read the whole set.
TEST(SetReader, ReadsOnlyTheStripesOfTheBytes) {
  const MadeSet made({.block_bytes = 4096, .stripes = 1500});
  MemoryFiles memory;
  made.put(memory);
  tests::FaultyFiles files(memory);
  auto reader = SetReader::open(files, *tests::find_one(memory));
  const std::size_t stripe_bytes = std::size_t{3} * 4096;
  Bytes bytes(1000 * stripe_bytes);
  const std::size_t calls_before = files.log().size();
  constexpr std::size_t piece = std::size_t{1} << 22U;  // as restore reads; no whole stripes
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto part = std::span(bytes).subspan(at, std::min(piece, bytes.size() - at));
    ASSERT_TRUE(reader->read(part, 50 * stripe_bytes + at).has_value());
  }
  std::uint64_t read = 0;
  const std::vector<std::string> log = files.log();
  for (std::size_t i = calls_before; i < log.size(); ++i) {
    if (log[i].starts_with("read_at")) read += std::stoull(log[i].substr(log[i].rfind('+') + 1));
  }
  EXPECT_GE(read, bytes.size());
  EXPECT_LE(read, bytes.size() / 100 * 102);
}

}  // namespace
}  // namespace calpe::store
