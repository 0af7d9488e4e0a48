// SPDX-License-Identifier: Apache-2.0
// A new generation of a set with roots has roots, and they never cover forged blocks.
#include "store/change/root_update.hpp"

#include <gtest/gtest.h>

#include "store/change/generation_update.hpp"
#include "store/read/verify_set.hpp"
#include "support/rooted_set.hpp"
#include "support/set_damage.hpp"

namespace calpe::store {
namespace {

using tests::RootedSet;
using tests::sample_key;

ShardHeader with_stripes(ShardHeader header, std::uint64_t stripes) {
  header.stripe_count = stripes;
  header.content_bytes = stripes * header.spec.data_shards * header.block_bytes;
  header.manifest_offset = header.content_bytes - header.manifest_bytes;
  return header;
}

// Changes all blocks from `first_new` on and two before. Parity does not matter here.
Status change(RootedSet& set, std::uint64_t stripes, std::span<const std::byte> key) {
  const auto found = tests::find_one(set.files());
  if (!found) return found.error();
  auto begun = NewGeneration::begin(set.files(), *found, with_stripes(found->header, stripes), key);
  if (!begun) return begun.error();
  std::vector<std::byte> block(64, std::byte{9});
  for (std::size_t shard = 0; shard < set.shard_count(); ++shard) {
    for (std::uint64_t stripe = 0; stripe < stripes; ++stripe) {
      const bool is_given = stripe == 1 || stripe == 5 + shard;
      if (!is_given && stripe < set.header().stripe_count) continue;
      block[0] = static_cast<std::byte>(stripe + shard);
      const Status written = (*begun)->write_blocks(static_cast<ShardIndex>(shard), stripe, block);
      if (!written) return written;
    }
  }
  return (*begun)->commit();
}

void expect_refused(RootedSet& set, std::span<const std::byte> key, ErrorCode code,
                    const std::string& words) {
  const auto before = set.files().images();
  const Status changed = change(set, set.header().stripe_count, key);
  ASSERT_FALSE(changed.has_value()) << words;
  EXPECT_EQ(changed.error().code, code);
  EXPECT_NE(changed.error().message.find(words), std::string::npos) << changed.error().message;
  EXPECT_EQ(set.files().images(), before);
}

TEST(NewRoot, ANewGenerationHasNewRoots) {
  for (const RootKind kind : {RootKind::sha256, RootKind::hmac}) {
    for (const std::uint64_t stripes : {11U, 15U, 20U, 530U, 1040U}) {
      RootedSet set({.data_bytes = 2700, .root_kind = kind});
      const auto key = kind == RootKind::hmac ? sample_key() : std::vector<std::byte>();
      const Status changed = change(set, stripes, key);
      ASSERT_TRUE(changed.has_value()) << changed.error().message;
      const auto found = tests::find_one(set.files());
      EXPECT_GT(found->header.generation, set.header().generation);
      EXPECT_NE(found->header.set_root, set.header().set_root);
      EXPECT_TRUE(check_demand(found->header, {.key = key, .has_roots = true}).has_value());
      const auto report = verify_set(set.files(), *found);
      EXPECT_TRUE(report->is_good()) << report->shards[0].problem;
      EXPECT_EQ(report->shards[4].root, RootState::good);
    }
  }
}

TEST(NewRoot, ManyUnchangedGroupsAtTheStart) {
  RootedSet set({.data_bytes = 3 * 64 * 1100});
  const Status changed = change(set, 1300, sample_key());
  ASSERT_TRUE(changed.has_value()) << changed.error().message;
  EXPECT_TRUE(verify_set(set.files(), *tests::find_one(set.files()))->is_good());
  RootedSet shorter({.data_bytes = 3 * 64 * 1100});
  ASSERT_TRUE(change(shorter, 600, sample_key()).has_value());
  EXPECT_TRUE(verify_set(shorter.files(), *tests::find_one(shorter.files()))->is_good());
}

TEST(NewRoot, OnlyTheKeyOwnerCanMakeANewGeneration) {
  RootedSet set;
  expect_refused(set, {}, ErrorCode::invalid_argument, "its key is needed");
  const std::vector<std::byte> other(16);
  expect_refused(set, other, ErrorCode::corrupt, "was not made with this key");
  RootedSet plain({.root_kind = RootKind::sha256});
  expect_refused(plain, other, ErrorCode::invalid_argument, "the set has no HMAC");
}

TEST(NewRoot, ForgedBlocksAreNotAccepted) {
  for (const std::uint64_t stripe : {0U, 1U, 5U, 14U}) {  // blocks 1 and 5 would be overwritten
    RootedSet set;
    set.forge_block(0, stripe);
    expect_refused(set, sample_key(), ErrorCode::corrupt, "does not match its root");
  }
  RootedSet set;
  set.forge_header(3, [](ShardHeader& h) { h.root_path[1][0] ^= std::byte{1}; });
  expect_refused(set, sample_key(), ErrorCode::corrupt, "does not match its root");
  RootedSet shorter;  // also if the new set ends before the block
  shorter.forge_block(2, shorter.header().stripe_count - 1);
  EXPECT_FALSE(change(shorter, 10, sample_key()).has_value());
}

TEST(NewRoot, MoreParityIsRefused) {
  RootedSet set;
  const auto found = tests::find_one(set.files());
  ShardHeader after = found->header;
  ++after.spec.parity_shards;
  const auto begun = NewGeneration::begin(set.files(), *found, after, sample_key());
  ASSERT_FALSE(begun.has_value());
  EXPECT_EQ(begun.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace calpe::store
