// SPDX-License-Identifier: Apache-2.0
// Block checksums: stable across versions, and different for every name.
#include "store/format/block_checksum.hpp"

#include <array>
#include <gtest/gtest.h>
#include <set>
#include <string_view>
#include <vector>

namespace calpe::store {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

BlockName sample() {
  BlockName name;
  for (std::size_t i = 0; i < name.uuid.size(); ++i) {
    name.uuid[i] = static_cast<std::byte>(i + 1);
  }
  name.generation = 2;
  name.stripe = 0x0102030405060708;
  name.shard = 13;
  return name;
}

TEST(BlockChecksum, GoldenValues) {
  EXPECT_EQ(plain_checksum({}), 0x2D06800538D394C2U);  // published with XXH3
  EXPECT_EQ(plain_checksum(bytes_of("calpe")), 0x04BAB9EAB26FBD77U);
  std::vector<std::byte> block(65536);
  for (std::size_t i = 0; i < block.size(); ++i) {
    block[i] = static_cast<std::byte>(i * 7 + i / 256);
  }
  EXPECT_EQ(plain_checksum(block), 0x9AE973F97C1F3EBAU);
  EXPECT_EQ(block_mask(sample()), 0x4BFDED7704BB130EU);
  EXPECT_EQ(block_checksum(sample(), block), 0x9AE973F97C1F3EBAU ^ 0x4BFDED7704BB130EU);
}

// At every length and alignment, with the instructions of this CPU. The sum was computed with the
// SSE2 code of xxHash.
TEST(BlockChecksum, EveryLength) {
  std::vector<std::byte> bytes(5000);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  }
  std::uint64_t sum = 0;
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    sum = sum * 31 + plain_checksum(std::span(bytes).last(length));
  }
  EXPECT_EQ(sum, 0xD9BC222CFA9C24E7U);
}

// The 40 bytes of docs/format.md, assembled by hand.
TEST(BlockChecksum, MaskIsTheHashOfTheName) {
  std::array<unsigned char, 40> name = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2,
                                        0, 0, 0, 0, 0, 0, 0, 8, 7, 6,  5,  4,  3,  2,  1,  13};
  EXPECT_EQ(block_mask(sample()), plain_checksum(std::as_bytes(std::span(name))));
}

TEST(BlockChecksum, EveryBitOfTheNameCounts) {
  std::set<std::uint64_t> masks = {block_mask(sample())};
  for (std::size_t bit = 0; bit < 64; ++bit) {
    const std::uint64_t flip = std::uint64_t{1} << bit;
    BlockName name = sample();
    name.generation ^= flip;
    masks.insert(block_mask(name));
    name = sample();
    name.stripe ^= flip;
    masks.insert(block_mask(name));
    name = sample();
    name.shard ^= flip;
    masks.insert(block_mask(name));
  }
  for (std::size_t bit = 0; bit < 128; ++bit) {
    BlockName name = sample();
    name.uuid[bit / 8] ^= std::byte{1} << (bit % 8);
    masks.insert(block_mask(name));
  }
  EXPECT_EQ(masks.size(), 1U + 3 * 64 + 128);
}

TEST(BlockChecksum, CanBeRenamedWithoutTheBlock) {
  BlockName after = sample();
  after.generation = 3;
  const auto block = bytes_of("some block or other");
  EXPECT_EQ(renamed_checksum(block_checksum(sample(), block), sample(), after),
            block_checksum(after, block));
}

}  // namespace
}  // namespace calpe::store
