// SPDX-License-Identifier: Apache-2.0
#include "store/change/removal_guard.hpp"

#include <gtest/gtest.h>

namespace calpe::store {
namespace {

Entry file(const std::string& path, std::uint64_t bytes, std::int64_t seconds = 1) {
  Entry entry;
  entry.path = path;
  entry.file_bytes = bytes;
  entry.seconds = seconds;
  return entry;
}

Entry folder(const std::string& path) {
  Entry entry;
  entry.type = EntryType::folder;
  entry.path = path;
  return entry;
}

Removal removal(const Manifest& before, const Manifest& after) {
  const auto difference = compare_trees(before, after);
  EXPECT_TRUE(difference);
  return removal_of(before, after, *difference);
}

TEST(RemovalGuard, CountsEntriesByPathAndBytesByFile) {
  const Manifest before = {{folder(""), file("a", 10, 1), file("b", 90, 2), file("c", 0, 3)}};
  const Removal none = removal(before, before);
  EXPECT_EQ(none.percent(), 0U);
  EXPECT_EQ(none.entries_before, 3U);  // the directory itself does not count
  EXPECT_EQ(none.bytes_before, 100U);
  // A renamed file keeps its bytes. A shorter one loses some.
  const Manifest renamed = {{folder(""), file("a", 5, 7), file("c", 0, 3), file("d", 90, 2)}};
  const Removal some = removal(before, renamed);
  EXPECT_EQ(some.paths, std::vector<std::string>{"b"});
  EXPECT_EQ(some.bytes, 5U);
  EXPECT_EQ(some.percent(), 34U);  // a third, rounded up
}

TEST(RemovalGuard, AnotherTypeCountsAsRemovedAndAnotherLinkDoesNot) {
  Entry link = file("l", 0);
  link.type = EntryType::link;
  link.target = "here";
  Entry retargeted = link;
  retargeted.target = "there";
  const Manifest before = {{folder(""), file("a", 10), link}};
  const Manifest after = {{folder(""), folder("a"), retargeted}};
  const Removal found = removal(before, after);
  EXPECT_EQ(found.paths, std::vector<std::string>{"a"});
  EXPECT_EQ(found.bytes, 10U);
  EXPECT_EQ(found.percent(), 100U);
}

TEST(RemovalGuard, RefusesMoreThanIsPermittedAndNamesAFew) {
  Manifest before = {{folder("")}};
  for (int i = 10; i < 60; ++i)
    before.entries.push_back(file("f" + std::to_string(i), 1, i));
  Manifest half = before;
  half.entries.resize(26);
  EXPECT_TRUE(check_removal(removal(before, half), "tree", 50));
  half.entries.resize(25);
  const Status refused = check_removal(removal(before, half), "tree", 50);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  const std::string& message = refused.error().message;
  EXPECT_NE(message.find("26 of 50 entries and 26 of 50 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find(": f34, f35"), std::string::npos) << message;
  EXPECT_NE(message.find("f53 and 6 more"), std::string::npos) << message;
  EXPECT_NE(message.find("--allow-removing 52 "), std::string::npos) << message;
  EXPECT_TRUE(check_removal(removal(before, half), "tree", 52));
}

TEST(RemovalGuard, NothingCanBeRemovedFromNothing) {
  const Manifest empty = {{folder("")}};
  EXPECT_TRUE(check_removal(removal(empty, {{folder(""), file("a", 3)}}), "tree", 0));
}

}  // namespace
}  // namespace calpe::store
