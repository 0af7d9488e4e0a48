// SPDX-License-Identifier: Apache-2.0
// Directories that change while they are read, exclusions, and several sources.
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "store/tree/tree.hpp"
#include "support/sample_tree.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

namespace fs = std::filesystem;
using tests::pattern;
using tests::Workshop;

const ScanOptions live = {.exclude = {}, .skips_unreadable = true, .looks_for_metadata = true};

using Content = std::vector<std::byte>;

// Reads all pieces; calls `between` after each with the number of bytes so far.
Content read_all(ContentSource& source, const std::function<void(std::size_t)>& between = {}) {
  Content all;
  Content piece(1000);
  while (true) {
    const auto got = source.read(piece);
    EXPECT_TRUE(got.has_value()) << got.error().message;
    if (!got || *got == 0) return all;
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*got));
    if (between) between(all.size());
  }
}

std::string bytes_of(const Manifest& manifest, const std::string& path, const Content& content) {
  for (const Entry& entry : manifest.entries) {
    if (entry.path != path) continue;
    std::string bytes(entry.file_bytes, '\0');
    for (const Extent& extent : entry.extents) {
      std::memcpy(&bytes[extent.file_offset], &content.at(extent.content_offset), extent.bytes);
    }
    return bytes;
  }
  return "not in the manifest";
}

std::vector<std::string> paths_in(const Manifest& manifest) {
  std::vector<std::string> paths;
  for (const Entry& entry : manifest.entries)
    paths.push_back(entry.path);
  return paths;
}

// The manifest that a reader finds in the content.
Manifest stored_manifest(const ContentSource& source, const Content& content) {
  EXPECT_EQ(content.size(), source.manifest_offset() + source.manifest_bytes());
  const auto bytes = std::span(content).subspan(source.manifest_offset());
  auto manifest = parse_manifest(bytes, source.manifest_offset());
  EXPECT_TRUE(manifest.has_value()) << manifest.error().message;
  return manifest ? *manifest : Manifest{};
}

void write_below(const Workshop& workshop, const std::string& name, const std::string& bytes) {
  fs::create_directories(fs::path(workshop.path(name)).parent_path());
  workshop.write(name, bytes);
}

struct LiveTree {
  LiveTree() {
    for (const char* name : {"a", "b", "c"})
      write_below(workshop, std::string("t/") + name, pattern(5000, static_cast<unsigned>(*name)));
  }
  std::string path(const std::string& name) const { return workshop.path("t/" + name); }
  Workshop workshop;
};

TEST(LiveTree, AFileThatChangesOnceIsReadAgain) {
  for (const std::size_t moment : {1000U, 6000U, 7000U, 9000U}) {
    const LiveTree tree;
    auto source = TreeSource::open(tree.path(""), live);
    ASSERT_TRUE(source.has_value());
    const Content content = read_all(**source, [&](std::size_t done) {
      if (done == moment) tests::write_file(tree.path("b"), pattern(7000, 9));
    });
    const Manifest manifest = stored_manifest(**source, content);
    EXPECT_EQ(bytes_of(manifest, "a", content), pattern(5000, 'a'));
    EXPECT_EQ(bytes_of(manifest, "b", content), pattern(7000, 9)) << moment;
    EXPECT_EQ(bytes_of(manifest, "c", content), pattern(5000, 'c'));
    EXPECT_TRUE((*source)->tree().unreadable.empty());
    EXPECT_FALSE((*source)->is_as_identified());
  }
}

TEST(LiveTree, AFileThatKeepsChangingIsLeftOutAndListed) {
  const LiveTree tree;
  auto source = TreeSource::open(tree.path(""), live);
  std::size_t version = 0;
  const Content content = read_all(**source, [&](std::size_t done) {
    if (done > 5000) tests::write_file(tree.path("b"), pattern(5000 + ++version, 9));
  });
  const Manifest manifest = stored_manifest(**source, content);
  EXPECT_EQ(paths_in(manifest), (std::vector<std::string>{"", "a", "c"}));
  EXPECT_EQ(bytes_of(manifest, "c", content), pattern(5000, 'c'));
  ASSERT_EQ((*source)->tree().unreadable.size(), 1U);
  EXPECT_EQ((*source)->tree().unreadable[0].path, "b");
  EXPECT_TRUE((*source)->tree().unreadable[0].why.ends_with("/b changed while it was read"));
}

TEST(LiveTree, ARemovedFileIsLeftOutAndListed) {
  const LiveTree tree;
  auto source = TreeSource::open(tree.path(""), live);
  fs::remove(tree.path("a"));
  fs::remove(tree.path("c"));
  const Content content = read_all(**source);
  const Manifest manifest = stored_manifest(**source, content);
  EXPECT_EQ(paths_in(manifest), (std::vector<std::string>{"", "b"}));
  EXPECT_EQ(bytes_of(manifest, "b", content), pattern(5000, 'b'));
  EXPECT_EQ((*source)->tree().unreadable.size(), 2U);
}

// Even one byte at a time, the end of the data is not taken for the end of the content.
TEST(LiveTree, EveryPieceSize) {
  for (const std::size_t piece_bytes : {1U, 4999U, 5000U, 15000U, 100000U}) {
    const LiveTree tree;
    auto source = TreeSource::open(tree.path(""), live);
    tests::write_file(tree.path("c"), pattern(4000, 9));
    Content content;
    Content piece(piece_bytes);
    for (std::size_t got = 1; got != 0;) {
      got = *(*source)->read(piece);
      content.insert(content.end(), piece.begin(),
                     piece.begin() + static_cast<std::ptrdiff_t>(got));
    }
    const Manifest manifest = stored_manifest(**source, content);
    EXPECT_EQ(bytes_of(manifest, "c", content), pattern(4000, 9)) << piece_bytes;
  }
}

TEST(LiveTree, ASingleFileThatChangesIsAnError) {
  const LiveTree tree;
  auto source = TreeSource::open(tree.path("a"), live);
  fs::resize_file(tree.path("a"), 3000);
  Content bytes(100000);
  EXPECT_FALSE((*source)->read(bytes).has_value());
}

TEST(LiveTree, PatternsLeaveOutFilesAndDirectories) {
  const Workshop workshop;
  for (const char* name : {"t/a.tmp", "t/keep", "t/cache/x", "t/d/cache/y", "t/d/b.tmp", "t/d/z"})
    write_below(workshop, name, "x");
  const auto left = [&](std::vector<std::string> patterns) {
    ScanOptions options;
    options.exclude = std::move(patterns);
    return scan_tree(workshop.path("t"), options);
  };
  using Paths = std::vector<std::string>;
  EXPECT_EQ(paths_in(left({"*.tmp"})->manifest),
            (Paths{"", "cache", "cache/x", "d", "d/cache", "d/cache/y", "d/z", "keep"}));
  EXPECT_EQ(paths_in(left({"cache"})->manifest),
            (Paths{"", "a.tmp", "d", "d/b.tmp", "d/z", "keep"}));
  EXPECT_EQ(paths_in(left({"d/cache", "keep"})->manifest),
            (Paths{"", "a.tmp", "cache", "cache/x", "d", "d/b.tmp", "d/z"}));
  const auto odd = left({"ache", "nothing", "z"});
  EXPECT_EQ(odd->unused_exclude, (Paths{"ache", "nothing"}));
  EXPECT_EQ(odd->excluded, 1U);
}

TEST(LiveTree, SeveralSourcesAreEntriesOfOneDirectory) {
  const Workshop workshop;
  write_below(workshop, "one/docs/a", pattern(3000, 1));
  write_below(workshop, "two/b", pattern(2000, 2));
  write_below(workshop, "two/skipped.tmp", "x");
  fs::create_symlink("b", workshop.path("two/link"));
  ScanOptions options = live;
  options.exclude = {"*.tmp"};
  auto source = TreeSource::open_all(
      {workshop.path("two/"), workshop.path("one/docs"), workshop.path("two/b")}, options);
  ASSERT_TRUE(source.has_value()) << source.error().message;
  const Content content = read_all(**source);
  const Manifest manifest = stored_manifest(**source, content);
  EXPECT_EQ(paths_in(manifest),
            (std::vector<std::string>{"", "b", "docs", "docs/a", "two", "two/b", "two/link"}));
  EXPECT_EQ(bytes_of(manifest, "docs/a", content), pattern(3000, 1));
  EXPECT_EQ(bytes_of(manifest, "two/b", content), pattern(2000, 2));
  EXPECT_EQ(bytes_of(manifest, "b", content), pattern(2000, 2));
  EXPECT_EQ(
      TreeSource::open_all({workshop.path("two"), workshop.path("one/../two")}).error().message,
      "two sources are named two; rename one");
  EXPECT_EQ(TreeSource::open_all({workshop.path("two"), workshop.path("none")}, live).error().code,
            ErrorCode::io);
}

TEST(LiveTree, MetadataWithoutAFieldIsNamed) {
  const LiveTree tree;
  fs::create_hard_link(tree.path("a"), tree.path("a2"));
  const bool has_attributes = ::setxattr(tree.path("c").c_str(), "user.calpe", "1", 1, 0) == 0;
  const auto scanned = scan_tree(tree.path(""), live);
  EXPECT_EQ(scanned->hard_links.count, 2U);
  EXPECT_EQ(scanned->hard_links.first, (std::vector<std::string>{"a", "a2"}));
  if (has_attributes) {
    EXPECT_EQ(scanned->attributes.first, (std::vector<std::string>{"c"}));
  }
}

}  // namespace
}  // namespace calpe::store
