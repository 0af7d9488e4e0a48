// SPDX-License-Identifier: Apache-2.0
// Digests of files do not depend on how the files are read.
#include "store/tree/file_digest.hpp"

#include <algorithm>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <random>

#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"
#include "store/tree/tree_walk.hpp"
#include "support/sample_tree.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 chance(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(chance());
  return bytes;
}

// From docs/format.md.
std::uint64_t expected_digest(std::span<const std::byte> data) {
  std::vector<LittleU64> checksums;
  for (; !data.empty(); data = data.subspan(std::min<std::size_t>(data.size(), 1U << 20U)))
    checksums.emplace_back(
        plain_checksum(data.first(std::min<std::size_t>(data.size(), 1U << 20U))));
  return plain_checksum(std::as_bytes(std::span(checksums)));
}

Manifest manifest_of(const std::vector<std::size_t>& sizes) {
  Manifest manifest;
  manifest.has_digests = true;
  for (const std::size_t size : sizes) {
    Entry entry;
    entry.path = std::to_string(manifest.entries.size());
    entry.file_bytes = size;
    if (size != 0) entry.extents = {{0, 0, size}};
    manifest.entries.push_back(entry);
  }
  return manifest;
}

TEST(FileDigests, AreTheSameHoweverTheFilesAreRead) {
  const std::vector<std::size_t> sizes = {
      0, 1, 4096, (1U << 20U) - 1, 1U << 20U, (1U << 20U) + 1, (5U << 20U) / 2};
  std::vector<Bytes> data;
  for (const std::size_t size : sizes)
    data.push_back(random_bytes(size, static_cast<unsigned>(data.size())));
  std::mt19937 chance(33);
  for (const std::size_t most :
       {std::size_t{500'000}, std::size_t{65'536}, std::size_t{4'000'000}}) {
    for (const bool is_shuffled : {false, true}) {
      struct Part {
        std::size_t entry;
        std::size_t begin;
        std::size_t bytes;
      };
      std::vector<Part> parts;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        for (std::size_t at = 0; at < sizes[i];) {
          const std::size_t bytes = std::min(sizes[i] - at, 1 + chance() % most);
          parts.push_back({i, at, bytes});
          at += bytes;
        }
      }
      if (is_shuffled) std::shuffle(parts.begin(), parts.end(), chance);
      Manifest manifest = manifest_of(sizes);
      FileDigests digests(manifest);
      for (const Part& part : parts)
        digests.add(part.entry, part.begin,
                    std::span(data[part.entry]).subspan(part.begin, part.bytes));
      std::uint64_t read_again = 0;
      ASSERT_TRUE(digests.finish(
          [&](std::size_t entry, std::uint64_t offset, std::span<std::byte> bytes) -> Status {
            std::copy_n(data[entry].begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(),
                        bytes.begin());
            read_again += bytes.size();
            return Done{};
          },
          manifest));
      if (!is_shuffled) EXPECT_EQ(read_again, 0U) << most;
      for (std::size_t i = 0; i < sizes.size(); ++i)
        EXPECT_EQ(manifest.entries[i].digest, expected_digest(data[i])) << i;
    }
  }
  EXPECT_EQ(expected_digest({}), 0x2d06800538d394c2U) << "as in docs/format.md";
}

TEST(FileDigests, AreLeftOutForEntriesThatAreNotWanted) {
  Manifest manifest = manifest_of({100, 200});
  const Bytes data = random_bytes(200, 1);
  FileDigests digests(manifest, {false, true});
  digests.add(0, 0, std::span(data).first(100));
  digests.add(1, 0, data);
  ASSERT_TRUE(digests.finish(
      [](std::size_t, std::uint64_t, std::span<std::byte>) -> Status {
        return make_error(ErrorCode::io, "nothing is left to read");
      },
      manifest));
  EXPECT_EQ(manifest.entries[0].digest, 0U);
  EXPECT_EQ(manifest.entries[1].digest, expected_digest(data));
}

TEST(FileDigests, OfAFileOmitItsHoles) {
  const tests::Workshop shop;
  const std::string path = shop.path("file");
  tests::write_file(path, "abcdefghij");
  Entry entry;
  entry.file_bytes = 10;
  entry.extents = {{1, 0, 2}, {3, 900, 1}, {8, 50, 2}};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  auto digest = digest_of_file(file.get(), entry, path);
  ASSERT_TRUE(digest);
  const std::string_view data = "bcdij";
  EXPECT_EQ(*digest, expected_digest(std::as_bytes(std::span(data))));
  entry.extents.back().bytes = 3;
  digest = digest_of_file(file.get(), entry, path);
  ASSERT_TRUE(digest);
  EXPECT_EQ(*digest, std::nullopt) << "the file is too short";
}

}  // namespace
}  // namespace calpe::store
