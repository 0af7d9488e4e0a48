// SPDX-License-Identifier: Apache-2.0
// Batched transfers give the same result as sequential ones.
#include "store/io/uring_files.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "store/read/verify_set.hpp"
#include "store/repair/repair_set.hpp"
#include "store/write/protect.hpp"
#include "support/expected_set.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::MemorySource;
using tests::random_bytes;
using tests::snapshot;
using tests::Workshop;

class Uring : public testing::Test {
 protected:
  void SetUp() override {
    const auto files = uring_files();
    if (!files) GTEST_SKIP() << files.error().message;
    files_ = *files;
  }
  FileSystem& files() { return *files_; }

 private:
  FileSystem* files_ = nullptr;
};

// With block sizes that allow direct I/O, and with others.
TEST_F(Uring, MakesTheSameShards) {
  for (const std::uint32_t block_bytes : {64U, 4096U, 65536U}) {
    for (const unsigned jobs : {1U, 3U}) {
      SCOPED_TRACE(testing::Message() << block_bytes << " " << jobs);
      const Workshop shop;
      ProtectOptions options = {.spec = {.data_shards = 3, .parity_shards = 2},
                                .targets = {shop.path("uring/a"), shop.path("uring/b")},
                                .name = "photos",
                                .block_bytes = block_bytes,
                                .jobs = jobs};
      options.uuid.fill(std::byte{3});
      const std::size_t stripes = block_bytes > 4096 ? 65 : 520;
      const Bytes content = random_bytes(block_bytes * 3 * stripes + 99);
      MemorySource source(content);
      ASSERT_TRUE(protect(files(), source, options).has_value());
      options.targets = {shop.path("threads/a"), shop.path("threads/b")};
      MemorySource again(content);
      ASSERT_TRUE(protect(posix_files(), again, options).has_value());
      const auto made = snapshot(shop.path("uring"));
      const auto expected = snapshot(shop.path("threads"));
      ASSERT_EQ(made.size(), 5U);
      auto other = expected.begin();
      for (const auto& [path, bytes] : made) {
        EXPECT_EQ(bytes, (other++)->second) << path;
      }
    }
  }
}

TEST_F(Uring, VerifiesAndRepairsDamage) {
  const Workshop shop;
  const ProtectOptions options = {.spec = {.data_shards = 3, .parity_shards = 2},
                                  .targets = {shop.path("a")},
                                  .name = "photos",
                                  .block_bytes = 4096};
  MemorySource source(random_bytes(4096 * 3 * 700));
  const auto made = protect(files(), source, options);
  ASSERT_TRUE(made.has_value());
  const auto whole = snapshot(shop.path(""));
  std::filesystem::remove(made->paths[0]);
  std::filesystem::resize_file(made->paths[1], 4096 * 100 + 50);
  const auto found = find_sets(files(), {shop.path("a")});
  ASSERT_TRUE(found.has_value());
  const auto report = verify_set(files(), found->sets.at(0), false, 2);
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->is_good());
  EXPECT_TRUE(report->is_repairable());
  ASSERT_TRUE(repair_set(files(), found->sets.at(0), {.jobs = 2}).has_value());
  EXPECT_EQ(snapshot(shop.path("")), whole);
}

// Transfers that the kernel cuts short or refuses are completed or reported like a single write.
TEST_F(Uring, ReportsAWriteBeyondTheLimit) {
  const Workshop shop;
  auto file = files().create(shop.path("file"));
  ASSERT_TRUE(file.has_value());
  auto other = files().create(shop.path("other"));
  ASSERT_TRUE(other.has_value());
  constexpr std::size_t bytes = std::size_t{1} << 17U;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(4096, bytes));
  std::fill_n(memory, bytes, std::byte{7});
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_EQ(signal(SIGXFSZ, SIG_IGN) == SIG_ERR, false);
  const rlimit limit = {.rlim_cur = 2 * bytes - 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::span<const std::byte> all(memory, bytes);
  const std::vector<Write> writes = {{file->get(), all, bytes}, {other->get(), all, 0}};
  const Status done = files().write_all(writes);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().message, "cannot write " + shop.path("file") + ": File too large");
  EXPECT_EQ(*(*other)->size(), bytes);
  std::free(memory);
}

TEST_F(Uring, ReadsUpToTheEnd) {
  const Workshop shop;
  shop.write("file", "0123456789");
  auto file = files().open(shop.path("file"));
  ASSERT_TRUE(file.has_value());
  std::vector<Bytes> targets(100, Bytes(4));
  std::vector<Read> reads;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    reads.push_back({file->get(), targets[i], i % 12});
  }
  files().read_all(reads);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::size_t at = i % 12;
    EXPECT_EQ(reads[i].got, at >= 10 ? 0 : std::min<std::size_t>(4, 10 - at));
    for (std::size_t j = 0; j < reads[i].got; ++j) {
      EXPECT_EQ(std::to_integer<char>(targets[i][j]), static_cast<char>('0' + at + j));
    }
  }
}

}  // namespace
}  // namespace calpe::store
