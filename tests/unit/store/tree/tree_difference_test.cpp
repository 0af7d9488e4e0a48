// SPDX-License-Identifier: Apache-2.0
// Compares a tree by its manifests before and after.
#include "store/tree/tree_difference.hpp"

#include <gtest/gtest.h>

namespace calpe::store {
namespace {

Entry file(const std::string& path, std::uint64_t bytes, std::int64_t seconds) {
  Entry entry;
  entry.path = path;
  entry.mode = 0644;
  entry.seconds = seconds;
  entry.file_bytes = bytes;
  if (bytes != 0) entry.extents = {{0, 0, bytes}};
  return entry;
}

Entry folder(const std::string& path, std::int64_t seconds = 1) {
  Entry entry;
  entry.type = EntryType::folder;
  entry.path = path;
  entry.mode = 0755;
  entry.seconds = seconds;
  return entry;
}

Entry link(const std::string& path, const std::string& target) {
  Entry entry;
  entry.type = EntryType::link;
  entry.path = path;
  entry.target = target;
  entry.mode = 0777;
  return entry;
}

EntryDifference of_one(const Entry& before, const Entry& after) {
  const auto found = compare_trees({{folder(""), before}}, {{folder(""), after}});
  EXPECT_TRUE(found && found->entries[0].change == EntryChange::unchanged);
  return found->entries[1];
}

TEST(TreeDifference, SizeAndTimeTellWhetherAFileChanged) {
  const Entry before = file("a", 10, 5);
  EXPECT_EQ(of_one(before, before).change, EntryChange::unchanged);
  EXPECT_EQ(of_one(before, file("a", 11, 5)).change, EntryChange::changed);
  EXPECT_EQ(of_one(before, file("a", 10, 6)).change, EntryChange::changed);
  EXPECT_EQ(of_one(before, file("a", 10, 6)).before, 1U);
  Entry later = before;
  later.nanoseconds = 1;
  EXPECT_EQ(of_one(before, later).change, EntryChange::changed);
  Entry moved = before;  // extents do not matter
  moved.extents = {{0, 777, 4}, {4, 99, 6}};
  EXPECT_EQ(of_one(before, moved).change, EntryChange::unchanged);
}

TEST(TreeDifference, ModeAndOwnerOnlyTouchTheManifest) {
  const Entry before = file("a", 10, 5);
  Entry after = before;
  after.mode = 0600;
  EXPECT_EQ(of_one(before, after).change, EntryChange::metadata);
  EXPECT_TRUE(of_one(before, after).keeps_bytes());
  after = before;
  after.user = 3;
  EXPECT_EQ(of_one(before, after).change, EntryChange::metadata);
  after = before;
  after.group = 3;
  EXPECT_EQ(of_one(before, after).change, EntryChange::metadata);
  EXPECT_EQ(of_one(folder("d", 1), folder("d", 2)).change, EntryChange::metadata);
}

TEST(TreeDifference, LinksAndTypes) {
  EXPECT_EQ(of_one(link("a", "x"), link("a", "x")).change, EntryChange::unchanged);
  EXPECT_EQ(of_one(link("a", "x"), link("a", "y")).change, EntryChange::changed);
  const EntryDifference other = of_one(file("a", 10, 5), link("a", "x"));
  EXPECT_EQ(other.change, EntryChange::changed);
  EXPECT_FALSE(other.before);  // its extents cannot be reused
}

TEST(TreeDifference, AddedRemovedAndRenamed) {
  const Manifest before = {{folder(""), file("a", 10, 5), file("b", 20, 6), file("c", 20, 7)}};
  const Manifest after = {{folder(""), file("b", 20, 6), file("new", 10, 5), file("other", 20, 8)}};
  const auto found = compare_trees(before, after);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_none());
  EXPECT_EQ(found->count(EntryChange::added), 2U);
  EXPECT_EQ(found->count(EntryChange::unchanged), 2U);
  EXPECT_EQ(found->removed, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(found->entries[2].before, 1U);  // same size and time: probably renamed
  EXPECT_FALSE(found->entries[2].keeps_bytes());
  EXPECT_FALSE(found->entries[3].before);
  EXPECT_TRUE(compare_trees(before, before)->is_none());
}

// Two files must not reuse the extents of the same file.
TEST(TreeDifference, ARemovedFileIsReusedOnce) {
  const Manifest before = {{folder(""), file("a", 10, 5)}};
  const Manifest after = {{folder(""), file("x", 10, 5), file("y", 10, 5)}};
  const auto found = compare_trees(before, after);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->entries[1].before, 1U);
  EXPECT_FALSE(found->entries[2].before);
}

TEST(TreeDifference, ASingleFileMayHaveBeenRenamed) {
  const auto found = compare_trees({{file("a", 10, 5)}}, {{file("b", 10, 5)}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->entries[0].change, EntryChange::metadata);
  EXPECT_TRUE(found->removed.empty());
}

TEST(TreeDifference, ContentOverridesTime) {
  const Manifest before = {{folder(""), file("a", 10, 5), file("b", 10, 5), file("c", 10, 5)}};
  const Manifest after = {{folder(""), file("a", 10, 5), file("b", 10, 9), file("c", 11, 5)}};
  std::vector<std::size_t> asked;
  const auto found =
      compare_trees(before, after, [&](std::size_t, std::size_t entry) -> Result<bool> {
        asked.push_back(entry);
        return entry != 1;
      });
  ASSERT_TRUE(found);
  EXPECT_EQ(asked, (std::vector<std::size_t>{1, 2}));  // only files of the same size
  EXPECT_EQ(found->entries[1].change, EntryChange::changed);
  EXPECT_EQ(found->entries[2].change, EntryChange::metadata);
  EXPECT_EQ(found->entries[3].change, EntryChange::changed);
  const auto failed = compare_trees(before, after, [](std::size_t, std::size_t) -> Result<bool> {
    return Error{ErrorCode::io, "cannot read"};
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "cannot read");
}

}  // namespace
}  // namespace calpe::store
