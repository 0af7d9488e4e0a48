// SPDX-License-Identifier: Apache-2.0
// Finds sets by their headers only, and chooses the right generation.
#include "store/find/set_discovery.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/set_damage.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::MadeSet;
using tests::MemoryFiles;

Findings must_find(FileSystem& files, const std::vector<std::string>& paths) {
  Result<Findings> findings = find_sets(files, paths);
  EXPECT_TRUE(findings.has_value()) << findings.error().message;
  return findings ? *std::move(findings) : Findings{};
}

TEST(FindSets, ByHeaderWhateverTheName) {
  const MadeSet made({});
  MemoryFiles files;
  for (std::size_t i = 0; i < made.shard_count(); ++i) {
    files.put("disk/" + std::string(1, static_cast<char>('z' - i)), made.images()[i]);
  }
  files.put("disk/notes.txt", Bytes(10000));
  files.put("disk/short.calpe", Bytes(100));
  files.put("disk/noise.calpe", Bytes(20000));
  const Findings findings = must_find(files, {"disk"});
  ASSERT_EQ(findings.sets.size(), 1U);
  const FoundSet& set = findings.sets[0];
  EXPECT_EQ(set.present(), 5U);
  ASSERT_EQ(set.shards.size(), 5U);
  EXPECT_EQ(set.header.name, "photos");
  for (std::size_t i = 0; i < 5; ++i) {
    const FoundShard expected = {.path = "disk/" + std::string(1, static_cast<char>('z' - i)),
                                 .file_bytes = made.images()[i].size(),
                                 .front_header_good = true,
                                 .back_header_good = true};
    EXPECT_EQ(set.shards[i], std::vector{expected}) << i;
  }
  EXPECT_EQ(findings.unknown, (std::vector<std::string>{"disk/noise.calpe", "disk/short.calpe"}));
}

TEST(FindSets, EachFileAndDirectoryOnce) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  made.put(files, "disk/below");  // directories are not searched recursively
  const Findings findings = must_find(files, {"disk", made.path(0), "disk", made.path(1)});
  ASSERT_EQ(findings.sets.size(), 1U);
  for (const auto& copies : findings.sets[0].shards) {
    EXPECT_EQ(copies.size(), 1U);
  }
  EXPECT_EQ(must_find(files, {made.path(3)}).sets.at(0).present(), 1U);
  const auto failed = find_sets(files, {"disk", "gone"});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  EXPECT_NE(failed.error().message.find("gone"), std::string::npos);
}

TEST(FindSets, CopiesOfAShardAreKept) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  made.put(files, "cloud");
  const Findings findings = must_find(files, {"disk", "cloud"});
  ASSERT_EQ(findings.sets.size(), 1U);
  for (const auto& copies : findings.sets[0].shards) {
    EXPECT_EQ(copies.size(), 2U);
  }
  EXPECT_EQ(findings.sets[0].present(), 5U);
}

TEST(FindSets, EitherHeaderIsEnoughAndNoneIsNot) {
  const MadeSet made({});
  MemoryFiles files;
  Bytes front_bad = made.images()[0];
  tests::flip_bit(front_bad, 300, 1);
  Bytes back_bad = made.images()[1];
  tests::flip_bit(back_bad, back_bad.size() - 1, 1);
  Bytes both_bad = made.images()[2];
  tests::flip_bit(both_bad, 300, 1);
  tests::flip_bit(both_bad, both_bad.size() - 1, 1);
  files.put("disk/0", front_bad);
  files.put("disk/1", back_bad);
  files.put("disk/2.calpe", both_bad);
  const Findings findings = must_find(files, {"disk"});
  ASSERT_EQ(findings.sets.size(), 1U);
  const auto& shards = findings.sets[0].shards;
  ASSERT_EQ(shards[0].size(), 1U);
  EXPECT_FALSE(shards[0][0].front_header_good);
  EXPECT_TRUE(shards[0][0].back_header_good);
  ASSERT_EQ(shards[1].size(), 1U);
  EXPECT_TRUE(shards[1][0].front_header_good);
  EXPECT_FALSE(shards[1][0].back_header_good);
  EXPECT_TRUE(shards[2].empty());
  EXPECT_EQ(findings.unknown, std::vector<std::string>{"disk/2.calpe"});
}

TEST(FindSets, FindsTheBackHeaderWhenBytesWereAppended) {
  const MadeSet made({});
  MemoryFiles files;
  Bytes longer = made.images()[0];
  longer.resize(longer.size() + 77);
  files.put("disk/0", longer);
  Bytes shifted = made.images()[1];
  shifted.insert(shifted.begin(), 33, std::byte{1});
  files.put("disk/1", shifted);
  const Findings findings = must_find(files, {"disk"});
  const FoundShard& appended = findings.sets.at(0).shards[0].at(0);
  EXPECT_TRUE(appended.front_header_good && appended.back_header_good);
  EXPECT_EQ(appended.shift, 0);
  const FoundShard& moved = findings.sets.at(0).shards[1].at(0);
  EXPECT_FALSE(moved.front_header_good);
  EXPECT_EQ(moved.shift, 33);
}

TEST(FindSets, FoldersPipesAndLinksAmongShards) {
  const tests::Workshop shop;
  const MadeSet made({});
  const Bytes& image = made.images()[0];
  shop.write("shard", std::string(reinterpret_cast<const char*>(image.data()), image.size()));
  std::filesystem::create_directory(shop.path("folder.calpe"));
  ASSERT_EQ(mkfifo(shop.path("pipe.calpe").c_str(), 0600), 0);
  std::filesystem::create_symlink("nowhere", shop.path("link.calpe"));
  const Findings findings = must_find(posix_files(), {shop.path("")});
  ASSERT_EQ(findings.sets.size(), 1U);
  EXPECT_EQ(findings.sets[0].present(), 1U);
  EXPECT_TRUE(findings.unknown.empty());
  ASSERT_EQ(findings.unreadable.size(), 3U);  // with the reason
  EXPECT_NE(findings.unreadable[2].find("pipe.calpe: not a regular file"), std::string::npos);
}

TEST(ChooseSet, NewestGenerationWithEnoughShards) {
  const MadeSet first({.generation = 1});
  const MadeSet second({.generation = 2, .seed = 2});
  MemoryFiles files;
  first.put(files, "old");
  for (std::size_t i = 0; i < 3; ++i) {
    files.put(second.path(i, "new"), second.images()[i]);
  }
  Findings findings = must_find(files, {"old", "new"});
  ASSERT_EQ(findings.sets.size(), 2U);
  EXPECT_EQ(findings.sets[0].header.generation, 2U);
  EXPECT_EQ(choose_set(findings)->header.generation, 2U);

  // Two of the required three are left.
  ASSERT_TRUE(files.remove(second.path(0, "new")).has_value());
  findings = must_find(files, {"old", "new"});
  const auto chosen = choose_set(findings);
  EXPECT_EQ(chosen->header.generation, 1U);
  for (const auto& copies : chosen->shards) {
    ASSERT_EQ(copies.size(), 1U);  // no shard of the newer one is mixed in
    EXPECT_EQ(copies[0].path.substr(0, 4), "old/");
  }

  for (std::size_t i = 0; i < 4; ++i) {  // none has enough: choose the one with the most
    ASSERT_TRUE(files.remove(first.path(i, "old")).has_value());
  }
  EXPECT_EQ(choose_set(must_find(files, {"old", "new"}))->header.generation, 2U);
}

TEST(ChooseSet, SeveralSetsAreNamed) {
  const MadeSet one({.uuid = 1});
  const MadeSet two({.uuid = 2, .name = "music"});
  MemoryFiles files;
  one.put(files);
  two.put(files);
  const Findings findings = must_find(files, {"disk"});
  const auto both = choose_set(findings);
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(both.error().message,
            "2 sets were found; expected one: 01000000-0000-0000-0000-000000000000 (photos), "
            "02000000-0000-0000-0000-000000000000 (music)");
  EXPECT_EQ(choose_set(findings, Uuid{std::byte{2}})->header.name, "music");
  const auto third = choose_set(findings, Uuid{std::byte{3}});
  ASSERT_FALSE(third.has_value());
  EXPECT_EQ(third.error().message,
            "no shard of set 03000000-0000-0000-0000-000000000000 was found");
}

// The states that a killed protect leaves, when it replaces a set of the same name or creates the
// first.
TEST(ChooseSet, LeftoversOfAKilledProtect) {
  const MadeSet before({.uuid = 1});
  const MadeSet after({.uuid = 2});
  const auto hidden = [](std::size_t shard, const std::string& ending) {
    return "disk/.calpe-x-s00" + std::to_string(shard) + ending;
  };
  for (std::size_t parts = 1; parts <= 5; ++parts) {  // completed so far
    MemoryFiles files;
    for (std::size_t i = 0; i < parts; ++i) {
      files.put(hidden(i, ".part"), after.images()[i]);
    }
    const auto first = choose_set(must_find(files, {"disk"}));
    EXPECT_EQ(first.has_value(), parts == 5);
    before.put(files);
    const auto replacing = choose_set(must_find(files, {"disk"}));
    ASSERT_TRUE(replacing.has_value()) << replacing.error().message;
    EXPECT_EQ(replacing->header.uuid[0], std::byte{1});
  }
  for (std::size_t step = 0; step <= 15; ++step) {  // renames: 5 aside, 5 in place, 5 removed
    MemoryFiles files;
    for (std::size_t i = 0; i < 5; ++i) {
      if (i + 10 >= step) {
        files.put(i < step ? hidden(i, ".old") : before.path(i), before.images()[i]);
      }
      files.put(i + 5 < step ? after.path(i) : hidden(i, ".part"), after.images()[i]);
    }
    const auto chosen = choose_set(must_find(files, {"disk"}));
    ASSERT_TRUE(chosen.has_value()) << step << ": " << chosen.error().message;
    EXPECT_EQ(chosen->header.uuid[0], step == 0 ? std::byte{1} : std::byte{2}) << step;
  }
}

TEST(ChooseSet, NoneAtAll) {
  MemoryFiles files;
  files.put("disk/a.calpe", Bytes(5000));
  const auto none = choose_set(must_find(files, {"disk"}));
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(none.error().message,
            "no shard with a good header was found; disk/a.calpe is named like one but has none");
}

}  // namespace
}  // namespace calpe::store
