// SPDX-License-Identifier: Apache-2.0
// Concurrent changes to an array while a call looks up its blocks. A request to a member triggers
// the change, so the tests are deterministic and need no threads.
#include <gtest/gtest.h>

#include "array/array.hpp"
#include "support/memory_members.hpp"
#include "support/random_choice.hpp"

namespace calpe::array {
namespace {

using conformance::random_bytes;

Settings settings_of(unsigned data, unsigned parity, std::uint32_t chunk_bytes, unsigned stripes) {
  Settings settings;
  settings.spec.data_shards = static_cast<std::uint16_t>(data);
  settings.spec.parity_shards = static_cast<std::uint16_t>(parity);
  settings.chunk_bytes = chunk_bytes;
  settings.bytes = std::uint64_t{chunk_bytes} * data * stripes;
  settings.log_bytes = 65536;
  return settings;
}

// An array that caches only changed checksums, so that each call reads the others.
class Watched {
 public:
  Watched(const Settings& settings, std::uint64_t member_bytes)
      : members_(settings.spec.data_shards + settings.spec.parity_shards, member_bytes) {
    Uuid uuid = {};
    uuid[0] = std::byte{9};
    EXPECT_TRUE(create(members_, settings, uuid));
    auto opened = Array::open(members_, {.cache_bytes = 0});
    EXPECT_TRUE(opened) << opened.error().message;
    if (opened) array_ = *std::move(opened);
  }

  Array& array() { return *array_; }
  // Runs once, before the first request for which `is_when` is true.
  void at_request(std::function<bool(const MemberRequest&)> is_when,
                  std::function<void()> happens) {
    happened_ = false;
    members_.on_request = [this, is_when = std::move(is_when),
                           happens = std::move(happens)](const MemberRequest& request) {
      if (happened_ || !is_when(request)) return;
      happened_ = true;
      happens();
    };
  }
  bool happened() const { return happened_; }

 private:
  MemoryMembers members_;
  std::unique_ptr<Array> array_;
  bool happened_ = false;
};

// 4+2 with chunks of one block, so block i of stripe 0 belongs to role i. All blocks are old and in
// place, except one that waits for a commit.
class ArrayMeanwhile : public testing::Test {
 protected:
  static constexpr std::uint64_t block = 4096;

  ArrayMeanwhile() : watched_(settings_of(4, 2, block, 8), 1 << 20) {
    bytes_ = random_bytes(array().bytes(), 1);
    EXPECT_TRUE(array().write(0, bytes_, Durability::durable));
    EXPECT_TRUE(array().checkpoint());
  }
  Array& array() { return watched_.array(); }

  void write(std::uint64_t offset, std::size_t count, std::uint64_t seed) {
    const auto content = random_bytes(count, seed);
    std::copy(content.begin(), content.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    EXPECT_TRUE(array().write(offset, content, Durability::cached));
  }
  // The role goes out and misses a commit while the next call reads its first checksums.
  void role_leaves(unsigned role) {
    const auto leave = [this, role] {
      EXPECT_TRUE(array().fail(role));
      EXPECT_TRUE(array().flush());
    };
    watched_.at_request([](const MemberRequest&) { return true; }, leave);
  }
  void expect_read(std::uint64_t offset, std::size_t count) {
    std::vector<std::byte> read(count);
    const Status status = array().read(offset, read);
    ASSERT_TRUE(status) << status.error().message;
    const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), from));
  }

  Watched watched_;
  std::vector<std::byte> bytes_;
};

TEST_F(ArrayMeanwhile, BlockOfAMemberThatLeavesIsNotItsOldOne) {
  write(0, block, 2);
  role_leaves(0);
  expect_read(0, block);
  EXPECT_TRUE(watched_.happened());
}

TEST_F(ArrayMeanwhile, PartOfABlockOfAMemberThatLeavesIsNotItsOldOne) {
  write(block, block, 2);
  role_leaves(1);
  expect_read(block - 96, 200);
  EXPECT_TRUE(watched_.happened());
}

TEST_F(ArrayMeanwhile, ParityIsNotMadeOfTheOldBlockOfAMemberThatLeaves) {
  write(block, block, 2);
  role_leaves(1);
  write(2 * block, 2 * block, 3);  // parity from blocks 0 and 1, as these are fewer
  EXPECT_TRUE(watched_.happened());
  expect_read(0, bytes_.size());
}

// The checksums of a chunk that spans two pages are looked up page by page. The target of the
// second request tells which chunk that is; all others are committed while data is read.
TEST(ArrayMeanwhileTwoPages, BlockThatIsCommittedMeanwhileIsNotTheOldZeros) {
  constexpr std::uint32_t chunk = 3 * 4096;
  constexpr unsigned stripes = 180;
  Watched watched(settings_of(2, 1, chunk, stripes), 4 << 20);
  Array& array = watched.array();
  unsigned in_two_pages = 0;
  for (unsigned stripe = 0; stripe < stripes; ++stripe) {
    const std::uint64_t at = std::uint64_t{2} * chunk * stripe;
    std::vector<std::byte> expected(chunk);
    const auto middle = random_bytes(4096, stripe);
    std::copy(middle.begin(), middle.end(), expected.begin() + 4096);
    ASSERT_TRUE(array.write(at, expected, Durability::durable));
    ASSERT_TRUE(array.checkpoint());
    const auto first = random_bytes(4096, stripes + stripe);
    std::copy(first.begin(), first.end(), expected.begin());
    ASSERT_TRUE(array.write(at, first, Durability::cached));
    std::uint64_t page_at = 0;
    const auto is_elsewhere = [&](const MemberRequest& request) {
      if (page_at == 0) page_at = request.offset;
      if (request.offset == page_at) return false;
      if (request.offset - page_at < 4 * 4096) ++in_two_pages;
      return true;
    };
    watched.at_request(is_elsewhere, [&] { EXPECT_TRUE(array.flush()); });
    std::vector<std::byte> read(chunk);
    ASSERT_TRUE(array.read(at, read));
    EXPECT_EQ(read, expected) << "stripe " << stripe;
  }
  EXPECT_EQ(in_two_pages, 1U);
}

}  // namespace
}  // namespace calpe::array
