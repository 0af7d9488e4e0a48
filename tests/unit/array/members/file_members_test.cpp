// SPDX-License-Identifier: Apache-2.0
// Members that are files: reads and writes with and without io_uring; files that are missing,
// short, deleted, replaced or in use.
#include "array/members/file_members.hpp"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/files.hpp"

namespace calpe::array {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t io_unit = 4096;

// Whole blocks, aligned for O_DIRECT.
class Block {
 public:
  explicit Block(std::size_t count = 1, int value = 0)
      : bytes_(static_cast<std::byte*>(std::aligned_alloc(io_unit, count * io_unit)), std::free),
        count_(count) {
    std::memset(bytes_.get(), value, count * io_unit);
  }
  std::span<std::byte> span() const { return {bytes_.get(), count_ * io_unit}; }
  bool is_all(int value) const {
    return std::ranges::all_of(span(),
                               [&](std::byte b) { return b == static_cast<std::byte>(value); });
  }

 private:
  std::unique_ptr<std::byte, void (*)(void*)> bytes_;
  std::size_t count_;
};

class FileMembersTest : public ::testing::TestWithParam<bool> {
 protected:
  FileMembersTest() : folder_(*TemporaryFolder::create()) {
    for (int i = 0; i < 3; ++i)
      paths_.push_back(make_file("m" + std::to_string(i), 64 * io_unit));
  }
  std::string make_file(const std::string& name, std::size_t bytes) const {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path).close();
    std::filesystem::resize_file(path, bytes);
    return path;
  }
  std::unique_ptr<FileMembers> open() const {
    auto members = FileMembers::open(paths_, MemberAccess::write);
    EXPECT_TRUE(members) << members.error().message;
    if (GetParam()) (*members)->use_uring();
    return *std::move(members);
  }
  static MemberRequest write(unsigned member, std::uint64_t offset, const Block& bytes) {
    return {.call = MemberCall::write, .member = member, .offset = offset, .bytes = bytes.span()};
  }
  static MemberRequest read(unsigned member, std::uint64_t offset, const Block& bytes) {
    return {.call = MemberCall::read, .member = member, .offset = offset, .bytes = bytes.span()};
  }
  static MemberRequest flush(unsigned member) {
    return {.call = MemberCall::flush, .member = member};
  }

  TemporaryFolder folder_;
  std::vector<std::string> paths_;
};

TEST_P(FileMembersTest, EveryKindOfWriteIsReadBack) {
  const auto members = open();
  EXPECT_EQ(members->count(), 3U);
  EXPECT_EQ(members->bytes(0), 64 * io_unit);
  EXPECT_EQ(members->bytes(3), 0U);
  for (const bool is_durable : {false, true}) {
    for (const bool is_past_cache : {false, true}) {
      const int value = 1 + 2 * static_cast<int>(is_durable) + static_cast<int>(is_past_cache);
      const Block written(3, value);
      std::vector<MemberRequest> batch;
      for (unsigned member = 0; member < 3; ++member) {
        batch.push_back(write(member, member * io_unit, written));
        batch.back().is_durable = is_durable;
        batch.back().is_past_cache = is_past_cache;
      }
      members->run(batch);
      std::vector<MemberRequest> flushes = {flush(0), flush(1), flush(2)};
      members->run(flushes);
      std::vector<Block> got;
      std::vector<MemberRequest> reads;
      for (unsigned member = 0; member < 3; ++member) {
        got.emplace_back(3);
        reads.push_back(read(member, member * io_unit, got.back()));
      }
      members->run(reads);
      for (unsigned member = 0; member < 3; ++member) {
        for (const auto* requests : {&batch, &flushes, &reads}) {
          const auto& error = (*requests)[member].error;
          EXPECT_FALSE(error) << error->message;
        }
        EXPECT_TRUE(got[member].is_all(value));
      }
    }
  }
}

TEST_P(FileMembersTest, UnalignedMemoryIsWrittenAnyway) {
  const auto members = open();
  const Block memory(2, 7);
  MemberRequest request = write(1, 0, memory);
  request.bytes = request.bytes.subspan(16, io_unit);
  request.is_past_cache = true;
  members->run({&request, 1});
  ASSERT_FALSE(request.error) << request.error->message;
  const Block got;
  MemberRequest again = read(1, 0, got);
  members->run({&again, 1});
  EXPECT_TRUE(got.is_all(7));
}

TEST_P(FileMembersTest, MoreRequestsThanTheRingHas) {
  const auto members = open();
  std::vector<Block> blocks;
  std::vector<MemberRequest> batch;
  for (int i = 0; i < 180; ++i) {
    blocks.emplace_back(1, i + 1);
    batch.push_back(
        write(static_cast<unsigned>(i % 3), static_cast<unsigned>(i / 3) * io_unit, blocks.back()));
    batch.back().is_past_cache = i % 2 == 0;
  }
  members->run(batch);
  std::vector<Block> got(180);
  for (std::size_t i = 0; i < 180; ++i) {
    EXPECT_FALSE(batch[i].error);
    batch[i].call = MemberCall::read;
    batch[i].bytes = got[i].span();
  }
  members->run(batch);
  for (std::size_t i = 0; i < 180; ++i) {
    EXPECT_FALSE(batch[i].error);
    EXPECT_TRUE(got[i].is_all(static_cast<int>(i + 1))) << i;
  }
}

TEST_P(FileMembersTest, AFailureIsReportedForItsRequestOnly) {
  const auto members = open();
  const Block one(1, 1);
  const Block got;
  std::vector<MemberRequest> batch = {write(0, 0, one), read(1, 64 * io_unit, got),
                                      write(9, 0, one), flush(2)};
  members->run(batch);
  EXPECT_FALSE(batch[0].error);
  ASSERT_TRUE(batch[1].error);
  EXPECT_THAT(batch[1].error->message, HasSubstr("m1 ends at byte 262144"));
  ASSERT_TRUE(batch[2].error);
  EXPECT_THAT(batch[2].error->message, HasSubstr("is not open"));
  EXPECT_FALSE(batch[3].error);
}

TEST_P(FileMembersTest, AMissingFileIsAnEmptySlotUntilItIsBack) {
  std::filesystem::rename(paths_[1], paths_[1] + ".away");
  const auto members = open();
  EXPECT_EQ(members->bytes(1), 0U);
  EXPECT_THAT(members->why(1), HasSubstr("No such file"));
  EXPECT_FALSE(members->put(1, paths_[1]));
  std::filesystem::rename(paths_[1] + ".away", paths_[1]);
  ASSERT_TRUE(members->put(1, paths_[1]));
  EXPECT_EQ(members->bytes(1), 64 * io_unit);
  EXPECT_EQ(members->why(1), "");
}

TEST_P(FileMembersTest, TwoProgramsNeverOpenTheSameMember) {
  auto members = open();
  for (const MemberAccess access : {MemberAccess::read, MemberAccess::write}) {
    const auto second = FileMembers::open({paths_[2]}, access);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(second.error().message, HasSubstr("is in use by another program"));
  }
  members->release(2);
  EXPECT_TRUE(FileMembers::open({paths_[2]}, MemberAccess::write));
  members.reset();
  const auto reader = FileMembers::open(paths_, MemberAccess::read);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(FileMembers::open(paths_, MemberAccess::read));
  EXPECT_FALSE(FileMembers::open(paths_, MemberAccess::write));
}

TEST_P(FileMembersTest, TheSameFileTwiceIsRefused) {
  const std::string link = folder_.path() + "/link";
  std::filesystem::create_symlink(paths_[0], link);
  const auto members = FileMembers::open({paths_[0], link}, MemberAccess::write);
  ASSERT_FALSE(members);
  EXPECT_THAT(members.error().message, HasSubstr("are the same file"));
  const auto three = open();
  EXPECT_FALSE(three->add(link));
  EXPECT_EQ(three->slot_of(link), 0U);
  EXPECT_EQ(three->slot_of(folder_.path() + "/nowhere"), std::nullopt);
}

TEST_P(FileMembersTest, AnotherFileTakesASlotWhileRequestsRun) {
  const auto members = open();
  const std::string other = make_file("other", 64 * io_unit);
  std::atomic<bool> is_over = false;
  std::thread runner([&] {
    const Block bytes(1, 5);
    while (!is_over) {
      std::vector<MemberRequest> batch = {write(1, 0, bytes), flush(1), read(1, 0, bytes)};
      members->run(batch);
      for (const MemberRequest& request : batch)
        EXPECT_FALSE(request.error && request.error->code != ErrorCode::io);
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(members->put(1, other));
    EXPECT_TRUE(members->put(1, paths_[1]));
  }
  is_over = true;
  runner.join();
  // It is no longer locked.
  EXPECT_TRUE(FileMembers::open({other}, MemberAccess::write));
}

TEST_P(FileMembersTest, ADeletedFileIsDetected) {
  const auto members = open();
  EXPECT_FALSE(members->is_deleted(0));
  std::filesystem::remove(paths_[0]);
  EXPECT_TRUE(members->is_deleted(0));
  EXPECT_FALSE(members->is_deleted(9));
}

TEST_P(FileMembersTest, SlotsAreAddedAtTheEnd) {
  const auto members = open();
  const std::string spare = make_file("spare", 128 * io_unit);
  const auto slot = members->add(spare);
  ASSERT_TRUE(slot);
  EXPECT_EQ(*slot, 3U);
  EXPECT_EQ(members->count(), 4U);
  EXPECT_EQ(members->bytes(3), 128 * io_unit);
  EXPECT_EQ(members->path(3), spare);
  EXPECT_FALSE(members->put(4, spare));
}

TEST_P(FileMembersTest, ADirectoryIsRefused) {
  const auto members = FileMembers::open({folder_.path()}, MemberAccess::read);
  ASSERT_TRUE(members);
  EXPECT_THAT((*members)->why(0), HasSubstr("neither a file nor a block device"));
}

TEST_P(FileMembersTest, APipeIsRefused) {
  const std::string path = folder_.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto members = FileMembers::open({path}, MemberAccess::read);
  ASSERT_TRUE(members);
  EXPECT_THAT((*members)->why(0), HasSubstr("neither a file nor a block device"));
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutUring, FileMembersTest, ::testing::Bool());

}  // namespace
}  // namespace calpe::array
