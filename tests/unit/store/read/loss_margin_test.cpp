// SPDX-License-Identifier: Apache-2.0
#include "store/read/loss_margin.hpp"

#include <gtest/gtest.h>

#include "store/read/loss_count.hpp"
#include "support/sample_header.hpp"

namespace calpe::store {
namespace {

StripeCoder coder_of(const CodeSpec& spec) {
  const auto codec = Codec::create(spec);
  EXPECT_TRUE(codec);
  ShardHeader header = sample_header();
  header.spec = codec->spec();
  auto coder = StripeCoder::make(header);
  EXPECT_TRUE(coder);
  return *std::move(coder);
}

// One copy of each shard, all good.
SetCopies whole(std::size_t shards) {
  SetCopies copies;
  for (std::size_t i = 0; i < shards; ++i)
    copies.shards.push_back(static_cast<ShardIndex>(i));
  copies.stripes.emplace_back(shards, std::uint8_t{1});
  return copies;
}

TEST(LossCount, LosesTheLargestGroupsFirst) {
  const StripeCoder coder = coder_of({.data_shards = 4, .parity_shards = 2});
  EXPECT_EQ(losses_survived(coder, whole(6), {{0, 1}, {2, 3}, {4, 5}}), 1U);
  EXPECT_EQ(losses_survived(coder, whole(6), {{0, 1, 2}, {3}, {4}, {5}}), 0U);
  EXPECT_EQ(losses_survived(coder, whole(6), groups_by_shard(whole(6))), 2U);
}

TEST(LossCount, TheWorstStripeDecides) {
  const StripeCoder coder = coder_of({.data_shards = 4, .parity_shards = 2});
  SetCopies copies = whole(6);
  copies.stripes.push_back({1, 1, 0, 1, 1, 1});
  EXPECT_EQ(losses_survived(coder, copies, groups_by_shard(copies)), 1U);
  EXPECT_EQ(losses_survived(coder, copies, {{0, 1}, {2, 3}, {4, 5}}), 0U);
  copies.stripes.push_back({1, 1, 0, 0, 0, 1});
  EXPECT_EQ(losses_survived(coder, copies, groups_by_shard(copies)), std::nullopt);
}

TEST(LossCount, TriesCopiesAndOverlaps) {
  const StripeCoder coder = coder_of({.data_shards = 2, .parity_shards = 1});
  SetCopies copies = whole(3);
  copies.shards.push_back(0);  // another copy
  copies.stripes.front().push_back(1);
  // Shard 0 is in both of the first directories, so losing one of them does not lose it.
  EXPECT_EQ(losses_survived(coder, copies, {{0, 1}, {3}, {2}}), 1U);
  // The first directory contains the second.
  EXPECT_EQ(losses_survived(coder, whole(3), {{0, 1}, {1}, {2}}), 0U);
  EXPECT_EQ(losses_survived(coder, whole(3), {{0}, {1}, {2}}), 1U);
}

// 4+3 in two local groups: any two losses can be rebuilt, but not any three. Whether three can be
// depends on which ones.
TEST(LossCount, ChecksACodeThatIsNotMds) {
  const auto profile = find_profile("lrc");
  ASSERT_TRUE(profile);
  CodeSpec lrc = *profile;
  lrc.data_shards = 4;
  lrc.parity_shards = 3;
  lrc.local_groups = 2;
  const StripeCoder coder = coder_of(lrc);
  const std::size_t any = coder.codec().proof().losses;
  ASSERT_LT(any, 3U);
  EXPECT_EQ(losses_survived(coder, whole(7), groups_by_shard(whole(7))), any);
  // Whether a directory holds too many shards depends on which ones, not only on their number.
  std::size_t bearable = 0;
  for (std::size_t a = 0; a < 7; ++a) {
    for (std::size_t b = a + 1; b < 7; ++b) {
      for (std::size_t c = b + 1; c < 7; ++c) {
        std::vector<std::uint8_t> good(7, 1);
        good[a] = good[b] = good[c] = 0;
        const bool can = coder.can_rebuild(good);
        bearable += can ? 1 : 0;
        std::vector<CopyGroup> groups = {{a, b, c}};
        EXPECT_EQ(losses_survived(coder, whole(7), groups), can ? 1U : 0U);
      }
    }
  }
  EXPECT_GT(bearable, 0U);
  EXPECT_LT(bearable, 35U);
}

// "/a/x": directory x on device a.
Whereabouts by_first_letter(const std::string& path) {
  return {.path = path, .device = static_cast<std::uint64_t>(path.at(1))};
}

FoundSet set_of(const CodeSpec& spec, const std::vector<std::string>& folders) {
  FoundSet set;
  set.header = sample_header();
  set.header.spec = spec;
  set.header.kind = SetKind::shards;
  set.shards.resize(std::size_t{spec.data_shards} + spec.parity_shards);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (!folders[i].empty())
      set.shards[i].push_back({.path = folders[i] + "/s" + std::to_string(i)});
  }
  return set;
}

std::vector<std::string> chosen(const FoundSet& set, const std::vector<std::string>& named,
                                const std::vector<ShardIndex>& missing,
                                const std::vector<std::string>& targets = {}) {
  const StripeCoder coder = coder_of(set.header.spec);
  const auto folders = choose_folders(set, coder, {targets, named, by_first_letter}, missing);
  EXPECT_TRUE(folders);
  return *folders;
}

using Folders = std::vector<std::string>;
constexpr CodeSpec four_two = {.data_shards = 4, .parity_shards = 2};

TEST(ChooseFolders, PrefersEmptyNamedOnes) {
  const FoundSet set = set_of(four_two, {"/a/1", "", "/a/3", "/a/1", "", "/a/3"});
  EXPECT_EQ(chosen(set, {"/a/1", "/a/2", "/a/3"}, {1, 4}), (Folders{"/a/2", "/a/2"}));
  EXPECT_EQ(chosen(set, {}, {1, 4}), (Folders{"/a/1", "/a/3"}));
  EXPECT_EQ(chosen(set, {"/a/2"}, {1, 4}, {"/a/9"}), (Folders{"/a/9", "/a/9"}));
}

// Two directories on one disk are lost together, so the disk with fewer shards is chosen even if
// the other has an empty directory.
TEST(ChooseFolders, PrefersOtherDevicesWhereThatHelps) {
  const FoundSet set = set_of(four_two, {"/a/1", "/a/1", "/b/1", "/c/1", "/c/1", ""});
  EXPECT_EQ(chosen(set, {"/a/1", "/a/2", "/b/1", "/c/1"}, {5}), Folders{"/b/1"});
}

// Surviving one more device must not cost a directory, so the named empty one is chosen.
TEST(ChooseFolders, DoesNotTradeADirectoryForADevice) {
  const FoundSet set = set_of({.data_shards = 2, .parity_shards = 2}, {"/a/1", "/a/2", "", "/b/1"});
  EXPECT_EQ(chosen(set, {"/a/1", "/a/2", "/a/3", "/b/1"}, {2}), Folders{"/a/3"});
}

// If no device may be lost in either case, directories decide.
TEST(ChooseFolders, DirectoriesDecideWhereDevicesCannotHelp) {
  const FoundSet set = set_of(four_two, {"/a/1", "/a/2", "/a/3", "/b/1", "/b/1", ""});
  EXPECT_EQ(chosen(set, {"/a/1", "/a/2", "/a/3", "/b/1"}, {5}), Folders{"/a/1"});
}

}  // namespace
}  // namespace calpe::store
