// SPDX-License-Identifier: Apache-2.0
// Updating stripes writes exactly the blocks that differ, by the cheaper method.
#include "store/change/stripe_update.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

#include "base/divide_up.hpp"
#include "store/read/set_reader.hpp"
#include "store/write/protect.hpp"
#include "support/memory_files.hpp"
#include "support/sample_tree.hpp"
#include "support/set_damage.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::MemoryFiles;
using tests::pattern;
using tests::set_time;
using tests::Workshop;
using tests::write_file;

constexpr std::size_t block = 64;

// A directory with a file of the given number of blocks, protected in memory.
class StripeUpdateTest : public testing::Test {
 protected:
  void protect_tree(const CodeSpec& spec, std::size_t file_blocks) {
    std::filesystem::create_directory(tree_);
    content_ = pattern(file_blocks * block, 1);
    write(content_, 1);
    auto source = TreeSource::open(tree_);
    ASSERT_TRUE(source);
    ASSERT_TRUE(files_.make_folders("disk"));
    const auto made = protect(
        files_, **source, {.spec = spec, .targets = {"disk"}, .name = "set", .block_bytes = block});
    ASSERT_TRUE(made) << made.error().message;
  }
  void write(const std::string& bytes, std::int64_t seconds) {
    write_file(tree_ + "/file", bytes);
    set_time(tree_ + "/file", seconds, 0);
    set_time(tree_, seconds, 0);
  }

  // Blocks by shard and stripe.
  using Given = std::map<std::pair<std::size_t, std::uint64_t>, Bytes>;

  Status update(unsigned jobs = 1) {
    given_.clear();
    auto scanned = scan_tree(tree_);
    if (!scanned) return scanned.error();
    TreeFiles tree_files(*scanned);
    const auto set = tests::find_one(files_);
    if (!set) return set.error();
    auto reader = SetReader::open(files_, *set);
    const auto before = reader->manifest();
    const auto difference = compare_trees(*before, scanned->manifest);
    const auto placement = place_files(*before, scanned->manifest, *difference);
    const Bytes manifest = to_bytes(placement->manifest);
    const std::uint64_t stripe_bytes = std::uint64_t{set->header.spec.data_shards} * block;
    const ContentShape shape = {
        .stripe_bytes = stripe_bytes,
        .stripe_count = divide_up(placement->data_bytes + manifest.size(), stripe_bytes),
        .content_bytes_before = set->header.content_bytes};
    ChangedContent changed(*placement, manifest, tree_files, shape);
    const auto shards = OpenSet::open(files_, *set);
    ThreadPool pool(jobs - 1);
    StripeUpdate stripes(*shards, reader->codec(), changed, jobs > 1 ? &pool : nullptr);
    std::map<std::size_t, std::uint64_t> next;
    const TakeBlocks take = [&](ShardIndex shard, std::uint64_t first,
                                std::span<const std::byte> blocks) -> Status {
      EXPECT_GE(first, next[shard]) << "ascending for each shard";
      for (std::size_t at = 0; at < blocks.size(); at += block) {
        const auto one = blocks.subspan(at, block);
        given_[{shard, first + at / block}] = Bytes(one.begin(), one.end());
      }
      next[shard] = first + blocks.size() / block;
      return Done{};
    };
    for (const StripeRun& run : changed.stripes().runs()) {
      for (std::uint64_t stripe = run.first_stripe; stripe < run.end();) {
        const StripeRun part = stripes.next_run(stripe, run.end());
        if (const Status done = stripes.update(part, take); !done) return done;
        stripe = part.end();
      }
    }
    if (const Status done = changed.finish(); !done) return done;
    counts_ = stripes.counts();
    stripe_count_ = shape.stripe_count;
    placed_ = *placement;
    check_result(*set, *reader, manifest);
    return Done{};
  }

  // Compares the files with the old blocks overlaid by the new ones, and checks the parity.
  void check_result(const FoundSet& set, SetReader& reader, const Bytes& manifest) {
    const std::size_t k = set.header.spec.data_shards;
    const std::size_t n = set.shards.size();
    SetReader::Blocks old;
    ASSERT_TRUE(reader.read_blocks({0, set.header.stripe_count}, old));
    Bytes content;
    for (std::uint64_t s = 0; s < stripe_count_; ++s) {
      std::vector<Bytes> blocks;
      for (std::size_t i = 0; i < n; ++i) {
        const bool was_there = s < set.header.stripe_count;
        const auto found = given_.find({i, s});
        Bytes now(block);
        if (was_there) std::memcpy(now.data(), old.blocks[i].data() + s * block, block);
        if (found == given_.end()) {
          EXPECT_TRUE(was_there) << "no block for stripe " << s << " of shard " << i;
        } else {
          EXPECT_TRUE(!was_there || found->second != now) << "stripe " << s << " shard " << i;
          now = found->second;
        }
        blocks.push_back(now);
        if (i < k) content.insert(content.end(), now.begin(), now.end());
      }
      const std::vector<ConstShard> data(blocks.begin(), blocks.begin() + static_cast<long>(k));
      const std::vector<ConstShard> parity(blocks.begin() + static_cast<long>(k), blocks.end());
      const auto wrong = reader.codec().verify(data, parity);
      EXPECT_TRUE(wrong && wrong->empty()) << "parity of stripe " << s;
    }
    const std::size_t end = placed_.data_bytes + manifest.size();
    EXPECT_TRUE(std::equal(manifest.begin(), manifest.end(),
                           content.begin() + static_cast<long>(placed_.data_bytes)));
    EXPECT_TRUE(std::all_of(content.begin() + static_cast<long>(end), content.end(),
                            [](std::byte b) { return b == std::byte{0}; }));
    std::string file(placed_.manifest.entries[1].file_bytes, '\0');
    for (const Extent& extent : placed_.manifest.entries[1].extents)
      std::memcpy(&file[extent.file_offset], content.data() + extent.content_offset, extent.bytes);
    EXPECT_EQ(file, content_);
  }

  Workshop shop_;
  std::string tree_ = shop_.path("tree");
  std::string content_;
  MemoryFiles files_;
  Given given_;
  StripeCounts counts_;
  std::uint64_t stripe_count_ = 0;
  Placement placed_;
};

constexpr CodeSpec code_6_2 = {.data_shards = 6, .parity_shards = 2};

TEST_F(StripeUpdateTest, ASmallChangeUsesTheDelta) {
  for (const unsigned jobs : {1U, 3U}) {
    if (content_.empty()) protect_tree(code_6_2, 6000);
    content_[block * 6 * 700 + 3] ^= 1;  // block 0 of stripe 700
    write(content_, 2);
    ASSERT_TRUE(update(jobs));
    // All 1,000 stripes of the file are compared. One differs, and the manifest has new times.
    EXPECT_TRUE(given_.contains({0, 700}) && given_.contains({6, 700}) &&
                given_.contains({7, 700}));
    EXPECT_FALSE(given_.contains({1, 700}));
    EXPECT_EQ(counts_.by_delta, 2U);
    EXPECT_EQ(counts_.by_encode, 0U);
    EXPECT_EQ(counts_.same, 999U);
    EXPECT_EQ(counts_.blocks_written, given_.size());
    EXPECT_LE(given_.size(), 8U);
    content_[block * 6 * 700 + 3] ^= 1;
  }
}

TEST_F(StripeUpdateTest, ManyChangesOfAStripeAreEncoded) {
  protect_tree(code_6_2, 600);
  for (std::size_t i = 0; i < 5; ++i)
    content_[block * (6 * 20 + i)] ^= 1;
  write(content_, 2);
  ASSERT_TRUE(update());
  EXPECT_EQ(counts_.by_encode, 1U);
  EXPECT_EQ(counts_.by_delta, 1U);  // the manifest
  EXPECT_FALSE(given_.contains({5, 20}));
}

TEST_F(StripeUpdateTest, ContentGrowsAndShrinks) {
  for (const std::size_t after : {1UL, 63UL, 6UL * block * 10, 600UL * block + 1, 9000UL * block}) {
    SCOPED_TRACE(after);
    if (content_.empty()) protect_tree(code_6_2, 600);
    content_ = pattern(after, 1);
    write(content_, 2);
    ASSERT_TRUE(update(2));
  }
  content_.clear();
  write(content_, 3);
  ASSERT_TRUE(update());
}

TEST_F(StripeUpdateTest, LrcWritesOnlyTheParityThatChanges) {
  protect_tree({.family = CodeFamily::lrc, .data_shards = 8, .parity_shards = 4, .local_groups = 2},
               800);
  content_[block * 8 * 50] ^= 1;
  write(content_, 2);
  ASSERT_TRUE(update());
  std::size_t parity = 0;
  for (std::size_t i = 8; i < 12; ++i)
    parity += given_.contains({i, 50}) ? 1 : 0;
  EXPECT_EQ(parity, 3U);  // one local, two global
}

TEST_F(StripeUpdateTest, ANeededBlockThatIsDamagedIsAnError) {
  protect_tree(code_6_2, 60);
  content_[block * 12] ^= 1;
  write(content_, 2);
  // In stripe 2: data that is compared, and parity that changes.
  for (const std::size_t shard : {std::size_t{0}, std::size_t{3}, std::size_t{7}}) {
    const std::string path = "disk/set.s00" + std::to_string(shard) + ".calpe";
    files_.at(path)[header_bytes + 2 * block + 5] ^= std::byte{1};
    const Status done = update();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::corrupt);
    EXPECT_NE(done.error().message.find(path), std::string::npos) << done.error().message;
    EXPECT_NE(done.error().message.find("stripe 2"), std::string::npos);
    files_.at(path)[header_bytes + 2 * block + 5] ^= std::byte{1};
  }
  EXPECT_TRUE(update());
}

}  // namespace
}  // namespace calpe::store
