// SPDX-License-Identifier: Apache-2.0
// A change of a set that fails or is killed at any call leaves the old or the new content, also
// when as many directories are lost as the code has parity.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "store/repair/repair_set.hpp"
#include "support/faulty_files.hpp"
#include "support/set_change.hpp"

namespace calpe::store {
namespace {

using tests::Fault;
using tests::FaultyFiles;
using tests::MemoryFiles;
using tests::SetChange;
using State = tests::SetChange::State;

std::uint64_t calls_of(const SetChange& change) {
  MemoryFiles files;
  change.put(files);
  FaultyFiles counting(files);
  EXPECT_TRUE(change.run(counting).has_value());
  return counting.calls();
}

// All choices of at most two of five directories.
template <class Work>
void for_each_loss(const std::vector<std::string>& folders, const Work& work) {
  for (std::size_t a = 0; a < folders.size(); ++a) {
    for (std::size_t b = a; b < folders.size(); ++b) {
      std::vector<std::string> left;
      for (std::size_t i = 0; i < folders.size(); ++i) {
        if (i != a && i != b) left.push_back(folders[i]);
      }
      work(left);
    }
  }
}

MemoryFiles copy_of(const MemoryFiles& files) {
  MemoryFiles copy;
  for (const auto& [path, bytes] : files.images()) {
    copy.put(path, bytes);
  }
  return copy;
}

void expect_repaired(const SetChange& change, MemoryFiles files, State expected) {
  const auto settled = settle(files, change.folders());
  ASSERT_TRUE(settled.has_value()) << settled.error().message;
  const auto set = choose_set(*find_sets(files, change.folders()));
  ASSERT_TRUE(set.has_value()) << set.error().message;
  ASSERT_TRUE(repair_set(files, *set).has_value());
  std::string why;
  EXPECT_EQ(change.state(files, change.folders(), why), expected) << why;
  for (const auto& [path, bytes] : files.images()) {
    EXPECT_EQ(path.find(".redo"), std::string::npos) << path << " is left";
  }
  const auto report = verify_set(files, *choose_set(*find_sets(files, change.folders())), true);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->is_good());
}

void kill_everywhere(const SetChange& change, std::uint64_t step = 1) {
  const std::uint64_t calls = calls_of(change);
  bool was_old = false;
  bool was_new = false;
  for (std::uint64_t call = 0; call < calls; call += step) {
    SCOPED_TRACE("killed at call " + std::to_string(call) + " of " + std::to_string(calls));
    MemoryFiles files;
    change.put(files);
    FaultyFiles faulty(files);
    faulty.fail_call(call, Fault::crash);
    EXPECT_FALSE(change.run(faulty).has_value());
    std::string why;
    const State state = change.state(files, change.folders(), why);
    ASSERT_NE(state, State::neither) << why;
    ASSERT_FALSE(was_new && state == State::old_one) << "a committed change was rolled back";
    was_old = was_old || state == State::old_one;
    was_new = was_new || state == State::new_one;
    expect_repaired(change, copy_of(files), state);
    for_each_loss(change.folders(), [&](const std::vector<std::string>& left) {
      EXPECT_NE(change.state(files, left, why), State::neither) << left[0] << ", ...: " << why;
    });
  }
  EXPECT_TRUE(was_old && was_new);
}

TEST(NewGenerationFaults, KilledAtEveryCall) {
  kill_everywhere(SetChange({.stripes = 7}, 9));
  kill_everywhere(SetChange({.stripes = 9}, 6));
  kill_everywhere(SetChange({.stripes = 514}, 511), 5);
}

TEST(NewGenerationFaults, AnInterruptedChangeIsNotDamage) {
  const SetChange change({.stripes = 7}, 9);
  const std::uint64_t calls = calls_of(change);
  std::size_t interrupted = 0;
  for (std::uint64_t call = 0; call < calls; call += 3) {
    SCOPED_TRACE(text("killed at call ", call));
    MemoryFiles files;
    change.put(files);
    FaultyFiles faulty(files);
    faulty.fail_call(call, Fault::crash);
    EXPECT_FALSE(change.run(faulty).has_value());
    auto report = verify_set(files, *choose_set(*find_sets(files, change.folders())));
    ASSERT_TRUE(report.has_value());
    EXPECT_NE(report->is_good(), report->is_only_interrupted());
    if (report->is_good()) continue;
    ++interrupted;
    ASSERT_TRUE(files.remove(change.path(4)).has_value());
    report = verify_set(files, *choose_set(*find_sets(files, change.folders())));
    ASSERT_TRUE(report.has_value());
    EXPECT_FALSE(report->is_good() || report->is_only_interrupted()) << "a shard is missing";
  }
  EXPECT_GT(interrupted, 0U);
}

// Kills the repair after a kill as well; the next repair completes the change.
TEST(NewGenerationFaults, SettlingKilledAtEveryCall) {
  const SetChange change({.stripes = 9}, 6);
  const std::uint64_t calls = calls_of(change);
  for (std::uint64_t call = calls / 2; call < calls; call += 9) {
    MemoryFiles files;
    change.put(files);
    FaultyFiles faulty(files);
    faulty.fail_call(call, Fault::crash);
    EXPECT_FALSE(change.run(faulty).has_value());
    std::string why;
    const State state = change.state(files, change.folders(), why);
    for (std::uint64_t second = 0;; ++second) {
      SCOPED_TRACE(std::to_string(call) + ", then " + std::to_string(second));
      MemoryFiles again = copy_of(files);
      FaultyFiles failing(again);
      failing.fail_call(second, Fault::crash);
      const bool is_done = settle(failing, change.folders()).has_value();
      ASSERT_EQ(change.state(again, change.folders(), why), state) << why;
      for_each_loss(change.folders(), [&](const std::vector<std::string>& left) {
        EXPECT_NE(change.state(again, left, why), State::neither) << left[0] << ", ...: " << why;
      });
      expect_repaired(change, copy_of(again), state);
      if (is_done) break;
    }
  }
}

// Repairs as the command does; returns the number of files created.
std::size_t repair_once(MemoryFiles& files, const std::vector<std::string>& folders) {
  auto set = choose_set(*find_sets(files, folders));
  EXPECT_TRUE(set.has_value());
  const auto settled = settle_set(files, *set);
  EXPECT_TRUE(settled.has_value());
  set = choose_set(*find_sets(files, folders));
  const auto report = repair_set(files, *set, {.named = folders});
  EXPECT_TRUE(report.has_value()) << report.error().message;
  return report ? report->files_created.size() : 0;
}

// The change is rolled back without the directory that committed it, which then returns with its
// journal. The journal must not apply to the shard that repair creates next to it.
TEST(NewGenerationFaults, ReturnedJournalsDoNotApplyToNewShards) {
  const SetChange change({.stripes = 7}, 9);
  const std::uint64_t calls = calls_of(change);
  std::size_t rebuilt_next_to_a_journal = 0;
  for (std::uint64_t call = calls / 2; call < calls; ++call) {
    for (const bool is_shard_lost : {false, true}) {
      SCOPED_TRACE(text("killed at call ", call, is_shard_lost ? ", shard lost" : ""));
      MemoryFiles files;
      change.put(files);
      FaultyFiles faulty(files);
      faulty.fail_call(call, Fault::crash);
      EXPECT_FALSE(change.run(faulty).has_value());
      const std::vector<std::string> all = change.folders();
      std::vector<std::string> replaced(all.begin() + 1, all.end());
      files.put("new/other", {});
      replaced.emplace_back("new");
      repair_once(files, replaced);  // without disk0
      if (is_shard_lost) static_cast<void>(files.remove(change.path(0)));
      const auto journals = [&] {
        const auto images = files.images();
        return std::count_if(images.begin(), images.end(),
                             [](const auto& file) { return file.first.ends_with(".redo"); });
      };
      const auto journals_before = journals();
      const std::size_t created = repair_once(files, all);
      if (created > 0 && journals_before > 0) ++rebuilt_next_to_a_journal;
      // Other shards of the newer generation may be elsewhere.
      if (!is_shard_lost && created > 0) {
        EXPECT_EQ(journals(), journals_before);
      }
      EXPECT_EQ(repair_once(files, all), 0U) << "the second repair has nothing to do";
      const auto report = verify_set(files, *choose_set(*find_sets(files, all)), true);
      ASSERT_TRUE(report.has_value());
      EXPECT_TRUE(report->is_good());
      std::string why;
      EXPECT_NE(change.state(files, all, why), State::neither) << why;
    }
  }
  EXPECT_GT(rebuilt_next_to_a_journal, 0U);
}

// After a power failure, unsynced bytes can be anything. The other tests rely on the order checked
// here.
TEST(NewGenerationFaults, OrderOnTheDisk) {
  const SetChange change({.stripes = 7}, 9);
  MemoryFiles beneath;
  change.put(beneath);
  FaultyFiles files(beneath);
  ASSERT_TRUE(change.run(files).has_value());
  const auto log = files.log();
  const auto is = [&](std::size_t i, const std::string& begin, const std::string& part) {
    return log[i].starts_with(begin) && log[i].find(part) != std::string::npos;
  };
  std::size_t journals_done = 0;
  for (std::size_t shard = 0; shard < 5; ++shard) {
    const std::string journal = text(SetChange::folder(shard), "/.calpe-");
    std::size_t header = 0;
    std::size_t last_other = 0;
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (!is(i, "write_at", journal)) continue;
      (log[i].find(" 0 +4096") != std::string::npos ? header : last_other) = i;
    }
    ASSERT_GT(header, last_other) << "the journal's header comes last";
    EXPECT_TRUE(is(header - 1, "sync " + journal, "")) << log[header - 1];
    EXPECT_TRUE(is(header + 1, "sync " + journal, "")) << log[header + 1];
    EXPECT_TRUE(is(header + 2, "sync_folder " + SetChange::folder(shard), "")) << log[header + 2];
    journals_done = std::max(journals_done, header + 2);
  }
  for (std::size_t shard = 0; shard < 5; ++shard) {
    const std::string path = change.path(shard);
    std::vector<std::size_t> changes;
    std::size_t removed = 0;
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (is(i, "write_at " + path, "") || is(i, "resize " + path, "")) changes.push_back(i);
      if (is(i, "remove " + SetChange::folder(shard), ".redo")) removed = i;
    }
    ASSERT_GT(changes.size(), 3U);
    EXPECT_GT(changes[0], journals_done) << "all journals come first";
    EXPECT_TRUE(is(changes[0], "write_at", " 0 +4096")) << log[changes[0]];
    EXPECT_TRUE(is(changes[0] + 1, "sync " + path, "")) << log[changes[0] + 1];
    EXPECT_TRUE(is(removed - 1, "sync " + path, "")) << log[removed - 1];
    EXPECT_GT(removed, changes.back());
  }
}

TEST(NewGenerationFaults, ErrorsAtEveryCall) {
  const SetChange change({.stripes = 7}, 9);
  const std::uint64_t calls = calls_of(change);
  for (const Fault fault : {Fault::input_output, Fault::no_space, Fault::short_read}) {
    for (std::uint64_t call = 0; call < calls; ++call) {
      MemoryFiles files;
      change.put(files);
      const auto before = files.images();
      FaultyFiles faulty(files);
      faulty.fail_call(call, fault);
      const Status done = change.run(faulty);
      if (!faulty.has_failed()) continue;
      SCOPED_TRACE("call " + std::to_string(call) + ": " + faulty.log()[call]);
      std::string why;
      const State state = change.state(files, change.folders(), why);
      ASSERT_NE(state, State::neither) << why;
      if (done) {
        EXPECT_EQ(state, State::new_one);
      } else {
        // A shard that cannot be opened during discovery counts as missing.
        const std::string& message = done.error().message;
        EXPECT_TRUE(message.find("disk") != message.npos || message.find("missing") != message.npos)
            << message;
      }
      if (state == State::old_one) {
        for (const auto& [path, bytes] : before) {
          EXPECT_EQ(files.at(path), bytes) << path;
        }
      }
      expect_repaired(change, copy_of(files), state);
    }
  }
}

}  // namespace
}  // namespace calpe::store
