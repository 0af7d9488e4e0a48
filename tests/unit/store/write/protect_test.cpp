// SPDX-License-Identifier: Apache-2.0
// Sets are created byte for byte as docs/format.md specifies.
#include "store/write/protect.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/expected_set.hpp"
#include "support/faulty_files.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::expected_file;
using tests::FaultyFiles;
using tests::make_targets;
using tests::MemorySource;
using tests::random_bytes;
using tests::read_whole;
using tests::snapshot;
using tests::Workshop;

struct Case {
  CodeSpec spec;
  std::uint32_t block_bytes = 0;
  std::size_t content_bytes = 0;
  unsigned jobs = 1;
  bool is_size_known = true;
};

void expect_set(const Case& test) {
  SCOPED_TRACE(testing::Message() << test.spec.data_shards << "+" << test.spec.parity_shards
                                  << ", blocks of " << test.block_bytes << ", "
                                  << test.content_bytes << " bytes, " << test.jobs << " jobs");
  const Workshop shop;
  const Bytes content = random_bytes(test.content_bytes);
  MemorySource source(content, test.is_size_known);
  std::uint64_t last_done = 0;
  const auto caller = std::this_thread::get_id();
  ProtectOptions options = {.spec = test.spec,
                            .targets = {shop.path("a"), shop.path("b/"), shop.path("c/d")},
                            .name = "photos",
                            .block_bytes = test.block_bytes,
                            .jobs = test.jobs};
  options.on_progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    // A content that ends within the first stripe was read ahead to choose the block size.
    const bool is_known = test.is_size_known || content.size() < test.spec.data_shards * 65536U;
    EXPECT_EQ(all, is_known ? content.size() : 0);
    EXPECT_GE(done, last_done);
    EXPECT_LE(done, content.size());
    last_done = done;
  };
  make_targets(options);
  FaultyFiles files;
  files.skip_syncs();
  const auto set = protect(files, source, options);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  if (test.jobs == 1) {
    EXPECT_EQ(last_done, content.size());
  }

  const std::size_t shards = test.spec.data_shards + test.spec.parity_shards;
  const std::uint64_t stripe_bytes = std::uint64_t{set->header.block_bytes} * test.spec.data_shards;
  EXPECT_EQ(set->header.stripe_count, (content.size() + stripe_bytes - 1) / stripe_bytes);
  EXPECT_EQ(set->header.content_bytes, content.size());
  if (test.block_bytes != 0) {
    EXPECT_EQ(set->header.block_bytes, test.block_bytes);
  }
  EXPECT_EQ(set->header.name, "photos");
  EXPECT_NE(set->header.uuid, Uuid{});
  ASSERT_EQ(set->paths.size(), shards);
  EXPECT_EQ(snapshot(shop.path("")).size(), shards);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const std::string number = std::to_string(1000 + shard).substr(1);
    ASSERT_EQ(std::filesystem::path(set->paths[shard]).filename(), "photos.s" + number + ".calpe");
    ASSERT_TRUE(read_whole(set->paths[shard]) == expected_file(set->header, content, shard))
        << set->paths[shard];
  }
}

constexpr CodeSpec code_1_1 = {.data_shards = 1, .parity_shards = 1};
constexpr CodeSpec code_3_2 = {.data_shards = 3, .parity_shards = 2};
constexpr CodeSpec code_10_4 = {.data_shards = 10, .parity_shards = 4};
constexpr CodeSpec code_20_5 = {.data_shards = 20, .parity_shards = 5};
constexpr CodeSpec code_lrc = {
    .family = CodeFamily::lrc, .data_shards = 12, .parity_shards = 4, .local_groups = 2};

TEST(Protect, EveryByteIsAsTheFormatSays) {
  for (const CodeSpec& spec : {code_1_1, code_3_2, code_10_4, code_20_5, code_lrc}) {
    const std::size_t stripe = std::size_t{64} * spec.data_shards;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, stripe - 1, stripe, stripe + 1,
                                    stripe * 512, stripe * 513 + 7}) {
      expect_set({.spec = spec, .block_bytes = 64, .content_bytes = bytes});
    }
    expect_set({.spec = spec, .content_bytes = stripe + 1});
  }
}

TEST(Protect, LargeBlocksAndManyBatches) {
  // Blocks of 16 KiB or more are read directly to their destination, smaller ones through a copy.
  for (const std::uint32_t block_bytes : {16320U, 16384U, 65536U}) {
    const std::size_t stripe = std::size_t{3} * block_bytes;
    for (const std::size_t bytes : {std::size_t{1}, stripe - 1, stripe, stripe + 1,
                                    stripe + block_bytes, 2 * stripe + block_bytes + 1}) {
      expect_set({.spec = code_3_2, .block_bytes = block_bytes, .content_bytes = bytes});
    }
  }
  expect_set({.spec = code_10_4, .block_bytes = 65536, .content_bytes = 9 * 655360 + 12345});
  expect_set({.spec = code_10_4, .block_bytes = 65536, .content_bytes = 8 * 655360});
}

TEST(Protect, StreamsWhoseSizeIsNotKnown) {
  for (const std::size_t bytes : {0U, 1U, 65536U * 3, 1000000U}) {
    expect_set({.spec = code_3_2, .content_bytes = bytes, .is_size_known = false});
  }
}

// The bytes of one thread are checked above. Covers several batches per thread, and idle threads.
TEST(Protect, ThreadsWriteTheSameBytes) {
  for (const std::uint32_t block_bytes : {64U, 65536U}) {
    const Bytes content = random_bytes(block_bytes == 64 ? 64 * 3 * 9000 + 5 : 65536 * 3 * 40 + 5);
    std::map<unsigned, std::vector<Bytes>> shards;
    for (const unsigned jobs : {1U, 2U, 4U, 100U}) {
      const Workshop shop;
      FaultyFiles files;
      files.skip_syncs();
      MemorySource source(content);
      ProtectOptions options = {.spec = code_3_2,
                                .targets = {shop.path("a")},
                                .name = "x",
                                .block_bytes = block_bytes,
                                .jobs = jobs};
      options.uuid.fill(std::byte{8});
      const auto set = protect(files, source, options);
      ASSERT_TRUE(set.has_value()) << set.error().message;
      for (const std::string& path : set->paths) {
        shards[jobs].push_back(read_whole(path));
      }
      EXPECT_TRUE(shards[jobs] == shards[1]) << jobs << " jobs, blocks of " << block_bytes;
    }
    EXPECT_EQ(shards[1][0].size(),
              block_bytes == 64 ? 8192 + 9001 * 64 + 18 * 4096U : 8192 + 41 * 65536 + 4096U);
  }
}

// A stripe of the maximum size: memory for one thread.
TEST(Protect, WideStripes) {
  expect_set({.spec = {.data_shards = 200, .parity_shards = 56},
              .block_bytes = 4096,
              .content_bytes = 200 * 4096 * 2 + 99,
              .jobs = 3});
}

TEST(Protect, UuidMayBeGiven) {
  const Workshop shop;
  MemorySource source(random_bytes(100));
  ProtectOptions options = {.spec = code_1_1, .targets = {shop.path("a")}, .name = "x"};
  options.uuid.fill(std::byte{7});
  const auto set = protect(posix_files(), source, options);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->header.uuid, options.uuid);
}

TEST(Protect, OptionsAreChecked) {
  const Workshop shop;
  const ProtectOptions good = {.spec = code_10_4, .targets = {shop.path("a")}, .name = "x"};
  const auto expect_refused = [&](const ProtectOptions& options, const std::string& words) {
    MemorySource source(random_bytes(100));
    const auto set = protect(posix_files(), source, options);
    ASSERT_FALSE(set.has_value()) << words;
    EXPECT_EQ(set.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(set.error().message.find(words), std::string::npos) << set.error().message;
    EXPECT_FALSE(std::filesystem::exists(shop.path("a")));
  };
  ProtectOptions options = good;
  options.targets.clear();
  expect_refused(options, "targets is empty");
  options.targets = {""};
  expect_refused(options, "a target is empty");
  options = good;
  options.name.clear();
  expect_refused(options, "name is empty");
  for (const char* name : {"a/b", "..", "."}) {
    options.name = name;
    expect_refused(options, "name contains a slash");
  }
  options.name = std::string(245, 'x');
  expect_refused(options, "name has 245 bytes; expected at most 244");
  options = good;
  for (const std::uint32_t bytes : {32U, 65U, (1U << 24U) + 64}) {
    options.block_bytes = bytes;
    expect_refused(options, "block_bytes is " + std::to_string(bytes));
  }
  options.block_bytes = 1U << 23U;
  expect_refused(options, "expected at most 4793490 with 14 shards");
  options = good;
  options.spec.layout = Layout::packets;
  expect_refused(options, "layout is packets");
  options = good;
  options.spec.data_shards = 300;
  expect_refused(options, "data_shards + parity_shards is 304; expected at most 256");
  options = good;
  options.spec.word_bits = 16;
  expect_refused(options, "word_bits is 16; expected 8");
}

TEST(Protect, TheLongestNameFits) {
  const Workshop shop;
  MemorySource source(random_bytes(100));
  const auto set =
      protect(posix_files(), source,
              {.spec = code_1_1, .targets = {shop.path("a")}, .name = std::string(244, 'x')});
  EXPECT_TRUE(set.has_value()) << set.error().message;
}

TEST(Protect, FailureOfTheSourceLeavesNothing) {
  for (const unsigned jobs : {1U, 4U}) {
    const Workshop shop;
    MemorySource source(random_bytes(std::size_t{64} * 3 * 2000));
    source.reads_left = 2;
    const auto set = protect(posix_files(), source,
                             {.spec = code_3_2,
                              .targets = {shop.path("a")},
                              .name = "x",
                              .block_bytes = 64,
                              .jobs = jobs});
    ASSERT_FALSE(set.has_value());
    EXPECT_EQ(set.error().message, "cannot read the source: too old");
    EXPECT_TRUE(snapshot(shop.path("")).empty());
  }
}

TEST(Protect, ADirectoryOfThatNameIsNotAShard) {
  const Workshop shop;
  ASSERT_TRUE(posix_files().make_folders(shop.path("a/x.s001.calpe")).has_value());
  MemorySource source(random_bytes(100));
  const auto set =
      protect(posix_files(), source, {.spec = code_1_1, .targets = {shop.path("a")}, .name = "x"});
  ASSERT_FALSE(set.has_value());
  EXPECT_EQ(set.error().message,
            "cannot open " + shop.path("a/x.s001.calpe") + ": not a regular file");
  EXPECT_TRUE(snapshot(shop.path("")).empty());
}

}  // namespace
}  // namespace calpe::store
