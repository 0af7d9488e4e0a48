// SPDX-License-Identifier: Apache-2.0
// Parity for files that stay where they are: verify, repair and update.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "store/change/update_in_place.hpp"
#include "store/read/set_reader.hpp"
#include "store/repair/repair_set.hpp"
#include "store/tree/in_place_source.hpp"
#include "store/write/protect.hpp"
#include "support/sample_tree.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

namespace fs = std::filesystem;
using tests::look_at;
using tests::write_file;

class Originals : public testing::Test {
 protected:
  Originals() { fs::create_directories(tree_); }
  ~Originals() override { tests::make_removable(tree_); }

  std::string file(const std::string& name) const { return tree_ + "/" + name; }

  void put(const std::string& name, const std::string& bytes, std::int64_t seconds = 1000) const {
    write_file(file(name), bytes);
    tests::set_time(file(name), seconds, 7);
  }

  ProtectedSet protect(const std::string& source, std::uint32_t block_bytes = 64,
                       std::uint16_t k = 4, std::uint16_t m = 2) {
    auto opened = OriginalSource::open(source);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    ProtectOptions options;
    options.spec.data_shards = k;
    options.spec.parity_shards = m;
    options.block_bytes = block_bytes;
    options.targets = {workshop_.path("parity")};
    options.name = "tree";
    auto made = protect_originals(posix_files(), **opened, options);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    original_ = source;
    return *made;
  }

  FoundSet set() const {
    const auto findings = find_sets(posix_files(), {workshop_.path("parity")});
    auto chosen = choose_set(*findings);
    EXPECT_TRUE(chosen.has_value()) << chosen.error().message;
    chosen->original = original_;
    return *chosen;
  }

  // Joins the problems of all files.
  std::string verify() const {
    const auto report = verify_set(posix_files(), set(), true);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    std::string all;
    for (const OriginalState& state : report->originals) {
      all += text(name_of(state.path), ": ", state.problem, "; ");
    }
    for (const ShardState& shard : report->shards) {
      if (!shard.problem.empty()) all += text("parity ", shard.index, "; ");
    }
    EXPECT_EQ(report->is_good(), all.empty()) << all;
    return all;
  }

  tests::Workshop workshop_;
  std::string tree_ = workshop_.path("tree");
  std::string original_ = tree_;
};

// Repairing a file in a directory changes the directory's time.
tests::SeenTree without_folder_times(tests::SeenTree seen) {
  for (auto& [path, one] : seen) {
    if (S_ISDIR(one.mode)) one.time = {};
  }
  return seen;
}

TEST_F(Originals, RestoresOneOfEachKind) {
  fs::remove_all(tree_);
  tests::make_sample_tree(tree_);
  for (const std::uint32_t block_bytes : {64U, 65536U}) {
    fs::remove_all(workshop_.path("parity"));
    const auto before = look_at(tree_);
    const ProtectedSet made = protect(tree_, block_bytes);
    ASSERT_EQ(made.paths.size(), 2U);
    EXPECT_EQ(verify(), "");
    std::vector<std::string> parity;
    for (const std::string& path : made.paths)
      parity.push_back(tests::read_bytes(path));
    for (const char* name : {"empty", "one byte", "nested/script", "relative", "hole in middle"})
      ASSERT_TRUE(fs::remove(file(name))) << name;
    fs::remove_all(file("nested/deeper"));
    fs::remove_all(file("empty folder"));
    fs::resize_file(made.paths[1], fs::file_size(made.paths[1]) / 2);
    const auto repaired = repair_set(posix_files(), set(), {.jobs = 2});
    ASSERT_TRUE(repaired.has_value()) << repaired.error().message;
    EXPECT_EQ(repaired->files_changed, std::vector<std::string>{made.paths[1]});
    EXPECT_EQ(verify(), "");
    EXPECT_TRUE(
        tests::is_same_tree(without_folder_times(before), without_folder_times(look_at(tree_))));
    for (std::size_t i = 0; i < parity.size(); ++i)
      EXPECT_TRUE(tests::read_bytes(made.paths[i]) == parity[i]) << i;
  }
}

TEST_F(Originals, NamesTheProblemOfEachFile) {
  put("rotten", std::string(500, 'a'));
  put("edited", std::string(500, 'b'));
  put("touched", std::string(500, 'c'));
  put("cut", std::string(500, 'd'));
  put("gone", std::string(5, 'e'));
  tests::write_sparse(file("sparse"), tests::mib, {{0, 10}});
  tests::set_time(file("sparse"), 1000, 7);
  protect(tree_, 64, 4, 4);
  EXPECT_EQ(verify(), "");
  put("rotten", std::string(499, 'a') + "b");
  put("edited", std::string(499, 'b') + "c", 2000);
  put("touched", std::string(500, 'c'), 2000);
  put("cut", std::string(400, 'd'));
  fs::remove(file("gone"));
  std::string bytes = tests::read_bytes(file("sparse"));
  bytes[tests::mib / 2] = 'x';
  put("sparse", bytes);
  EXPECT_EQ(verify(),
            "cut: it has 400 bytes; expected 500; edited: changed since it was protected; "
            "gone: missing; rotten: damaged; sparse: it has data where there was a hole; ");
  // Repair does not touch files that the user changed.
  const auto repaired = repair_set(posix_files(), set());
  ASSERT_TRUE(repaired.has_value()) << repaired.error().message;
  EXPECT_EQ(repaired->originals_left, std::vector<std::string>{file("edited")});
  EXPECT_EQ(repaired->originals_restored.size(), 4U);
  EXPECT_EQ(verify(), "edited: changed since it was protected; ");
  EXPECT_EQ(tests::read_bytes(file("edited")), std::string(499, 'b') + "c");
  ASSERT_TRUE(repair_set(posix_files(), set(), {.overwrite = true}).has_value());
  EXPECT_EQ(verify(), "");
  EXPECT_EQ(tests::read_bytes(file("edited")), std::string(500, 'b'));
}

TEST_F(Originals, AnExistingFileKeepsItsOwnerAndMode) {
  put("a", std::string(300, 'a'));
  put("b", std::string(700, 'b'));
  protect(tree_);
  put("a", std::string(300, 'x'));
  const bool is_root = geteuid() == 0;
  const uid_t user = is_root ? 65534 : geteuid();
  const gid_t group = is_root ? 65533 : getegid();
  ASSERT_EQ(::chown(file("a").c_str(), user, group), 0);
  ASSERT_EQ(::chmod(file("a").c_str(), 04751), 0);
  ASSERT_TRUE(repair_set(posix_files(), set()).has_value());
  EXPECT_EQ(verify(), "");
  struct stat about = {};
  ASSERT_EQ(::stat(file("a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 04751U);
  EXPECT_EQ(about.st_uid, user);
  EXPECT_EQ(about.st_gid, group);
}

TEST_F(Originals, LosingMostOfASetIsUnrecoverableAndChangesNothing) {
  put("a", tests::pattern(5000, 1));
  put("b", tests::pattern(400, 2));
  protect(tree_);
  fs::remove(file("a"));
  const auto refused = repair_set(posix_files(), set());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unrecoverable);
  EXPECT_NE(refused.error().message.find("stripes 0"), std::string::npos);
  EXPECT_NE(refused.error().message.find("tree/a"), std::string::npos);
  EXPECT_FALSE(fs::exists(file("a")));
}

// Losing a whole file costs only a few blocks of each stripe.
TEST_F(Originals, RestoresAFileWithAThirdOfTheData) {
  for (const char* name : {"a", "b", "c"})
    put(name, tests::pattern(30'000, static_cast<unsigned>(*name)));
  protect(tree_, 64, 6, 3);
  fs::remove(file("b"));
  ASSERT_TRUE(repair_set(posix_files(), set()).has_value());
  EXPECT_EQ(tests::read_bytes(file("b")), tests::pattern(30'000, 'b'));
}

// One parity file repairs what one edit hits, if everything behind it is found at its new offset.
TEST_F(Originals, FindsBytesBehindEachEdit) {
  const std::string before = tests::pattern(1000, 5);
  put("a", before);
  put("b", tests::pattern(90, 6));
  protect(tree_, 64, 4, 1);
  const auto check = [&](const std::string& after, const std::string& what) {
    put("a", after, 2000);
    const auto repaired = repair_set(posix_files(), set(), {.overwrite = true});
    ASSERT_TRUE(repaired.has_value()) << what << ": " << repaired.error().message;
    ASSERT_TRUE(tests::read_bytes(file("a")) == before) << what;
  };
  for (std::size_t at = 0; at <= before.size(); at += at % 64 == 0 ? 1 : 63) {
    for (const std::size_t bytes : {1U, 64U, 200U}) {
      check(before.substr(0, at) + std::string(bytes, 'x') + before.substr(at),
            text(bytes, " bytes inserted at ", at));
      if (at + 60 < before.size())
        check(before.substr(0, at) + before.substr(at + std::min<std::size_t>(bytes, 60)),
              text("bytes removed at ", at));
    }
  }
  EXPECT_EQ(verify(), "");
}

TEST_F(Originals, FindsEditsOfSeveralPlaces) {
  const std::string before = tests::pattern(6400, 5);
  put("a", before);
  protect(tree_, 64, 10, 3);
  put("a",
      before.substr(0, 1000) + "one" + before.substr(1000, 2000) + before.substr(3010, 2000) +
          std::string(300, 'y') + before.substr(5010),
      2000);
  ASSERT_TRUE(repair_set(posix_files(), set(), {.overwrite = true}).has_value());
  EXPECT_EQ(verify(), "");
}

TEST_F(Originals, FindsFilesWithOtherNames) {
  for (const char* name : {"a", "b", "c"})
    put(name, tests::pattern(3000, static_cast<unsigned>(*name)));
  put("small", "12345");
  put("kept", "123456");
  protect(tree_, 64, 6, 1);
  fs::create_directories(file("below"));
  fs::rename(file("a"), file("below/a2"));
  fs::rename(file("small"), file("below/small2"));
  put("copy of b", tests::pattern(3000, 'b'), 3000);
  put("longer c", "front" + tests::pattern(3000, 'c'), 3000);
  fs::remove(file("b"));
  fs::remove(file("c"));
  EXPECT_EQ(verify(), text("a: missing; ", file("below/a2"), " seems to have its bytes; ",
                           "b: missing; ", file("copy of b"), " seems to have its bytes; ",
                           "c: missing; ", file("longer c"), " seems to have its bytes; ",
                           "small: missing; ", file("below/small2"), " seems to have its bytes; "));
  const auto repaired = repair_set(posix_files(), set());
  ASSERT_TRUE(repaired.has_value()) << repaired.error().message;
  EXPECT_EQ(verify(), "");
  EXPECT_TRUE(fs::exists(file("below/a2")) && fs::exists(file("longer c")));
}

// A file that only looks like a lost one is no help, and its bytes are not taken.
TEST_F(Originals, FilesThatLookLikeLostOnesAreChecked) {
  put("a", tests::pattern(3000, 1));
  put("b", tests::pattern(3000, 2));
  put("c", tests::pattern(30, 3));
  protect(tree_, 64, 4, 1);
  fs::remove(file("a"));
  put("decoy", tests::pattern(3000, 9));
  const auto refused = repair_set(posix_files(), set());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unrecoverable);
  EXPECT_FALSE(fs::exists(file("a")));
  fs::remove(file("decoy"));
  fs::create_symlink(workshop_.path("outside"), file("link"));
  write_file(workshop_.path("outside"), tests::pattern(3000, 1));
  tests::set_time(workshop_.path("outside"), 1000, 7);
  EXPECT_FALSE(repair_set(posix_files(), set()).has_value()) << "a link was followed";
}

TEST_F(Originals, LinksAreNotFollowed) {
  put("a", tests::pattern(300, 1));
  protect(tree_);
  write_file(workshop_.path("outside"), tests::pattern(300, 1));
  fs::remove(file("a"));
  fs::create_symlink(workshop_.path("outside"), file("a"));
  EXPECT_EQ(verify(), "a: no longer a file; ");
  auto reader = SetReader::open(posix_files(), set());
  SetReader::Blocks blocks;
  ASSERT_TRUE(reader->read_blocks({0, 1}, blocks).has_value());
  EXPECT_FALSE(blocks.good[0][0]);  // although the link target has the right bytes
}

TEST_F(Originals, SingleFilesEmptyFilesAndRenamedOnes) {
  put("empty", "");
  const ProtectedSet none = protect(file("empty"));
  EXPECT_EQ(none.header.stripe_count, 0U);
  EXPECT_EQ(verify(), "");
  fs::remove(file("empty"));
  EXPECT_EQ(verify(), "empty: missing; ");
  ASSERT_TRUE(repair_set(posix_files(), set()).has_value());
  EXPECT_EQ(verify(), "");
  fs::remove_all(workshop_.path("parity"));
  put("one", tests::pattern(1000, 1));
  protect(file("one"), 64, 2, 2);
  fs::rename(file("one"), file("other"));
  EXPECT_EQ(verify(), text("one: missing; ", file("other"), " seems to have its bytes; "));
  original_ = file("other");
  EXPECT_EQ(verify(), "");
  fs::resize_file(file("other"), 10);
  ASSERT_TRUE(repair_set(posix_files(), set(), {.overwrite = true}).has_value());
  EXPECT_EQ(tests::read_bytes(file("other")), tests::pattern(1000, 1));
}

TEST_F(Originals, UpdateAcceptsChangesButNotBitRot) {
  put("a", tests::pattern(3000, 1));
  put("b", tests::pattern(3000, 2));
  put("old", tests::pattern(100, 3));
  const ProtectedSet before = protect(tree_);
  const auto nothing = update_originals(posix_files(), set());
  ASSERT_TRUE(nothing.has_value()) << nothing.error().message;
  EXPECT_TRUE(nothing->paths.empty());
  put("a", tests::pattern(5000, 4), 2000);
  put("new", tests::pattern(700, 5), 2000);
  fs::remove(file("old"));
  std::string rotten = tests::pattern(3000, 2);
  rotten[2500] = static_cast<char>(rotten[2500] + 1);
  put("b", rotten);
  const auto refused = update_originals(posix_files(), set());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_NE(refused.error().message.find("tree/b is damaged"), std::string::npos);
  put("b", tests::pattern(3000, 2));
  const auto updated = update_originals(posix_files(), set());
  ASSERT_TRUE(updated.has_value()) << updated.error().message;
  EXPECT_EQ(updated->changed, std::vector<std::string>{"a"});
  EXPECT_EQ(updated->added, std::vector<std::string>{"new"});
  EXPECT_EQ(updated->removed, std::vector<std::string>{"old"});
  EXPECT_EQ(updated->paths, before.paths);
  EXPECT_EQ(updated->header.uuid, before.header.uuid);
  EXPECT_GT(updated->header.generation, before.header.generation);
  EXPECT_EQ(verify(), "");
  fs::remove(file("new"));
  ASSERT_TRUE(repair_set(posix_files(), set()).has_value());
  EXPECT_EQ(tests::read_bytes(file("new")), tests::pattern(700, 5));
}

TEST_F(Originals, AFileThatChangesWhileItIsReadIsAnError) {
  put("a", tests::pattern(3000, 1));
  auto source = OriginalSource::open(tree_);
  (*source)->begin(2, 64);
  std::vector<std::byte> bytes(100);
  ASSERT_TRUE((*source)->read(bytes).has_value());
  put("a", tests::pattern(3000, 2), 3000);
  bytes.resize(10'000);
  const auto read = (*source)->read(bytes);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find("changed while it was read"), std::string::npos);
}

}  // namespace
}  // namespace calpe::store
