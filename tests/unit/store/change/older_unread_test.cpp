// SPDX-License-Identifier: Apache-2.0
// An undo journal that cannot be read for a while is never taken for one that is not needed.
#include <functional>
#include <gtest/gtest.h>

#include "store/change/generation_update.hpp"
#include "store/find/journal_overlay.hpp"
#include "store/find/older_generations.hpp"
#include "support/updated_tree.hpp"

namespace calpe::store {
namespace {

using tests::pattern;
using tests::UpdatedTree;
using tests::write_file;

// Some files cannot be opened, or only a few at the same time.
class ScarceFiles final : public FileSystem {
 public:
  explicit ScarceFiles(FileSystem& beneath) : beneath_(beneath) {}

  std::function<bool(const std::string& path)> is_unreadable = [](const std::string&) {
    return false;
  };
  std::size_t open_max = ~std::size_t{0};

  Result<std::unique_ptr<File>> open(const std::string& path) override {
    if (is_unreadable(path)) return error(path, "Permission denied");
    return wrap(path, beneath_.open(path));
  }
  Result<std::unique_ptr<File>> open_to_change(const std::string& path) override {
    return wrap(path, beneath_.open_to_change(path));
  }
  Result<std::unique_ptr<File>> create(const std::string& path) override {
    if (open_count_ >= open_max) return error(path, "Too many open files");
    return wrap(path, beneath_.create(path));
  }
  Status rename(const std::string& from, const std::string& to) override {
    return beneath_.rename(from, to);
  }
  Status remove(const std::string& path) override { return beneath_.remove(path); }
  Status make_folders(const std::string& path) override { return beneath_.make_folders(path); }
  Status sync_folder(const std::string& path) override { return beneath_.sync_folder(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return beneath_.list(path);
  }

 private:
  class CountedFile final : public File {
   public:
    CountedFile(std::size_t& open_count, std::unique_ptr<File> beneath)
        : open_count_(open_count), beneath_(std::move(beneath)) {
      ++open_count_;
    }
    ~CountedFile() override { --open_count_; }
    CountedFile(const CountedFile&) = delete;
    CountedFile& operator=(const CountedFile&) = delete;
    const std::string& path() const noexcept override { return beneath_->path(); }
    Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
      return beneath_->read_at(bytes, offset);
    }
    Status write_at(std::span<const std::byte> bytes, std::uint64_t offset) override {
      return beneath_->write_at(bytes, offset);
    }
    Result<std::uint64_t> size() override { return beneath_->size(); }
    Status resize(std::uint64_t bytes) override { return beneath_->resize(bytes); }
    Status sync() override { return beneath_->sync(); }

   private:
    std::size_t& open_count_;
    std::unique_ptr<File> beneath_;
  };

  static Error error(const std::string& path, const char* why) {
    return make_error(ErrorCode::io, "cannot open ", path, ": ", why);
  }
  Result<std::unique_ptr<File>> wrap(const std::string& path, Result<std::unique_ptr<File>> file) {
    if (!file) return file;
    if (open_count_ >= open_max) return error(path, "Too many open files");
    return std::unique_ptr<File>(std::make_unique<CountedFile>(open_count_, *std::move(file)));
  }

  FileSystem& beneath_;
  std::size_t open_count_ = 0;
};

class UnreadUndoJournals : public testing::Test {
 protected:
  // The newest generation and `count` older ones.
  void begin(int count) {
    trial_.protect();
    for (int round = 1; round <= count; ++round) {
      edit(round);
      const auto report = trial_.update({.jobs = 1, .older_kept = 100});
      ASSERT_TRUE(report) << report.error().message;
    }
    newest_ = trial_.find()->header;
  }
  void edit(int round) {
    std::string changed = pattern(20000, 1);
    changed[static_cast<std::size_t>(100 * round)] ^= 1;
    write_file(trial_.tree + "/a", changed);
    tests::set_time(trial_.tree + "/a", 2000 + round, 0);
  }
  std::vector<FoundSet> kept() {
    return kept_generations(*find_sets(trial_.files, {"disk"}), trial_.find()->header);
  }
  // Names end with the generation after the step.
  static std::string ending_of(const UndoStep& step) {
    ShardHeader after;
    after.uuid = step.uuid;
    after.generation = step.after;
    const std::string path = redo_journal_path("disk/x", after, JournalKind::undo);
    return path.substr(path.rfind('-'));
  }
  // Ascending.
  std::vector<UndoStep> steps() {
    const auto found = find_sets(trial_.files, {"disk"})->undo_steps;
    return {found.begin(), found.end()};
  }
  std::size_t undo_files() {
    std::size_t count = 0;
    for (const auto& [path, bytes] : trial_.files.images())
      count += path.ends_with(".undo") ? 1 : 0;
    return count;
  }

  UpdatedTree trial_;
  ScarceFiles files_ = ScarceFiles(trial_.files);
  ShardHeader newest_;
};

// No shard leads to the generations before the step, so all their journals look useless.
TEST_F(UnreadUndoJournals, OfAWholeStepAreNotRemoved) {
  begin(4);
  const std::string ending = ending_of(steps()[2]);
  files_.is_unreadable = [&](const std::string& path) { return path.ends_with(ending); };
  edit(5);
  const auto report = trial_.update_in(files_, {.jobs = 1, .older_kept = 100});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::io);
  EXPECT_NE(report.error().message.find("Permission denied"), std::string::npos)
      << report.error().message;
  EXPECT_TRUE(settle(files_, {"disk"}));
  EXPECT_EQ(undo_files(), 20U);
  EXPECT_EQ(kept().size(), 4U);
}

// The journals of other shards tell which step it is.
TEST_F(UnreadUndoJournals, OfOneShardDoNotStopAnUpdate) {
  begin(4);
  const std::string ending = text("s001", ending_of(steps()[2]));
  files_.is_unreadable = [&](const std::string& path) { return path.ends_with(ending); };
  edit(5);
  const auto report = trial_.update_in(files_, {.jobs = 1, .older_kept = 100});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(kept().size(), 5U);
  EXPECT_EQ(undo_files(), 25U);
  edit(6);
  ASSERT_TRUE(trial_.update_in(files_, {.jobs = 1, .older_kept = 2}));
  EXPECT_EQ(kept().size(), 2U);
}

// Shards of which the other journal is lost: only the one that cannot be read leads on.
TEST_F(UnreadUndoJournals, CountAsNeededWithTheStepsBeforeThem) {
  begin(4);
  const std::vector<UndoStep> all = steps();
  ASSERT_EQ(all.size(), 4U);
  const std::string ending = ending_of(all[2]);
  files_.is_unreadable = [&](const std::string& path) {
    return path.ends_with(ending) && path.find("s004") == path.npos;
  };
  for (const std::string& path : {trial_.shard_path(4)})
    ASSERT_TRUE(trial_.files.remove(path));
  const auto findings = find_sets(files_, {"disk"});
  ASSERT_TRUE(findings);
  EXPECT_EQ(findings->unread_undo.size(), 4U);
  EXPECT_EQ(findings->undo_steps, std::set<UndoStep>(all.begin(), all.end()));
  const auto numbers = kept_numbers(*findings, newest_);
  ASSERT_TRUE(numbers) << numbers.error().message;
  EXPECT_EQ(*numbers, (std::vector{all[3].before, all[2].before, all[1].before, all[0].before}));
}

TEST_F(UnreadUndoJournals, GiveTheCauseWhenAShardIsOpened) {
  begin(2);
  const FoundShard shard = kept()[1].shards[0].front();
  files_.is_unreadable = [&](const std::string& path) { return path == shard.undo.back(); };
  const auto opened = open_shard(files_, shard);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("Permission denied"), std::string::npos)
      << opened.error().message;
}

// An update needs a few descriptors per shard, however many generations there are.
TEST_F(UnreadUndoJournals, ForLackOfDescriptorsAreNotRemoved) {
  begin(30);
  files_.open_max = 24;
  edit(31);
  const auto report = trial_.update_in(files_, {.jobs = 1, .older_kept = 100});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(kept().size(), 31U);
  EXPECT_EQ(undo_files(), 155U);
  const auto findings = find_sets(files_, {"disk"});
  EXPECT_TRUE(findings->unread_undo.empty());
  const auto reader = SetReader::open(files_, findings->older.back());
  EXPECT_TRUE(reader) << reader.error().message;
}

}  // namespace
}  // namespace calpe::store
