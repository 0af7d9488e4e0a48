// SPDX-License-Identifier: Apache-2.0
// Resuming a tree in the middle gives the same bytes, as long as the tree is unchanged.
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "store/tree/tree.hpp"
#include "support/sample_tree.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::Workshop;

std::vector<std::byte> rest_of(ContentSource& source) {
  std::vector<std::byte> all;
  std::vector<std::byte> piece(1000);
  for (;;) {
    const auto got = source.read(piece);
    EXPECT_TRUE(got.has_value());
    if (!got || *got == 0) return all;
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*got));
  }
}

void make_tree(const Workshop& shop) {
  std::filesystem::create_directories(shop.path("tree/folder"));
  tests::write_file(shop.path("tree/a"), tests::pattern(3000, 1));
  tests::write_file(shop.path("tree/empty"), "");
  tests::write_file(shop.path("tree/folder/b"), tests::pattern(5000, 2));
  tests::write_file(shop.path("tree/z"), tests::pattern(1, 3));
}

TEST(TreeSkip, EveryPlace) {
  const Workshop shop;
  make_tree(shop);
  auto first = TreeSource::open(shop.path("tree"));
  ASSERT_TRUE(first.has_value());
  const std::vector<std::byte> all = rest_of(**first);
  ASSERT_EQ(all.size(), *(*first)->bytes_expected());
  for (std::size_t bytes = 0; bytes <= all.size(); bytes += bytes < 20 ? 1 : 67) {
    auto source = TreeSource::open(shop.path("tree"));
    ASSERT_TRUE(source.has_value());
    EXPECT_EQ((*source)->identity(), (*first)->identity());
    ASSERT_TRUE((*source)->skip(bytes).has_value());
    const std::vector<std::byte> rest = rest_of(**source);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(bytes), all.end()))
        << bytes;
  }
  auto source = TreeSource::open(shop.path("tree"));
  ASSERT_TRUE(source.has_value());
  EXPECT_FALSE((*source)->skip(all.size() + 1).has_value());
}

// Other bytes with the previous size and time count as different.
TEST(TreeSkip, RestoredTimesDoNotHideAChange) {
  const Workshop shop;
  make_tree(shop);
  auto before = TreeSource::open(shop.path("tree"));
  ASSERT_TRUE(before.has_value());
  struct stat about = {};
  ASSERT_EQ(stat(shop.path("tree/a").c_str(), &about), 0);
  tests::write_file(shop.path("tree/a"), tests::pattern(3000, 9));
  const timespec times[2] = {about.st_atim, about.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, shop.path("tree/a").c_str(), times, 0), 0);
  auto after = TreeSource::open(shop.path("tree"));
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(to_bytes((*after)->manifest()), to_bytes((*before)->manifest()));
  EXPECT_NE((*after)->identity(), (*before)->identity());
}

TEST(TreeRestoreResume, KeepsCompleteFilesAndRemovesLeftovers) {
  const Workshop shop;
  make_tree(shop);
  auto source = TreeSource::open(shop.path("tree"));
  ASSERT_TRUE(source.has_value());
  const std::vector<std::byte> all = rest_of(**source);
  std::uint64_t bytes_read = 0;
  const ReadContent read = [&](std::span<std::byte> bytes, std::uint64_t offset) -> Status {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
    bytes_read += bytes.size();
    return Done{};
  };
  const Manifest& manifest = (*source)->manifest();
  const std::string out = shop.path("out");
  ASSERT_TRUE(restore_tree(manifest, read, out, {}).has_value());
  std::filesystem::remove(out + "/z");
  tests::write_file(out + "/folder/.calpe-restore-123-4", "half");
  tests::write_file(out + "/.calpe-restore-123-5", "half");
  EXPECT_FALSE(restore_tree(manifest, read, out, {}).has_value());
  bytes_read = 0;
  unsigned there = 0;
  RestoreOptions options;
  options.resume = true;
  options.on_there = [&](const Entry&) { ++there; };
  ASSERT_TRUE(restore_tree(manifest, read, out, options).has_value());
  EXPECT_EQ(there, 3U);
  EXPECT_EQ(bytes_read, 1U);
  EXPECT_EQ(tests::read_bytes(out + "/z"), tests::pattern(1, 3));
  EXPECT_FALSE(std::filesystem::exists(out + "/folder/.calpe-restore-123-4"));
  EXPECT_FALSE(std::filesystem::exists(out + "/.calpe-restore-123-5"));
  // An existing file that differs is an error.
  tests::write_file(out + "/a", "mine");
  const Status refused = restore_tree(manifest, read, out, options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(tests::read_bytes(out + "/a"), "mine");
}

}  // namespace
}  // namespace calpe::store
