// SPDX-License-Identifier: Apache-2.0
// Compares offsets in shard files with a walk through the file.
#include "store/format/geometry.hpp"

#include <gtest/gtest.h>

namespace calpe::store {
namespace {

// Visits every block and checksum, in the order of the file.
void walk(const Geometry& geometry) {
  std::uint64_t at = 4096;
  std::uint64_t group = 0;
  for (std::uint64_t first = 0; first < geometry.stripe_count; first += 512, ++group) {
    ASSERT_EQ(geometry.group_offset(group), at);
    std::uint64_t stripe = first;
    for (; stripe < geometry.stripe_count && stripe < first + 512; ++stripe) {
      ASSERT_EQ(geometry.block_offset(stripe), at) << stripe;
      at += geometry.block_bytes;
    }
    ASSERT_EQ(geometry.stripes_in_group(group), stripe - first);
    for (std::uint64_t page = 0; page < geometry.page_count; ++page, at += 4096) {
      for (std::uint64_t s = first; s < stripe; ++s) {
        ASSERT_EQ(geometry.checksum_offset(s, page), at + (s - first) * 8) << s;
      }
    }
  }
  EXPECT_EQ(geometry.body_end(), at);
}

TEST(Geometry, OffsetsMatchAWalk) {
  for (const std::uint64_t stripes : {0U, 1U, 2U, 511U, 512U, 513U, 1023U, 1024U, 1025U, 3000U}) {
    for (const std::uint64_t block : {64U, 128U, 4096U, 65536U, 1U << 24U}) {
      for (const std::uint64_t pages : {1U, 2U, 11U, 256U}) {
        walk({.block_bytes = block, .stripe_count = stripes, .page_count = pages});
        ASSERT_FALSE(testing::Test::HasFailure()) << stripes << " " << block << " " << pages;
      }
    }
  }
}

TEST(Geometry, OfAHeader) {
  ShardHeader header;
  header.block_bytes = 128;
  header.stripe_count = 600;
  header.manifest_bytes = 77;
  header.spec.data_shards = 10;
  EXPECT_EQ(geometry_of(header).page_count, 1U);
  EXPECT_EQ(shard_file_bytes(header), 8192U + 600 * 128 + 2 * 4096);
  header.kind = SetKind::originals;
  EXPECT_EQ(geometry_of(header).page_count, 12U);
  EXPECT_EQ(shard_file_bytes(header), 8192U + 600 * 128 + 2 * 12 * 4096 + 77);
  EXPECT_EQ(list_offsets(header).size(), 1U);
}

TEST(Geometry, OfTwoFileLists) {
  ShardHeader header;
  header.version = header_version_digests;
  header.kind = SetKind::originals;
  header.block_bytes = 128;
  header.stripe_count = 600;
  header.manifest_bytes = 77;
  header.spec.data_shards = 10;
  header.manifest_offset = geometry_of(header).body_end();
  EXPECT_EQ(shard_file_bytes(header), 8192U + 600 * 128 + 2 * 12 * 4096 + 77 + 4096 + 77);
  const std::uint64_t first = header.manifest_offset;
  EXPECT_EQ(list_offsets(header), (std::vector<std::uint64_t>{first, first + 77 + 4096}));
  const std::vector<std::byte> manifest(77, std::byte{7});
  const std::vector<ListPart> parts = list_parts(header, manifest);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1].offset, first + 77);
  EXPECT_EQ(parts[1].bytes.size(), 4096U);
  EXPECT_EQ(parts[2].offset + parts[2].bytes.size() + header_bytes, shard_file_bytes(header));
}

TEST(Geometry, BlockSizeSuitsTheContent) {
  EXPECT_EQ(choose_block_bytes(0, 10), 65536U);
  EXPECT_EQ(choose_block_bytes(1, 10), 64U);
  EXPECT_EQ(choose_block_bytes(640, 10), 64U);
  EXPECT_EQ(choose_block_bytes(641, 10), 128U);
  EXPECT_EQ(choose_block_bytes(655360, 10), 65536U);
  EXPECT_EQ(choose_block_bytes(655361, 10), 65536U);
  EXPECT_EQ(choose_block_bytes(~std::uint64_t{0}, 1), 65536U);
}

}  // namespace
}  // namespace calpe::store
