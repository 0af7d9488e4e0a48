// SPDX-License-Identifier: Apache-2.0
// The next protect resumes an interrupted one, and no leftovers remain for ever.
#include "store/write/resumable_protect.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"
#include "store/write/checkpoint.hpp"
#include "store/write/protect.hpp"
#include "support/expected_set.hpp"
#include "support/faulty_files.hpp"
#include "support/without_sha256.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::expected_file;
using tests::Fault;
using tests::FaultyFiles;
using tests::files_below;
using tests::make_targets;
using tests::random_bytes;
using tests::read_whole;
using tests::snapshot;
using tests::Workshop;

constexpr CodeSpec code_3_2 = {.data_shards = 3, .parity_shards = 2};
constexpr std::size_t group_content = std::size_t{64} * 3 * 512;

// A content that can be read again and counts the bytes read.
class KeptSource : public ContentSource {
 public:
  explicit KeptSource(Bytes bytes) : bytes_(std::move(bytes)) {}
  std::optional<std::uint64_t> bytes_expected() const override { return bytes_.size(); }
  Result<std::size_t> read(std::span<std::byte> target) override {
    const std::size_t count = std::min(target.size(), bytes_.size() - at_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, target.begin());
    at_ += count;
    bytes_read += count;
    return count;
  }
  Bytes identity() const override { return Bytes(bytes_.end() - 20, bytes_.end()); }
  Status skip(std::uint64_t bytes) override {
    at_ += bytes;
    return Done{};
  }
  std::uint64_t manifest_offset() const override { return bytes_.size() - 20; }
  std::uint64_t manifest_bytes() const override { return 20; }

  std::size_t bytes_read = 0;

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

// The same without seeking: reads the bytes it skips.
class ForwardSource final : public KeptSource {
 public:
  using KeptSource::KeptSource;
  Status skip(std::uint64_t bytes) override { return ContentSource::skip(bytes); }
};

struct Trial {
  Workshop shop;
  Bytes content = random_bytes(group_content * 2 + 1000, 2);
  ProtectOptions options = {.spec = code_3_2,
                            .targets = {shop.path("a"), shop.path("b")},
                            .name = "photos",
                            .block_bytes = 64,
                            .checkpoint_bytes = 1};

  Trial() { make_targets(options); }

  // Kills protect at call number `call`.
  void kill(std::uint64_t call) const {
    FaultyFiles files;
    files.skip_syncs();
    files.fail_call(call, Fault::crash);
    KeptSource source(content);
    EXPECT_FALSE(protect(files, source, options).has_value());
  }
  // Kills protect after the last record, when the most can be resumed.
  void kill_late() const {
    FaultyFiles files;
    files.skip_syncs();
    KeptSource source(content);
    Trial other;
    ASSERT_TRUE(protect(files, source, other.options).has_value());
    const auto log = files.log();
    const auto rename = std::find_if(
        log.begin(), log.end(), [](const std::string& call) { return call.starts_with("rename"); });
    // Before headers are written: two writes and a sync per shard, and a listing of each target.
    kill(static_cast<std::uint64_t>(rename - log.begin()) - 5 - 10 - 5 - 5);
  }
  std::vector<std::string> parts() const {
    std::vector<std::string> found;
    for (const std::string& path : files_below(shop.path(""))) {
      if (path.find(".calpe-") != std::string::npos) found.push_back(path);
    }
    return found;
  }
  void expect_whole(const ProtectedSet& set) const {
    for (std::size_t shard = 0; shard < 5; ++shard) {
      EXPECT_TRUE(read_whole(set.paths[shard]) == expected_file(set.header, content, shard))
          << shard;
    }
  }
  // Returns the number of bytes read.
  std::size_t run(std::uint64_t resumed) const {
    FaultyFiles files;
    files.skip_syncs();
    KeptSource source(content);
    const auto set = protect(files, source, options);
    EXPECT_TRUE(set.has_value()) << set.error().message;
    if (!set) return 0;
    EXPECT_EQ(set->resumed_bytes, resumed);
    expect_whole(*set);
    EXPECT_EQ(parts(), std::vector<std::string>());
    return source.bytes_read;
  }
};

TEST(Resume, ReadsOnlyTheRemainingContent) {
  const Trial trial;
  trial.kill_late();
  ASSERT_EQ(trial.parts().size(), 5U);
  EXPECT_EQ(trial.run(2 * group_content), 1000U);
}

TEST(Resume, ReadsAllOfASourceThatCannotSeek) {
  const Trial trial;
  trial.kill_late();
  FaultyFiles files;
  files.skip_syncs();
  ForwardSource source(trial.content);
  const auto set = protect(files, source, trial.options);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_EQ(set->resumed_bytes, 2 * group_content);
  trial.expect_whole(*set);
  EXPECT_EQ(source.bytes_read, trial.content.size());
}

TEST(ContentSource, SkipsByReadingAndReportsMissingBytes) {
  constexpr std::size_t piece = std::size_t{1} << 20U;  // read size of skip()
  const Bytes content = random_bytes(2 * piece + 300, 7);
  for (const std::size_t skipped :
       {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, 2 * piece, content.size()}) {
    ForwardSource source(content);
    const Status done = source.skip(skipped);
    ASSERT_TRUE(done.has_value()) << skipped << ": " << done.error().message;
    EXPECT_EQ(source.bytes_read, skipped);
    Bytes rest(content.size() - skipped + 1);
    ASSERT_EQ(*source.read(rest), content.size() - skipped);
    rest.pop_back();
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), content.end() - std::ptrdiff_t(rest.size())))
        << skipped;
  }
  for (const std::size_t missing : {std::size_t{1}, std::size_t{5}, piece + 3}) {
    ForwardSource source(content);
    const Status done = source.skip(content.size() + missing);
    ASSERT_FALSE(done.has_value()) << missing;
    EXPECT_EQ(done.error().code, ErrorCode::io);
    EXPECT_TRUE(done.error().message.starts_with("cannot resume: the source is " +
                                                 std::to_string(missing) + " bytes shorter"))
        << done.error().message;
  }
}

TEST(Resume, AFullDiskKeepsThePartsAfterACheckpoint) {
  const Trial first;
  FaultyFiles counting;
  counting.skip_syncs();
  KeptSource source(first.content);
  ASSERT_TRUE(protect(counting, source, first.options).has_value());
  unsigned resumed = 0;
  for (std::uint64_t call = 0; call < counting.calls(); call += 3) {
    const Trial trial;
    FaultyFiles files;
    files.skip_syncs();
    files.fail_call(call, Fault::no_space, true);
    KeptSource full(trial.content);
    const auto failed = protect(files, full, trial.options);
    if (failed) continue;  // no later call needs space
    SCOPED_TRACE(testing::Message() << "call " << call << ": " << failed.error().message);
    const bool is_kept = failed.error().message.find("were kept") != std::string::npos;
    EXPECT_EQ(trial.parts().empty(), !is_kept);
    FaultyFiles free;
    free.skip_syncs();
    KeptSource again(trial.content);
    const auto set = protect(free, again, trial.options);
    ASSERT_TRUE(set.has_value()) << set.error().message;
    trial.expect_whole(*set);
    EXPECT_EQ(trial.parts(), std::vector<std::string>());
    resumed += set->resumed_bytes > 0 ? 1 : 0;
  }
  EXPECT_GT(resumed, 0U);
}

TEST(Resume, KilledAtAnyCallAndRunAgain) {
  const Trial first;
  FaultyFiles counting;
  counting.skip_syncs();
  KeptSource source(first.content);
  ASSERT_TRUE(protect(counting, source, first.options).has_value());
  std::map<std::uint64_t, unsigned> resumed;
  for (std::uint64_t call = 0; call < counting.calls(); ++call) {
    const Trial trial;
    trial.kill(call);
    SCOPED_TRACE(testing::Message() << "call " << call << ": " << counting.log()[call]);
    FaultyFiles files;
    files.skip_syncs();
    KeptSource again(trial.content);
    ProtectOptions options = trial.options;
    const auto set = protect(files, again, options);
    ASSERT_TRUE(set.has_value()) << set.error().message;
    trial.expect_whole(*set);
    EXPECT_EQ(trial.parts(), std::vector<std::string>());
    EXPECT_EQ(again.bytes_read + set->resumed_bytes, trial.content.size());
    ++resumed[set->resumed_bytes];
  }
  EXPECT_GT(resumed[0], 5U);
  EXPECT_GT(resumed[group_content], 5U);
  EXPECT_GT(resumed[2 * group_content], 5U);
  EXPECT_EQ(resumed.size(), 3U);
}

// Errors, unlike kills, leave nothing, also when a checkpoint fails.
TEST(Resume, AnErrorAtAnyCallLeavesNothing) {
  const Trial first;
  FaultyFiles counting;
  counting.skip_syncs();
  KeptSource source(first.content);
  ASSERT_TRUE(protect(counting, source, first.options).has_value());
  for (const Fault fault : {Fault::input_output, Fault::no_space}) {
    for (std::uint64_t call = 0; call < counting.calls(); ++call) {
      const Trial trial;
      FaultyFiles files;
      files.skip_syncs();
      files.fail_call(call, fault);
      KeptSource content(trial.content);
      const auto set = protect(files, content, trial.options);
      SCOPED_TRACE(testing::Message() << "call " << call << ": " << counting.log()[call]);
      ASSERT_EQ(set.has_value(), !files.has_failed());
      if (set) continue;
      EXPECT_NE(set.error().message.find(trial.shop.path("")), std::string::npos);
      // A full disk after a checkpoint is the exception.
      const bool is_kept =
          fault == Fault::no_space && set.error().message.find("were kept") != std::string::npos;
      EXPECT_EQ(snapshot(trial.shop.path("")).empty(), !is_kept);
    }
  }
}

// If a leftover cannot be read, protect starts over and succeeds.
TEST(Resume, AnErrorAtAnyCallOfTheNextRun) {
  std::uint64_t calls = 0;
  {
    const Trial trial;
    trial.kill_late();
    FaultyFiles files;
    files.skip_syncs();
    KeptSource content(trial.content);
    ASSERT_TRUE(protect(files, content, trial.options).has_value());
    calls = files.calls();
  }
  for (std::uint64_t call = 0; call < calls; ++call) {
    const Trial trial;
    trial.kill_late();
    FaultyFiles files;
    files.skip_syncs();
    files.fail_call(call, Fault::input_output);
    KeptSource content(trial.content);
    const auto set = protect(files, content, trial.options);
    SCOPED_TRACE(testing::Message() << "call " << call << ": " << files.log()[call]);
    if (set) trial.expect_whole(*set);
    FaultyFiles fine;
    fine.skip_syncs();
    KeptSource again(trial.content);
    const auto last = protect(fine, again, trial.options);
    ASSERT_TRUE(last.has_value()) << last.error().message;
    trial.expect_whole(*last);
    EXPECT_EQ(trial.parts(), std::vector<std::string>());
  }
}

TEST(Resume, SyncsBeforeItWritesARecord) {
  const Trial trial;
  FaultyFiles files;
  files.skip_syncs();
  KeptSource source(trial.content);
  ASSERT_TRUE(protect(files, source, trial.options).has_value());
  std::map<std::string, std::size_t> written;
  std::size_t records = 0;
  for (const std::string& call : files.log()) {
    const std::size_t end = call.find(".part");
    if (end == std::string::npos || call.starts_with("rename")) continue;
    const std::string path = call.substr(call.find('/'), end - call.find('/'));
    if (call.starts_with("sync ")) written[path] = 0;
    if (!call.starts_with("write_at")) continue;
    if (call.ends_with(".part 0 +4096") && ++records > 5 && records <= 15) {
      for (const auto& [other, writes] : written) {
        EXPECT_LE(writes, 1U) << call;  // except another record
      }
    }
    ++written[path];
  }
  EXPECT_EQ(records, 20U);  // at the start, two checkpoints, the header
}

TEST(Resume, StartsOverWhenAnythingIsDifferent) {
  const std::map<std::string, std::function<void(Trial&)>> changes = {
      {"content", [](Trial& trial) { trial.content.back() ^= std::byte{1}; }},
      {"block bytes", [](Trial& trial) { trial.options.block_bytes = 128; }},
      {"code", [](Trial& trial) { trial.options.spec.family = CodeFamily::vandermonde_isal; }},
      {"uuid", [](Trial& trial) { trial.options.uuid.fill(std::byte{7}); }},
      {"asked to", [](Trial& trial) { trial.options.may_resume = false; }},
      {"targets",
       [](Trial& trial) { std::swap(trial.options.targets[0], trial.options.targets[1]); }},
      {"a part is gone", [](Trial& trial) { std::filesystem::remove(trial.parts()[2]); }},
      {"a part is short",
       [](Trial& trial) { std::filesystem::resize_file(trial.parts()[1], group_content / 3); }},
      {"a record is damaged",
       [](Trial& trial) {
         std::fstream file(trial.parts()[3], std::ios::in | std::ios::out | std::ios::binary);
         file.seekp(2000);
         file.put('x');
       }},
  };
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    Trial trial;
    trial.kill_late();
    ASSERT_EQ(trial.parts().size(), 5U);
    change(trial);
    if (what == "code") {
      FaultyFiles files;
      files.skip_syncs();
      KeptSource source(trial.content);
      const auto set = protect(files, source, trial.options);
      ASSERT_TRUE(set.has_value());
      EXPECT_EQ(set->resumed_bytes, 0U);
      EXPECT_TRUE(trial.parts().empty());
      continue;
    }
    EXPECT_EQ(trial.run(0), trial.content.size());
  }
}

TEST(Resume, PartsOfAnotherNameAreKept) {
  Trial trial;
  trial.kill_late();
  trial.options.name = "music";
  FaultyFiles files;
  files.skip_syncs();
  KeptSource source(trial.content);
  const auto set = protect(files, source, trial.options);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->resumed_bytes, 0U);
  EXPECT_EQ(trial.parts().size(), 5U);
  trial.options.name = "photos";
  EXPECT_EQ(trial.run(2 * group_content), 1000U);
}

TEST(Resume, OnlyOneProtectPerNameAtATime) {
  Trial trial;
  trial.kill_late();
  auto held = posix_files().open_to_change(trial.parts()[0]);
  ASSERT_TRUE(held.has_value());
  ASSERT_TRUE(*(*held)->lock(LockKind::exclusive));
  KeptSource source(trial.content);
  const auto refused = protect(posix_files(), source, trial.options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::io);
  EXPECT_NE(refused.error().message.find("another protect of photos is running"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(trial.parts().size(), 5U);
  // With another name, neither disturbs the other.
  trial.options.name = "music";
  KeptSource other(trial.content);
  EXPECT_TRUE(protect(posix_files(), other, trial.options).has_value());
  EXPECT_EQ(trial.parts().size(), 5U);
  trial.options.name = "photos";
  held->reset();
  EXPECT_EQ(trial.run(2 * group_content), 1000U);
}

// Sets without roots need no SHA-256; interrupted runs just cannot be resumed.
TEST(Resume, StartsOverWhereThereIsNoSha256) {
  Trial trial;
  trial.kill_late();
  ASSERT_EQ(trial.parts().size(), 5U);
  const tests::WithoutSha256 without;
  EXPECT_EQ(trial.run(0), trial.content.size());
}

TEST(Checkpoint, RoundTripsEveryField) {
  Checkpoint checkpoint = {.shard_index = 3,
                           .shard_count = 14,
                           .block_bytes = 65536,
                           .groups = 77,
                           .name = std::string(255, 'n')};
  checkpoint.uuid.fill(std::byte{5});
  checkpoint.what.fill(std::byte{6});
  HeaderBytes bytes = to_bytes(checkpoint);
  const auto read = parse_checkpoint(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, checkpoint);
  EXPECT_FALSE(parse_header(bytes).has_value());
  EXPECT_FALSE(parse_checkpoint(std::span(bytes).first(100)).has_value());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    EXPECT_FALSE(parse_checkpoint(bytes).has_value()) << i;
    bytes[i] ^= std::byte{1};
  }
}

// A matching checksum alone is not enough.
TEST(Checkpoint, HostileFieldsAreRefused) {
  const HeaderBytes good = to_bytes(Checkpoint{.shard_count = 5, .name = "photos"});
  const auto refusal = [&](std::size_t at, std::uint16_t value) {
    HeaderBytes bytes = good;
    store_little(bytes.data() + at, value);
    store_little(bytes.data() + bytes.size() - 8,
                 plain_checksum(std::span(bytes).first(bytes.size() - 8)));
    const auto read = parse_checkpoint(bytes);
    return read ? "accepted" : read.error().message;
  };
  const auto photos = std::as_bytes(std::span("photos", 6));
  const auto name = std::search(good.begin(), good.end(), photos.begin(), photos.end());
  ASSERT_NE(name, good.end());
  const auto name_bytes_at = static_cast<std::size_t>(name - good.begin()) - 2;
  EXPECT_EQ(refusal(name_bytes_at, 6), "accepted");
  EXPECT_NE(refusal(name_bytes_at, 256).find("256 bytes; expected at most 255"), std::string::npos);
  EXPECT_NE(refusal(name_bytes_at, 5).find("not 0"), std::string::npos) << "more than the name";
  EXPECT_NE(refusal(good.size() - 10, 1).find("not 0"), std::string::npos);
  EXPECT_NE(refusal(8, 7).find("not 0"), std::string::npos) << "version";
}

}  // namespace
}  // namespace calpe::store
