// SPDX-License-Identifier: Apache-2.0
// Files of a proven set that change before they are read again, with matching checksums.
#include "store/format/proven_blocks.hpp"

#include <gtest/gtest.h>

#include "base/try.hpp"
#include "store/read/root_check.hpp"
#include "store/read/set_reader.hpp"
#include "support/rooted_set.hpp"
#include "support/set_damage.hpp"

namespace calpe::store {
namespace {

using tests::RootedSet;

// Three groups, the last one partial.
constexpr tests::RootedShape shape = {.data_bytes = std::size_t{3} * 64 * 1200};
constexpr std::size_t all_leaves = ProvenBlocks::usual_leaf_bytes;
constexpr std::size_t one_group = 1;  // per file, the minimum

Result<FoundSet> prove(RootedSet& set, std::size_t leaf_bytes) {
  CALPE_TRY(const FoundSet found, tests::find_one(set.files()));
  return distrust_unproven(set.files(), found, 1, {}, leaf_bytes);
}

Result<tests::Bytes> read_all(RootedSet& set, const FoundSet& proven, unsigned jobs) {
  CALPE_TRY(SetReader reader, SetReader::open(set.files(), proven, jobs));
  tests::Bytes bytes(reader.header().content_bytes);
  CALPE_CHECK(reader.read(bytes, 0));
  return bytes;
}

TEST(ProvenBlocks, BlocksThatChangeAfterTheProofAreRebuiltFromOthers) {
  for (const std::size_t leaf_bytes : {all_leaves, one_group}) {
    for (const std::uint64_t stripe : {0U, 511U, 512U, 700U, 1199U}) {
      for (const std::size_t other : {1U, 4U}) {
        RootedSet set(shape);
        const auto proven = prove(set, leaf_bytes);
        ASSERT_TRUE(proven.has_value()) << proven.error().message;
        set.forge_block(0, stripe);
        set.forge_block(other, stripe);
        const auto read = read_all(set, *proven, other == 1 ? 1 : 3);
        ASSERT_TRUE(read.has_value()) << read.error().message << " stripe " << stripe;
        EXPECT_TRUE(*read == set.content()) << "stripe " << stripe << ", leaves " << leaf_bytes;
      }
    }
  }
}

TEST(ProvenBlocks, MoreChangedBlocksThanParityAreAnError) {
  for (const std::size_t leaf_bytes : {all_leaves, one_group}) {
    RootedSet set(shape);
    const auto proven = prove(set, leaf_bytes);
    ASSERT_TRUE(proven.has_value()) << proven.error().message;
    for (const std::size_t shard : {0U, 1U, 2U}) {
      set.forge_block(shard, 600);
    }
    const auto read = read_all(set, *proven, 1);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, ErrorCode::unrecoverable) << read.error().message;
  }
}

// The manifest is part of the content.
TEST(ProvenBlocks, TheManifestIsProvenToo) {
  for (const std::size_t leaf_bytes : {all_leaves, one_group}) {
    RootedSet set(shape);
    const auto proven = prove(set, leaf_bytes);
    ASSERT_TRUE(proven.has_value()) << proven.error().message;
    const std::uint64_t last = set.header().stripe_count - 1;
    for (const std::size_t shard : {0U, 1U, 2U}) {
      set.forge_block(shard, last);
    }
    auto reader = SetReader::open(set.files(), *proven);
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    const auto manifest = reader->manifest();
    ASSERT_FALSE(manifest.has_value());
  }
}

TEST(ProvenBlocks, FilesThatDidNotChangeAreReadAsBefore) {
  for (const std::size_t leaf_bytes : {all_leaves, one_group}) {
    RootedSet set(shape);
    set.forge_block(2, 5);  // forged before the proof, so this file is not used
    const auto proven = prove(set, leaf_bytes);
    ASSERT_TRUE(proven.has_value()) << proven.error().message;
    const auto read = read_all(set, *proven, 2);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_TRUE(*read == set.content());
  }
}

}  // namespace
}  // namespace calpe::store
