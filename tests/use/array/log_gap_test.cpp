// SPDX-License-Identifier: Apache-2.0
// If no member has a batch of the log, but one has a later batch, acknowledged writes are lost and
// the array must report it. A torn last batch looks the same, except that nothing follows it.
#include <gtest/gtest.h>

#include "array/judged_array.hpp"
#include "array/log_on_disk.hpp"

namespace calpe::tests {
namespace {

constexpr unsigned data = 4;
constexpr unsigned parity = 2;
constexpr std::uint32_t chunk = 8192;
constexpr std::uint64_t stripes = 20;
constexpr std::uint64_t log_bytes = 262144;
constexpr std::uint64_t writes = 20;
constexpr std::uint64_t block = 4096;

class LogGap : public testing::Test {
 protected:
  LogGap() : members_(data + parity, 1 << 20), uuid_(uuid_of(array_seed())) {
    array::Settings settings;
    settings.spec.data_shards = data;
    settings.spec.parity_shards = parity;
    settings.chunk_bytes = chunk;
    settings.bytes = stripes * data * chunk;
    settings.log_bytes = log_bytes;
    settings.spare_slots = 4;
    EXPECT_TRUE(array::create(members_, settings, uuid_));
    const std::vector<std::byte> old(settings.bytes, std::byte{'0'});
    auto array = Array::open(members_);
    EXPECT_TRUE(array && (*array)->write(0, old, Durability::durable) && (*array)->close());
    array = Array::open(members_);
    expected_ = old;
    for (std::uint64_t i = 0; i < writes; ++i) {
      const std::vector<std::byte> bytes(block, std::byte(65 + i));
      const std::uint64_t offset = i * data * chunk;
      EXPECT_TRUE((*array)->write(offset, bytes, Durability::durable));
      std::ranges::copy(bytes, expected_.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    array->reset();
    // Nothing was written in place.
    members_.cut_power(std::vector<std::size_t>(members_.count()));
    members_.forget_synced();
    generation_ = array::inspect(members_)->generation;
  }

  // Five batches of the same members; each starts where the previous one ends.
  void write_one_block_often() {
    auto array = Array::open(members_);
    ASSERT_TRUE(array);
    for (unsigned i = 0; i < 5; ++i) {
      const std::vector<std::byte> bytes(block, std::byte(97 + i));
      ASSERT_TRUE((*array)->write(0, bytes, Durability::durable));
    }
    array->reset();
    members_.cut_power(std::vector<std::size_t>(members_.count()));
    members_.forget_synced();
    generation_ = array::inspect(members_)->generation;
  }

  // Places that hold the header of a batch.
  Roles holders(std::uint64_t sequence) {
    Roles all;
    for (unsigned place = 0; place < members_.count(); ++place) {
      if (header(place, sequence)) all.push_back(place);
    }
    return all;
  }
  std::optional<HeaderOnDisk> header(unsigned place, std::uint64_t sequence) {
    for (const HeaderOnDisk& one : headers_of(members_[place], uuid_, log_bytes)) {
      if (one.position == BatchPosition{generation_, sequence}) return one;
    }
    return std::nullopt;
  }
  void spoil(unsigned place, std::uint64_t sequence) {
    const auto found = header(place, sequence);
    ASSERT_TRUE(found);
    const std::vector<std::byte> wrong(8, std::byte{0xFF});
    members_[place].disk.write(found->at + 100, wrong);
  }
  // Returns "" or why the array does not open.
  std::string refusal() {
    const auto array = Array::open(members_);
    return array ? "" : array.error().message;
  }
  std::string read_all() {
    std::vector<std::byte> all(expected_.size());
    std::string wrong = open_and_read(members_, all);
    if (wrong.empty() && all != expected_) wrong = "reads differently";
    return wrong;
  }
  bool is_gap(const std::string& message) const {
    return message.find("the log has a gap") != std::string::npos;
  }

  SimulatedMembers members_;
  Uuid uuid_;
  std::uint64_t generation_ = 0;
  std::vector<std::byte> expected_;
};

TEST_F(LogGap, BatchThatEveryMemberLostIsReported) {
  std::uint64_t refused = 0;
  for (std::uint64_t sequence = 1; sequence < writes; ++sequence) {
    const std::vector<std::size_t> marks = members_.marks();
    const Roles all = holders(sequence);
    ASSERT_EQ(all.size(), 1 + parity) << "batch " << sequence;
    for (unsigned i = 0; i < parity; ++i) {
      spoil(all[i], sequence);
    }
    // With m damaged logs nothing is lost.
    const std::vector<std::size_t> spoiled = members_.marks();
    EXPECT_EQ(read_all(), "") << "batch " << sequence;
    members_.undo_to(spoiled);
    spoil(all[parity], sequence);
    const std::string message = refusal();
    EXPECT_TRUE(is_gap(message)) << "batch " << sequence << ": " << message;
    refused += is_gap(message) ? 1 : 0;
    members_.undo_to(marks);
  }
  EXPECT_EQ(refused, writes - 1);
  EXPECT_EQ(read_all(), "");
}

TEST_F(LogGap, MembersThatComeBackCloseTheGap) {
  for (std::uint64_t sequence = 1; sequence < writes; ++sequence) {
    const std::vector<std::size_t> marks = members_.marks();
    const Roles all = holders(sequence);
    spoil(all[parity], sequence);
    for (unsigned i = 0; i < parity; ++i) {
      members_[all[i]].is_there = false;
    }
    const std::string message = refusal();
    EXPECT_TRUE(is_gap(message)) << "batch " << sequence << ": " << message;
    EXPECT_NE(message.find(text("member ", all[0], ": it is missing")), std::string::npos)
        << message;
    for (unsigned i = 0; i < parity; ++i) {
      members_[all[i]].is_there = true;
    }
    EXPECT_EQ(read_all(), "") << "batch " << sequence;
    members_.undo_to(marks);
  }
}

TEST_F(LogGap, UnreadableSectorsDoNotEndTheLog) {
  constexpr std::uint64_t sequence = 7;
  for (const unsigned place : holders(sequence)) {
    members_[place].unreadable.insert(header(place, sequence)->at / sector_bytes);
  }
  EXPECT_TRUE(is_gap(refusal()));
}

// Without a batch, the start of the next one is unknown.
TEST_F(LogGap, SearchesTheWholeLogForLaterBatches) {
  write_one_block_often();
  const Roles all = holders(2);
  ASSERT_EQ(all, holders(3));
  const std::vector<std::size_t> marks = members_.marks();
  for (const unsigned place : all) {
    spoil(place, 2);
  }
  EXPECT_TRUE(is_gap(refusal()));
  members_.undo_to(marks);
  for (const unsigned place : all) {
    members_[place].unreadable.insert(header(place, 2)->at / sector_bytes);
  }
  EXPECT_TRUE(is_gap(refusal())) << "unreadable";
}

// Only a later batch proves a loss. A batch that was being written at the power cut is dropped.
TEST_F(LogGap, TornLastBatchIsDroppedSilently) {
  for (const unsigned place : holders(writes)) {
    spoil(place, writes);
  }
  std::fill_n(expected_.begin() + static_cast<std::ptrdiff_t>((writes - 1) * data * chunk), block,
              std::byte{'0'});
  EXPECT_EQ(read_all(), "");
}

TEST_F(LogGap, TwoBatchesInARow) {
  for (const std::uint64_t sequence : {writes - 2, writes - 1}) {
    for (const unsigned place : holders(sequence)) {
      spoil(place, sequence);
    }
  }
  EXPECT_TRUE(is_gap(refusal()));
}

// All newest superblocks are lost, but the previous ones exist: the log has a later generation.
TEST_F(LogGap, BatchesOfALaterGenerationAreReported) {
  for (unsigned place = 0; place < members_.count(); ++place) {
    const auto newest = superblock_of(members_[place]);
    ASSERT_TRUE(newest);
    for (std::uint64_t copy = 0; copy < 2; ++copy) {
      const auto at = members_[place].disk.content().subspan(copy * block, block);
      if (std::memcmp(at.data(), newest->image.data(), block) == 0) at[2000] ^= std::byte{1};
    }
  }
  const std::string message = refusal();
  EXPECT_TRUE(is_gap(message)) << message;
}

}  // namespace
}  // namespace calpe::tests
