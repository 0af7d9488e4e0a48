// SPDX-License-Identifier: Apache-2.0
// Files that stay open and locked: the file that was checked is the one that is written.
#include "store/io/held_files.hpp"

#include <filesystem>
#include <gtest/gtest.h>

#include "store/change/generation_update.hpp"
#include "store/find/held_set.hpp"
#include "store/read/verify_set.hpp"
#include "store/repair/repair_set.hpp"
#include "support/made_set.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

namespace fs = std::filesystem;
using tests::MadeSet;
using tests::Workshop;

std::string text_of(FileSystem& files, const std::string& path) {
  const auto file = files.open(path);
  if (!file) return file.error().message;
  std::string text(100, '\0');
  const auto got = (*file)->read_at(std::as_writable_bytes(std::span(text)), 0);
  text.resize(got ? *got : 0);
  return text;
}

Status put(FileSystem& files, const std::string& path, std::string_view text) {
  auto file = files.open_to_change(path);
  if (!file) return file.error();
  return (*file)->write_at(std::as_bytes(std::span(text)), 0);
}

bool is_refused(const Result<bool>& held) {
  return !held && is_locked_error(held.error());
}

TEST(HeldFiles, StayTheSameFilesWhenNamesChange) {
  const Workshop shop;
  const std::string path = shop.write("a", "shard");
  const std::string victim = shop.write("victim", "private");
  HeldFiles files(posix_files(), LockKind::exclusive);
  ASSERT_TRUE(*files.hold(path));
  fs::rename(path, shop.path("away"));
  fs::create_symlink(victim, path);
  EXPECT_EQ(text_of(files, path), "shard");
  ASSERT_TRUE(put(files, path, "SHARD").has_value());
  EXPECT_EQ(text_of(posix_files(), victim), "private");
  EXPECT_EQ(text_of(posix_files(), shop.path("away")), "SHARD");
}

TEST(HeldFiles, ExcludeEachOther) {
  const Workshop shop;
  const std::string path = shop.write("a", "shard");
  HeldFiles reader(posix_files(), LockKind::shared);
  ASSERT_TRUE(*reader.hold(path));
  HeldFiles second(posix_files(), LockKind::shared);
  EXPECT_TRUE(*second.hold(path));
  HeldFiles writer(posix_files(), LockKind::exclusive);
  EXPECT_TRUE(is_refused(writer.hold(path)));
  EXPECT_FALSE(writer.is_held(path));
}

TEST(HeldFiles, LocksEndWithTheObject) {
  const Workshop shop;
  const std::string path = shop.write("a", "shard");
  {
    HeldFiles writer(posix_files(), LockKind::exclusive);
    ASSERT_TRUE(*writer.hold(path));
    HeldFiles reader(posix_files(), LockKind::shared);
    EXPECT_TRUE(is_refused(reader.hold(path)));
  }
  HeldFiles again(posix_files(), LockKind::exclusive);
  EXPECT_TRUE(*again.hold(path));
}

TEST(HeldFiles, MayBeNestedAndNeverBecomeWeaker) {
  const Workshop shop;
  const std::string path = shop.write("a", "shard");
  HeldFiles outer(posix_files(), LockKind::exclusive);
  ASSERT_TRUE(*outer.hold(path));
  HeldFiles inner(outer, LockKind::shared);
  ASSERT_TRUE(*inner.hold(path));
  HeldFiles other(posix_files(), LockKind::shared);
  EXPECT_TRUE(is_refused(other.hold(path)));
}

TEST(HeldFiles, OneFileWithTwoNamesIsLockedOnce) {
  const Workshop shop;
  const std::string path = shop.write("a", "shard");
  fs::create_symlink(path, shop.path("b"));
  HeldFiles files(posix_files(), LockKind::exclusive);
  ASSERT_TRUE(*files.hold(path));
  EXPECT_TRUE(*files.hold(shop.path("b")));
}

TEST(HeldFiles, ARemovedFileMustBeFoundAgain) {
  const Workshop shop;
  HeldFiles files(posix_files(), LockKind::exclusive);
  const auto held = files.hold(shop.path("a"));
  ASSERT_TRUE(held.has_value()) << held.error().message;
  EXPECT_FALSE(*held);
}

// Replaces the file between open and lock.
class Replacing final : public FileSystem {
 public:
  explicit Replacing(const Workshop& shop) : shop_(shop) {}
  Result<std::unique_ptr<File>> open(const std::string& path) override {
    return posix_files().open(path);
  }
  Result<std::unique_ptr<File>> open_to_change(const std::string& path) override {
    auto file = posix_files().open_to_change(path);
    fs::rename(shop_.write("new", "another"), path);
    return file;
  }
  Result<std::unique_ptr<File>> create(const std::string& path) override {
    return posix_files().create(path);
  }
  Status rename(const std::string& from, const std::string& to) override {
    return posix_files().rename(from, to);
  }
  Status remove(const std::string& path) override { return posix_files().remove(path); }
  Status make_folders(const std::string& path) override { return posix_files().make_folders(path); }
  Status sync_folder(const std::string& path) override { return posix_files().sync_folder(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return posix_files().list(path);
  }
  Result<FileId> identity(const std::string& path) override { return posix_files().identity(path); }

 private:
  const Workshop& shop_;
};

TEST(HeldFiles, AFileReplacedBeforeTheLockMustBeFoundAgain) {
  const Workshop shop;
  const std::string path = shop.write("a", "shard");
  Replacing replacing(shop);
  HeldFiles files(replacing, LockKind::exclusive);
  const auto held = files.hold(path);
  ASSERT_TRUE(held.has_value()) << held.error().message;
  EXPECT_FALSE(*held);
  EXPECT_FALSE(files.is_held(path));
}

TEST(HeldFiles, NewFilesAreLockedUnderEveryName) {
  const Workshop shop;
  HeldFiles files(posix_files(), LockKind::exclusive);
  {
    const auto made = files.create(shop.path("a"));
    ASSERT_TRUE(made.has_value());
  }
  HeldFiles other(posix_files(), LockKind::exclusive);
  EXPECT_TRUE(is_refused(other.hold(shop.path("a"))));
  ASSERT_TRUE(files.rename(shop.path("a"), shop.path("b")).has_value());
  EXPECT_TRUE(is_refused(other.hold(shop.path("b"))));
  EXPECT_TRUE(files.is_held(shop.path("b")));
  EXPECT_FALSE(files.is_held(shop.path("a")));
  ASSERT_TRUE(files.remove(shop.path("b")).has_value());
  EXPECT_FALSE(fs::exists(shop.path("b")));
}

TEST(HeldFiles, LinksWithTemporaryNamesAreNotFollowed) {
  const Workshop shop;
  const std::string victim = shop.write("victim", "private");
  fs::create_symlink(victim, shop.path(".calpe-journal.redo"));
  EXPECT_FALSE(posix_files().open(shop.path(".calpe-journal.redo")).has_value());
  fs::create_symlink(victim, shop.path("link"));
  EXPECT_EQ(text_of(posix_files(), shop.path("link")), "private");
}

class HeldSetTest : public testing::Test {
 protected:
  HeldSetTest() {
    for (std::size_t i = 0; i < made_.shard_count(); ++i) {
      const auto& image = made_.images()[i];
      paths_.push_back(
          shop_.write(std::to_string(i) + ".calpe",
                      std::string(reinterpret_cast<const char*>(image.data()), image.size())));
    }
  }
  FoundSet find() { return *choose_set(*find_sets(posix_files(), {shop_.path("")})); }
  std::unique_ptr<File> lock(std::size_t shard, LockKind kind) {
    auto file = *posix_files().open_to_change(paths_[shard]);
    EXPECT_TRUE(*file->lock(kind));
    return file;
  }

  MadeSet made_{{}};
  Workshop shop_;
  std::vector<std::string> paths_;
};

TEST_F(HeldSetTest, EveryFunctionThatChangesOrReadsASetTakesTheLock) {
  const FoundSet set = find();
  const std::size_t last = paths_.size() - 1;
  const auto is_locked = [](const auto& result) {
    return !result.has_value() && is_locked_error(result.error());
  };
  {
    const auto reader = lock(last, LockKind::shared);
    EXPECT_TRUE(verify_set(posix_files(), set).has_value());
    EXPECT_TRUE(SetReader::open(posix_files(), set).has_value());
    EXPECT_TRUE(is_locked(repair_set(posix_files(), set)));
    EXPECT_TRUE(is_locked(settle_set(posix_files(), set)));
    EXPECT_TRUE(is_locked(settle(posix_files(), {shop_.path("")})));
    EXPECT_TRUE(is_locked(NewGeneration::begin(posix_files(), set, set.header)));
  }
  const auto writer = lock(last, LockKind::exclusive);
  EXPECT_TRUE(is_locked(verify_set(posix_files(), set)));
  EXPECT_TRUE(is_locked(SetReader::open(posix_files(), set)));
  EXPECT_FALSE(check_not_changing(posix_files(), {shop_.path("")}).has_value());
}

TEST_F(HeldSetTest, ASetThatChangedSinceDiscoveryIsNotTouched) {
  const FoundSet set = find();
  tests::SetShape newer;
  newer.generation = 2;
  const MadeSet made(newer);
  const auto& image = made.images()[1];
  shop_.write("1.calpe", std::string(reinterpret_cast<const char*>(image.data()), image.size()));
  const auto held = hold_set(posix_files(), set, LockKind::exclusive);
  ASSERT_TRUE(held.has_value()) << held.error().message;
  EXPECT_EQ(*held, nullptr);
  const auto repaired = repair_set(posix_files(), set);
  ASSERT_FALSE(repaired.has_value());
  EXPECT_EQ(repaired.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace calpe::store
