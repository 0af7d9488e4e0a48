// SPDX-License-Identifier: Apache-2.0
// Which entries a person gets who asks for a part of a set.
#include "store/tree/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calpe::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Entry entry(EntryType type, std::string path) {
  Entry made;
  made.type = type;
  made.path = std::move(path);
  return made;
}

const Manifest& sample() {
  static const Manifest manifest = {
      {entry(EntryType::folder, ""), entry(EntryType::folder, "2023"),
       entry(EntryType::file, "2023/a.jpg"), entry(EntryType::folder, "2023/raw"),
       entry(EntryType::file, "2023/raw/a.dng"), entry(EntryType::folder, "2024"),
       entry(EntryType::file, "2024/a.jpg"), entry(EntryType::link, "best"),
       entry(EntryType::file, "n[1].txt")}};
  return manifest;
}

std::vector<std::string> selected(const std::vector<std::string>& patterns) {
  const auto part = select_entries(sample(), patterns);
  std::vector<std::string> paths;
  if (!part) return {part.error().message};
  for (const Entry& one : part->entries)
    paths.push_back(one.path);
  return paths;
}

TEST(Selection, AFileComesWithTheDirectoriesAbove) {
  EXPECT_THAT(selected({"2023/raw/a.dng"}), ElementsAre("", "2023", "2023/raw", "2023/raw/a.dng"));
  EXPECT_THAT(selected({"./2024/a.jpg", "best"}), ElementsAre("", "2024", "2024/a.jpg", "best"));
}

TEST(Selection, ADirectoryComesWithEverythingBelow) {
  for (const char* name : {"2023", "2023/", "./2023", "/2023", "202[3]"}) {
    EXPECT_THAT(selected({name}),
                ElementsAre("", "2023", "2023/a.jpg", "2023/raw", "2023/raw/a.dng"))
        << name;
  }
  for (const char* name : {".", "./", "*"})
    EXPECT_EQ(selected({name}).size(), sample().entries.size()) << name;
}

TEST(Selection, WildcardsMatchSlashesToo) {
  EXPECT_THAT(selected({"*.jpg"}), ElementsAre("", "2023", "2023/a.jpg", "2024", "2024/a.jpg"));
  EXPECT_THAT(selected({"2023/*.dng"}), ElementsAre("", "2023", "2023/raw", "2023/raw/a.dng"));
}

TEST(Selection, ANameWithBracketsCanBeGivenAsItIs) {
  EXPECT_THAT(selected({"n[1].txt"}), ElementsAre("", "n[1].txt"));
}

TEST(Selection, APatternThatMatchesNothingIsAnError) {
  for (const char* name : {"202", "2023/raw/a", "a.jpg", "n1.txt", "2025"})
    EXPECT_THAT(selected({"2024", name}), ElementsAre(HasSubstr("matches nothing"))) << name;
}

// A file with a hole: data at 100 .. 300 and 500 .. 600, of 700 bytes.
Entry with_a_hole() {
  Entry made = entry(EntryType::file, "sparse");
  made.file_bytes = 700;
  made.extents = {{100, 4000, 200}, {500, 4200, 100}};
  return made;
}

TEST(Selection, EverySliceHasTheBytesOfTheFile) {
  const Entry whole = with_a_hole();
  const auto content_at = [](const Entry& file, std::uint64_t at) -> std::uint64_t {
    for (const Extent& extent : file.extents) {
      if (at >= extent.file_offset && at < extent.file_offset + extent.bytes)
        return extent.content_offset + (at - extent.file_offset);
    }
    return 0;  // a hole
  };
  for (std::uint64_t begin = 0; begin <= 700; begin += 50) {
    for (std::uint64_t end = begin; end <= 700; end += 50) {
      const auto slice = slice_entry(whole, begin, end);
      ASSERT_TRUE(slice.has_value());
      ASSERT_EQ(slice->file_bytes, end - begin);
      for (std::uint64_t at = begin; at < end; ++at)
        ASSERT_EQ(content_at(*slice, at - begin), content_at(whole, at)) << begin << ":" << end;
    }
  }
}

TEST(Selection, ASliceBeyondTheEndIsAnError) {
  for (const auto& [begin, end] : {std::pair<std::uint64_t, std::uint64_t>{0, 701}, {5, 4}})
    EXPECT_FALSE(slice_entry(with_a_hole(), begin, end).has_value()) << begin;
}

}  // namespace
}  // namespace calpe::store
