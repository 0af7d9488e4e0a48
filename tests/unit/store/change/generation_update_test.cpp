// SPDX-License-Identifier: Apache-2.0
// A changed set is byte for byte the set that the specification defines for the new content.
#include "store/change/generation_update.hpp"

#include <gtest/gtest.h>

#include "store/find/redo_journal.hpp"
#include "store/read/verify_set.hpp"
#include "support/set_change.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::MadeSet;
using tests::MemoryFiles;
using tests::SetChange;
using tests::SetShape;

FoundSet found(MemoryFiles& files, const SetChange& change) {
  return *choose_set(*find_sets(files, change.folders()));
}

TEST(NewGeneration, MakesTheShardsOfTheNewContent) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes = {
      {7, 7},     {7, 9},     {9, 7},      {1, 0},      {0, 3},      {511, 512},  {512, 513},
      {513, 512}, {513, 511}, {100, 1030}, {1030, 100}, {1024, 512}, {1500, 1501}};
  for (const auto& [from, to] : sizes) {
    const SetChange change({.stripes = from}, to);
    MemoryFiles files;
    change.put(files);
    std::uint64_t generation = 0;
    const Status done = change.run(files, &generation);
    ASSERT_TRUE(done.has_value()) << from << " to " << to << ": " << done.error().message;
    EXPECT_GT(generation, 1U);
    SetShape shape = change.after.shape();
    shape.generation = generation;
    const MadeSet expected(shape);
    ASSERT_EQ(files.images().size(), expected.shard_count()) << "journals are gone";
    for (std::size_t shard = 0; shard < expected.shard_count(); ++shard) {
      EXPECT_EQ(files.at(change.path(shard)), expected.images()[shard])
          << from << " to " << to << ", shard " << shard;
    }
  }
}

TEST(NewGeneration, DamageStaysVisible) {
  const SetChange change({.stripes = 600}, 600);
  MemoryFiles files;
  change.put(files);
  files.at(change.path(1))[change.before.block_at(550) + 3] ^= std::byte{1};
  files.at(change.path(4))[change.before.checksum_at(3)] ^= std::byte{1};
  ASSERT_TRUE(change.run(files).has_value());
  const auto report = verify_set(files, found(files, change), true);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->shards[1].bad_blocks, 1U);
  EXPECT_EQ(report->shards[4].bad_blocks, 1U);
  EXPECT_EQ(report->bad_stripes, 2U);
}

TEST(NewGeneration, NewStripesMustBeGiven) {
  const SetChange change({.stripes = 7}, 9);
  MemoryFiles files;
  change.put(files);
  const auto before = files.images();
  {
    const FoundSet set = found(files, change);
    auto begun = NewGeneration::begin(files, set, change.header_after(set));
    ASSERT_TRUE(begun.has_value()) << begun.error().message;
    const Status done = (*begun)->commit();
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(done.error().message.find("stripe 7"), std::string::npos) << done.error().message;
  }
  EXPECT_EQ(files.images(), before);
}

TEST(NewGeneration, StripesAscend) {
  const SetChange change({.stripes = 7}, 7);
  MemoryFiles files;
  change.put(files);
  const FoundSet set = found(files, change);
  auto begun = NewGeneration::begin(files, set, set.header);
  ASSERT_TRUE(begun.has_value());
  const Bytes block(64);
  EXPECT_TRUE((*begun)->write_blocks(0, 3, block).has_value());
  EXPECT_TRUE((*begun)->write_blocks(1, 2, block).has_value());
  EXPECT_FALSE((*begun)->write_blocks(0, 3, block).has_value());
  EXPECT_FALSE((*begun)->write_blocks(0, 7, block).has_value());
  EXPECT_FALSE((*begun)->write_blocks(5, 0, block).has_value());
  EXPECT_FALSE((*begun)->write_blocks(2, 0, Bytes(63)).has_value());
}

void expect_refused(MemoryFiles& files, const SetChange& change, const std::string& word) {
  const auto before = files.images();
  const FoundSet set = found(files, change);
  const auto begun = NewGeneration::begin(files, set, set.header);
  ASSERT_FALSE(begun.has_value()) << word;
  const bool is_damage = !word.ends_with("times");
  EXPECT_EQ(begun.error().code, is_damage ? ErrorCode::corrupt : ErrorCode::invalid_argument);
  EXPECT_NE(begun.error().message.find(word), std::string::npos) << begun.error().message;
  EXPECT_EQ(files.images(), before);
}

TEST(NewGeneration, RequiresACompleteSet) {
  const SetChange change({}, 7);
  MemoryFiles missing;
  change.put(missing);
  ASSERT_TRUE(missing.remove(change.path(3)).has_value());
  expect_refused(missing, change, "shard 3 is missing; run calpe repair first");
  MemoryFiles twice;
  change.put(twice);
  twice.put("disk0/copy", change.before.images()[2]);
  expect_refused(twice, change, "shard 2 was found 2 times");
  MemoryFiles damaged;
  change.put(damaged);
  damaged.at(change.path(1))[5] ^= std::byte{1};
  expect_refused(damaged, change, "shard 1 has a damaged header");
  MemoryFiles longer;
  change.put(longer);
  longer.at(change.path(4)).resize(longer.at(change.path(4)).size() + 1);
  expect_refused(longer, change, "run calpe repair first");
}

TEST(NewGeneration, RequiresTheSameCodeAndBlockSize) {
  const SetChange change({}, 7);
  MemoryFiles files;
  change.put(files);
  const FoundSet set = found(files, change);
  const auto refused = [&](auto&& spoil) {
    ShardHeader header = set.header;
    spoil(header);
    const auto begun = NewGeneration::begin(files, set, header);
    return !begun && begun.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_FALSE(refused([](ShardHeader&) {}));
  EXPECT_TRUE(refused([](ShardHeader& h) { h.block_bytes = 128; }));
  EXPECT_TRUE(refused([](ShardHeader& h) { h.uuid[3] = std::byte{1}; }));
  EXPECT_TRUE(refused([](ShardHeader& h) { h.spec.data_shards = 2; }));
  EXPECT_TRUE(refused([](ShardHeader& h) { h.spec.parity_shards = 1; }));
  EXPECT_TRUE(refused([](ShardHeader& h) { h.content_bytes += 1000; }));
}

TEST(NewGeneration, LeavesNothingWhenAbandoned) {
  const SetChange change({.stripes = 7}, 9);
  MemoryFiles files;
  change.put(files);
  const auto before = files.images();
  const FoundSet set = found(files, change);
  {
    auto begun = NewGeneration::begin(files, set, change.header_after(set));
    ASSERT_TRUE(begun.has_value());
    ASSERT_TRUE(change.write_changed(**begun).has_value());
    EXPECT_GT(files.images().size(), before.size());
  }
  EXPECT_EQ(files.images(), before);
  // Leftovers of an interrupted change are removed when the next one begins.
  files.put(redo_journal_path(change.path(2), set.header), Bytes(5000));
  ASSERT_TRUE(change.run(files).has_value());
  EXPECT_EQ(files.images().size(), before.size());
}

}  // namespace
}  // namespace calpe::store
