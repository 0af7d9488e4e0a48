// SPDX-License-Identifier: Apache-2.0
// Silent corruption: 100,000 flipped bits, old blocks, swapped blocks and misplaced blocks. Up to m
// in a column are repaired, m + 1 are an error, and no wrong byte is ever returned.
#include <gtest/gtest.h>

#include "array/judged_array.hpp"

namespace calpe::tests {
namespace {

constexpr std::uint64_t member_bytes = 400 * 1024;
constexpr std::uint64_t block = 4096;

struct CorruptionShape {
  unsigned data;
  unsigned parity;
  std::uint32_t chunk_bytes;
  std::uint64_t stripes;
};

// An array that was written twice and closed. Its disks can be damaged and restored.
class DamagedArray {
 public:
  DamagedArray(const CorruptionShape& shape, std::uint64_t seed)
      : shape_(shape),
        random_(seed),
        members_(shape.data + shape.parity, member_bytes),
        expected_(shape.stripes * shape.data * shape.chunk_bytes) {
    keep_memory();
    fill(seed);
  }

  unsigned count() const { return members_.count(); }
  unsigned parity() const { return shape_.parity; }
  Random& random() { return random_; }
  const std::vector<std::uint64_t>& live() const { return live_; }
  SimulatedMembers& members() { return members_; }

  // Replaces the block at `at` of a member with other bytes.
  void corrupt(unsigned member, std::uint64_t at) {
    std::vector<std::byte> was(block);
    members_[member].disk.read(at, was);
    std::vector<std::byte> becomes = was;
    // Not a superblock of another member: two copies of one member are refused anyway.
    const bool is_superblock = at < 2 * block;
    switch (is_superblock ? random_.below(2) : random_.below(4)) {
      case 0:
        break;
      case 1:  // the last write is missing
        becomes.assign(older_[member].begin() + static_cast<std::ptrdiff_t>(at),
                       older_[member].begin() + static_cast<std::ptrdiff_t>(at + block));
        break;
      case 2:  // a misplaced block
        members_[static_cast<unsigned>(random_.below(count()))].disk.read(any_live(), becomes);
        break;
      default:  // another member's block of the same column
        members_[static_cast<unsigned>(random_.below(count()))].disk.read(at, becomes);
        break;
    }
    if (becomes == was) becomes[random_.below(block)] ^= flipped_bit();
    members_[member].disk.write(at, becomes);
    ++injected;
  }
  void swap_blocks(unsigned member, std::uint64_t a, std::uint64_t b) {
    std::vector<std::byte> at_a(block);
    std::vector<std::byte> at_b(block);
    members_[member].disk.read(a, at_a);
    members_[member].disk.read(b, at_b);
    if (at_a == at_b) return corrupt(member, a);
    members_[member].disk.write(a, at_b);
    members_[member].disk.write(b, at_a);
    injected += 2;
  }
  std::uint64_t any_live() { return random_.pick(std::span<const std::uint64_t>(live_)); }
  void heal() { members_.undo_to(std::vector<std::size_t>(count())); }

  // Returns "" or the error.
  std::string read_all() {
    const auto array = Array::open(members_);
    if (!array) return array.error().message;
    std::vector<std::byte> all(expected_.size());
    const Status read = (*array)->read(0, all);
    if (!read) return read.error().message;
    const bool is_right = std::memcmp(all.data(), expected_.data(), all.size()) == 0;
    return is_right ? members_.complaint() : "wrong bytes";
  }
  std::unique_ptr<Array> opened() {
    auto array = Array::open(members_);
    EXPECT_TRUE(array.has_value()) << array.error().message;
    return array ? std::move(*array) : nullptr;
  }
  const std::vector<std::byte>& expected() const { return expected_; }

  std::uint64_t injected = 0;

 private:
  std::byte flipped_bit() { return static_cast<std::byte>(1U << random_.below(8)); }

  void fill(std::uint64_t seed) {
    const array::Settings settings = {
        .spec = {.data_shards = static_cast<std::uint16_t>(shape_.data),
                 .parity_shards = static_cast<std::uint16_t>(shape_.parity)},
        .bytes = expected_.size(),
        .chunk_bytes = shape_.chunk_bytes,
        .log_bytes = 64 * 1024,
        .spare_slots = 2};
    ASSERT_TRUE(array::create(members_, settings, uuid_of(seed)).has_value());
    for (int round = 0; round < 2; ++round) {
      const std::unique_ptr<Array> array = opened();
      ASSERT_NE(array, nullptr);
      fill_fast(random_, expected_);
      ASSERT_TRUE(array->write(0, expected_, Durability::cached).has_value());
      for (std::uint64_t at = 0; at < expected_.size(); at += 3 * block) {  // also in place
        const auto part = std::span(expected_).subspan(at, block);
        fill_fast(random_, part);
        ASSERT_TRUE(array->write(at, part, Durability::cached).has_value());
      }
      ASSERT_TRUE(array->close().has_value());
      members_.forget_synced();
      for (unsigned i = 0; round == 0 && i < count(); ++i) {
        const auto content = members_[i].disk.content();
        older_.emplace_back(content.begin(), content.end());
      }
    }
    find_live();
  }
  // Finds the blocks of members that hold data, by damaging every block of one.
  void find_live() {
    for (std::uint64_t at = 0; at < member_bytes; at += block) {
      std::vector<std::byte> bytes(block);
      members_[0].disk.read(at, bytes);
      bytes[17] ^= std::byte{4};
      members_[0].disk.write(at, bytes);
      const std::unique_ptr<Array> array = opened();
      const auto scrubbed = array->scrub_step(0, expected_.size());
      ASSERT_TRUE(scrubbed.has_value()) << scrubbed.error().message;
      if (scrubbed->blocks_wrong[0] == 1) live_.push_back(at);
      heal();
    }
    ASSERT_EQ(live_.size(), shape_.stripes * shape_.chunk_bytes / block);
  }

  CorruptionShape shape_;
  Random random_;
  SimulatedMembers members_;
  std::vector<std::byte> expected_;
  std::vector<std::vector<std::byte>> older_;
  std::vector<std::uint64_t> live_;
};

constexpr CorruptionShape shapes[] = {
    {.data = 4, .parity = 2, .chunk_bytes = 8192, .stripes = 6},
    {.data = 3, .parity = 1, .chunk_bytes = 4096, .stripes = 8},
    {.data = 8, .parity = 3, .chunk_bytes = 4096, .stripes = 8},
    {.data = 10, .parity = 4, .chunk_bytes = 4096, .stripes = 6},
};
constexpr std::uint64_t injected_least = 100'000;

// Up to m blocks of every column.
void spoil_columns(DamagedArray& array) {
  Random& random = array.random();
  for (const std::uint64_t at : array.live()) {
    const auto wrong = static_cast<unsigned>(random.below(array.parity() + 1));
    for (const unsigned member : random_set(random, array.count(), wrong)) {
      array.corrupt(member, at);
    }
  }
}

TEST(ArrayCorruption, UpToParityInEveryColumnAreRepaired) {
  std::uint64_t injected = 0;
  std::uint64_t rounds = 0;
  for (const CorruptionShape& shape : shapes) {
    DamagedArray array(shape, array_seed());
    while (array.injected < injected_least / 5 && !testing::Test::HasFailure()) {
      ++rounds;
      const std::uint64_t before = array.injected;
      spoil_columns(array);
      const bool reads_first = rounds % 2 == 0;
      if (reads_first) {
        ASSERT_EQ(array.read_all(), "");
      }
      const std::unique_ptr<Array> opened = array.opened();
      ASSERT_NE(opened, nullptr);
      const auto scrubbed = opened->scrub_step(0, opened->bytes());
      ASSERT_TRUE(scrubbed.has_value()) << scrubbed.error().message;
      const std::uint64_t wrong = std::accumulate(scrubbed->blocks_wrong.begin(),
                                                  scrubbed->blocks_wrong.end(), std::uint64_t{0});
      if (!reads_first) {
        ASSERT_EQ(wrong, array.injected - before);
      }
      ASSERT_EQ(scrubbed->blocks_repaired, wrong);
      ASSERT_EQ(scrub_all(*opened), "");
      ASSERT_TRUE(opened->close().has_value());
      // The repairs are complete: any m members may be lost.
      const Roles lost = random_set(array.random(), array.count(), array.parity());
      ASSERT_EQ(read_without(array.members(), lost, array.expected()), "");
      array.heal();
    }
    injected += array.injected;
  }
  std::cout << injected << " blocks made wrong in " << rounds << " rounds, up to m of a column: "
            << "all repaired; CALPE_ARRAY_SEED=" << array_seed() << "\n";
}

TEST(ArrayCorruption, AnythingOnUpToParityMembers) {
  std::uint64_t injected = 0;
  for (const CorruptionShape& shape : shapes) {
    DamagedArray array(shape, array_seed());
    Random& random = array.random();
    while (array.injected < injected_least / 20 && !testing::Test::HasFailure()) {
      for (const unsigned member : random_set(random, array.count(), array.parity())) {
        // Including superblocks, log, index and checksums.
        for (std::uint64_t i = random.between<std::uint64_t>(1, 40); i > 0; --i) {
          const std::uint64_t at = block * random.below(member_bytes / block);
          random.one_in(4) ? array.swap_blocks(member, at, array.any_live())
                           : array.corrupt(member, at);
        }
      }
      ASSERT_EQ(array.read_all(), "");
      array.heal();
    }
    injected += array.injected;
  }
  std::cout << injected << " blocks made wrong anywhere on m members: 0 wrong bytes; "
            << "CALPE_ARRAY_SEED=" << array_seed() << "\n";
}

TEST(ArrayCorruption, OneMoreThanParityIsAnErrorAndNeverWrongBytes) {
  std::uint64_t refused = 0;
  std::uint64_t injected = 0;
  for (const CorruptionShape& shape : shapes) {
    DamagedArray array(shape, array_seed());
    while (array.injected < injected_least / 100 && !testing::Test::HasFailure()) {
      const std::uint64_t at = array.any_live();
      for (const unsigned member : random_set(array.random(), array.count(), array.parity() + 1)) {
        array.corrupt(member, at);
      }
      const std::unique_ptr<Array> opened = array.opened();
      ASSERT_NE(opened, nullptr);
      std::vector<std::byte> bytes(block);
      unsigned errors = 0;
      for (std::uint64_t from = 0; from < opened->bytes(); from += block) {
        const Status read = opened->read(from, bytes);
        if (!read) {
          ++errors;
          ASSERT_EQ(read.error().code, ErrorCode::corrupt) << read.error().message;
          continue;
        }
        const auto right = std::span(array.expected()).subspan(from, block);
        ASSERT_TRUE(std::ranges::equal(bytes, right)) << "wrong bytes at " << from;
      }
      // At least one of m + 1 is data; parity is not read here.
      ASSERT_GE(errors, 1U);
      ASSERT_LE(errors, array.parity() + 1);
      const auto scrubbed = opened->scrub_step(0, opened->bytes());
      ASSERT_TRUE(scrubbed.has_value()) << scrubbed.error().message;
      ASSERT_EQ(scrubbed->columns_lost, 1U);
      refused += errors;
      array.heal();
    }
    injected += array.injected;
  }
  std::cout << injected << " blocks made wrong, m + 1 of a column: " << refused
            << " reads refused, 0 wrong bytes; CALPE_ARRAY_SEED=" << array_seed() << "\n";
}

}  // namespace
}  // namespace calpe::tests
