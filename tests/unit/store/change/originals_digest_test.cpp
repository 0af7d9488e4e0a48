// SPDX-License-Identifier: Apache-2.0
// Digests of kept originals: damage is found where blocks cannot show it, and intact files are
// never called damaged or lost.
#include <gtest/gtest.h>

#include "store/format/geometry.hpp"
#include "support/kept_tree.hpp"

namespace calpe::store {
namespace {

namespace fs = std::filesystem;
using tests::KeptTree;
using tests::pattern;

class OriginalsDigest : public testing::Test {
 protected:
  // Returns the error, which left all parity as it was.
  std::string refusal(const UpdateOriginalsOptions& options = {}) {
    const auto before = trial_.files.images();
    const auto updated = trial_.update(options);
    EXPECT_EQ(trial_.files.images(), before) << "a refused update changed parity";
    if (updated) return "it was accepted";
    EXPECT_EQ(updated.error().code, ErrorCode::corrupt);
    return updated.error().message;
  }
  bool is_refused(const std::string& words, const UpdateOriginalsOptions& options = {}) {
    const std::string message = refusal(options);
    EXPECT_NE(message.find(words), std::string::npos) << message;
    return message.find(words) != std::string::npos;
  }
  void rename(const std::string& from, const std::string& to) const {
    fs::rename(trial_.file(from), trial_.file(to));
    tests::set_time(trial_.tree, 1000, 7);
  }
  std::string repair(const RepairOptions& options) {
    const auto set = trial_.find();
    if (!set) return set.error().message;
    const auto repaired = repair_set(trial_.files, *set, options);
    return repaired ? "" : repaired.error().message;
  }

  KeptTree trial_;
};

TEST_F(OriginalsDigest, DamageInARenamedFileIsRefused) {
  for (const std::size_t size : {20U, 6400U}) {
    for (const bool checksum : {false, true}) {
      SCOPED_TRACE(text(size, " bytes, checksum ", checksum));
      fs::remove_all(trial_.tree);
      fs::create_directories(trial_.tree);
      trial_.put("a", pattern(size, 1), 3000);
      trial_.put("b", pattern(6400, 2));
      trial_.protect();
      rename("a", "moved");
      trial_.flip("moved", size / 2, 3000);
      tests::set_time(trial_.tree, 1000, 7);
      EXPECT_TRUE(is_refused("tree/moved is damaged", {.checksum = checksum}));
      trial_.flip("moved", size / 2, 3000);
      const auto updated = trial_.update({.checksum = checksum});
      ASSERT_TRUE(updated) << updated.error().message;
      EXPECT_EQ(updated->added, std::vector<std::string>{"moved"});
      EXPECT_EQ(trial_.verify(), "");
      for (const auto& [path, bytes] : trial_.files.images())
        EXPECT_TRUE(trial_.files.remove(path));
    }
  }
}

TEST_F(OriginalsDigest, AnotherFileOfTheSameSizeAndTimeIsAccepted) {
  trial_.put("a", pattern(20, 1));
  trial_.put("b", pattern(6400, 2));  // of the same time: it says nothing
  trial_.protect();
  fs::remove(trial_.file("a"));
  trial_.put("other", pattern(20, 9));
  fs::remove(trial_.file("b"));
  trial_.put("another", pattern(6400, 8));
  tests::set_time(trial_.tree, 1000, 7);
  const auto updated = trial_.update({.removed_percent_max = 100});
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_EQ(updated->added, (std::vector<std::string>{"another", "other"}));
  EXPECT_EQ(trial_.verify(), "");
}

TEST_F(OriginalsDigest, ARenamedFileIsReadOnceAndItsBlocksAreNot) {
  trial_.put("a", pattern(6400, 1), 3000);
  trial_.put("b", pattern(6400, 2));
  trial_.protect();
  rename("a", "moved");
  const auto updated = trial_.update();
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_FALSE(updated->is_all_encoded);
  EXPECT_EQ(updated->file_bytes_read, 6400U);
  EXPECT_EQ(updated->stripes_encoded, 0U);
  EXPECT_EQ(trial_.verify(), "");
}

// Files swap their names: each finds its own bytes.
TEST_F(OriginalsDigest, RenamedFilesOfTheSameSizeAndTimeFindTheirBytes) {
  for (const char* name : {"a", "b", "c"})
    trial_.put(name, pattern(6400, static_cast<unsigned>(*name)));
  trial_.protect();
  rename("a", "z");
  rename("c", "x");
  rename("b", "y");
  const auto updated = trial_.update({.removed_percent_max = 100});
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_EQ(updated->stripes_encoded, 0U);
  EXPECT_EQ(trial_.verify(), "");
  for (const auto& [name, bytes] : trial_.read_all())
    EXPECT_TRUE(bytes == tests::read_bytes(trial_.file(name))) << name;
}

// Small files share blocks with files that were all rewritten.
TEST_F(OriginalsDigest, SmallFilesBetweenRewrittenOnesAreChecked) {
  trial_.spec = {.data_shards = 2, .parity_shards = 1};
  trial_.block_bytes = 4032;
  for (const char* name : {"a", "b", "c", "d"})
    trial_.put(name, pattern(2000, static_cast<unsigned>(*name)));
  trial_.protect();
  trial_.put("a", pattern(2000, 1), 2000);
  trial_.put("c", pattern(2000, 3), 2000);
  trial_.flip("b", 100, 1000);
  EXPECT_TRUE(
      is_refused("tree/b is damaged: it has other bytes but the same size and time; too "
                 "much of the same stripes has changed to repair it"));
  trial_.flip("b", 100, 1000);
  const auto updated = trial_.update();
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_TRUE(updated->unchecked.empty());
  EXPECT_FALSE(updated->is_all_encoded);
  EXPECT_EQ(trial_.verify(), "");
}

TEST_F(OriginalsDigest, TheDamagedFileOfABlockIsNamed) {
  trial_.spec = {.data_shards = 2, .parity_shards = 1};
  trial_.block_bytes = 4032;
  for (const char* name : {"a", "b", "c", "d"})
    trial_.put(name, pattern(1500, static_cast<unsigned>(*name)));
  trial_.put("e", pattern(1000, 5));
  trial_.protect();
  // Both blocks of the stripe differ: c and d are intact, but their blocks have other bytes.
  trial_.put("a", pattern(1500, 9), 2000);
  trial_.flip("e", 10, 1000);
  EXPECT_TRUE(is_refused("tree/e is damaged"));
  EXPECT_EQ(trial_.verify(), "a: changed since it was protected; e: damaged; ");
}

TEST_F(OriginalsDigest, TheErrorNamesTheRepairThatHelps) {
  trial_.spec = {.data_shards = 3, .parity_shards = 1};
  for (const char* name : {"a", "b", "c"})
    trial_.put(name, pattern(640, static_cast<unsigned>(*name)));
  trial_.protect();
  const std::string c = tests::read_bytes(trial_.file("c"));
  trial_.flip("a", 0, 2000);
  trial_.flip("c", 320, 1000);
  EXPECT_TRUE(is_refused("tree/c is damaged", {.checksum = true}));
  EXPECT_TRUE(is_refused("; run calpe repair first", {.checksum = true}));
  trial_.flip("b", 0, 2000);  // so the first stripe cannot be repaired
  EXPECT_TRUE(is_refused("; run calpe repair --partial first", {.checksum = true}));
  EXPECT_NE(repair({}), "");
  EXPECT_EQ(repair({.partial = true}), "");
  EXPECT_EQ(tests::read_bytes(trial_.file("c")), c);
  trial_.flip("c", 0, 1000);
  EXPECT_TRUE(is_refused("; too much of the same stripes has changed to repair it"));
  tests::set_time(trial_.file("c"), 2000, 7);
  EXPECT_TRUE(trial_.update()) << "now it is a change";
  EXPECT_EQ(trial_.verify(), "");
}

TEST_F(OriginalsDigest, IntactFilesOfLostStripesAreRestored) {
  trial_.spec = {.data_shards = 2, .parity_shards = 1};
  trial_.block_bytes = 4032;
  for (const char* name : {"a", "b", "c", "d"})
    trial_.put(name, pattern(2000, static_cast<unsigned>(*name)));
  trial_.protect();
  trial_.put("a", pattern(2000, 1), 2000);
  trial_.put("c", pattern(2000, 3), 2000);
  const auto set = trial_.find();
  ASSERT_TRUE(set);
  auto reader = SetReader::open(trial_.files, *set);
  ASSERT_TRUE(reader);
  const auto manifest = reader->manifest();
  ASSERT_TRUE(manifest);
  for (const Entry& entry : manifest->entries) {
    if (entry.type != EntryType::file) continue;
    tests::Bytes bytes(entry.file_bytes);
    const Status read = reader->read(bytes, entry.extents.at(0).content_offset);
    const bool is_intact = entry.path == "b" || entry.path == "d";
    EXPECT_EQ(read.has_value(), is_intact) << entry.path;
    const std::string is = tests::read_bytes(trial_.file(entry.path));
    EXPECT_TRUE(!read || std::memcmp(bytes.data(), is.data(), is.size()) == 0) << entry.path;
  }
  EXPECT_EQ(trial_.verify(),
            "a: changed since it was protected; c: changed since it was protected; ");
}

TEST_F(OriginalsDigest, ADamagedPageOfChecksumsCostsNothing) {
  trial_.spec = {.data_shards = 4, .parity_shards = 1};
  trial_.put("a", pattern(6400, 1));
  trial_.put("b", pattern(6400, 2));
  const ShardHeader header = trial_.protect();
  const std::size_t pages = geometry_of(header).checksum_offset(0);
  for (std::size_t page = 0; page < 6; ++page) {
    tests::Bytes& parity = trial_.files.at(trial_.parity_path(4));
    const tests::Bytes whole = parity;
    parity[pages + page * page_bytes + 16] ^= std::byte{1};
    EXPECT_EQ(trial_.verify(), "parity 4; ") << page;
    EXPECT_EQ(trial_.repair(), "") << page;
    EXPECT_EQ(trial_.files.at(trial_.parity_path(4)), whole) << page;
    EXPECT_EQ(trial_.verify(), "") << page;
    // An update makes the parity again.
    trial_.files.at(trial_.parity_path(4))[pages + page * page_bytes + 16] ^= std::byte{1};
    trial_.flip("a", page, 2000 + static_cast<std::int64_t>(page));
    const auto updated = trial_.update();
    ASSERT_TRUE(updated) << updated.error().message;
    EXPECT_EQ(trial_.verify(), "") << page;
  }
}

TEST_F(OriginalsDigest, ABadByteInTheFileListCostsNothing) {
  trial_.spec = {.data_shards = 4, .parity_shards = 1};
  trial_.put("a", pattern(6400, 1));
  trial_.put("b", pattern(10, 2));
  const ShardHeader header = trial_.protect();
  ASSERT_EQ(list_offsets(header).size(), 2U);
  for (const std::uint64_t offset : list_offsets(header)) {
    const tests::Bytes whole = trial_.files.at(trial_.parity_path(4));
    trial_.files.at(trial_.parity_path(4))[offset + 30] ^= std::byte{1};
    EXPECT_EQ(trial_.verify(), "parity 4; ");
    fs::remove(trial_.file("b"));
    EXPECT_EQ(trial_.repair(), "");
    EXPECT_EQ(tests::read_bytes(trial_.file("b")), pattern(10, 2));
    tests::set_time(trial_.tree, 1000, 7);
    EXPECT_EQ(trial_.files.at(trial_.parity_path(4)), whole);
    EXPECT_EQ(trial_.verify(), "");
  }
}

// The older version of the format stays readable, and is updated as what it is.
TEST_F(OriginalsDigest, AreInTheListAfterEachUpdate) {
  trial_.put("a", pattern(6400, 1));
  trial_.put("b", pattern(100, 2));
  EXPECT_EQ(trial_.protect().version, header_version_digests);
  trial_.put("b", pattern(110, 3), 2000);
  const auto updated = trial_.update();
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_FALSE(updated->is_all_encoded);
  EXPECT_EQ(updated->header.version, header_version_digests);
  auto source = OriginalSource::open(trial_.tree);
  ASSERT_TRUE(source);
  const auto set = trial_.find();
  ASSERT_TRUE(set);
  auto reader = SetReader::open(trial_.files, *set);
  ASSERT_TRUE(reader);
  const auto manifest = reader->manifest();
  ASSERT_TRUE(manifest);
  for (std::size_t i = 0; i < manifest->entries.size(); ++i) {
    if (manifest->entries[i].type != EntryType::file) continue;
    const auto digest = (*source)->digest_of(i);
    ASSERT_TRUE(digest);
    EXPECT_EQ(manifest->entries[i].digest, *digest) << manifest->entries[i].path;
  }
}

TEST_F(OriginalsDigest, WhatIsInTheWayDoesNotStopTheRepairOfOtherFiles) {
  trial_.spec = {.data_shards = 2, .parity_shards = 2};
  fs::create_directories(trial_.file("d"));
  for (const char* name : {"a", "b", "d/e"})
    trial_.put(name, pattern(500, static_cast<unsigned>(*name)));
  tests::set_time(trial_.file("d"), 1000, 7);
  trial_.protect();
  fs::remove(trial_.file("a"));
  fs::create_directories(trial_.file("a/inside"));
  fs::remove_all(trial_.file("d"));
  trial_.put("d", "a file now", 2000);
  fs::remove(trial_.file("b"));
  const auto set = trial_.find();
  ASSERT_TRUE(set);
  const auto repaired = repair_set(trial_.files, *set, {.overwrite = true});
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_EQ(repaired->originals_restored, std::vector<std::string>{trial_.file("b")});
  EXPECT_EQ(repaired->originals_blocked,
            (std::vector<std::string>{trial_.file("a"), trial_.file("d")}));
  EXPECT_EQ(tests::read_bytes(trial_.file("b")), pattern(500, 'b'));
  EXPECT_TRUE(fs::is_directory(trial_.file("a/inside")));
  fs::remove_all(trial_.file("a"));
  fs::remove(trial_.file("d"));
  EXPECT_EQ(repair({.overwrite = true}), "");
  EXPECT_EQ(trial_.verify(), "");
}

TEST_F(OriginalsDigest, LeftoversOfAKilledRepairAreNotProtected) {
  trial_.put("a", pattern(500, 1));
  fs::create_directories(trial_.file("d"));
  trial_.put("d/b", pattern(500, 2));
  tests::set_time(trial_.file("d"), 1000, 7);
  trial_.protect();
  trial_.put(".calpe-restore-17-0", "half");
  trial_.put("d/.calpe-restore-17-1", "half");
  for (const char* name : {"", "d"})
    tests::set_time(trial_.file(name), 1000, 7);
  const auto updated = trial_.update();
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_TRUE(updated->added.empty());
  EXPECT_EQ(updated->skipped.size(), 2U);
  EXPECT_EQ(trial_.repair(), "");
  EXPECT_FALSE(fs::exists(trial_.file(".calpe-restore-17-0")));
  EXPECT_FALSE(fs::exists(trial_.file("d/.calpe-restore-17-1")));
  const auto again = trial_.update();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->metadata.empty()) << "directories keep their times";
}

}  // namespace
}  // namespace calpe::store
