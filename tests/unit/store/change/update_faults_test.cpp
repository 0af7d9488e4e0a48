// SPDX-License-Identifier: Apache-2.0
// An update that fails or is killed at any call leaves the old or the new set, and the next update
// succeeds.
#include <gtest/gtest.h>

#include "store/change/generation_update.hpp"
#include "support/faulty_files.hpp"
#include "support/updated_tree.hpp"

namespace calpe::store {
namespace {

using tests::Fault;
using tests::FaultyFiles;
using tests::pattern;
using tests::UpdatedTree;
using tests::write_file;

// One file grows, one is removed, one byte changes: covers delta, encoding and new stripes.
class UpdateFaults : public testing::TestWithParam<Fault> {
 protected:
  UpdateFaults() {
    trial_.block_bytes = 1024;
    trial_.protect();
    old_ = trial_.read_all();
    before_ = trial_.files.images();
    std::string changed = pattern(20000, 1);
    changed[5] ^= 1;
    write_file(trial_.tree + "/a", changed);
    write_file(trial_.tree + "/c", pattern(9000, 7));
    std::filesystem::remove(trial_.tree + "/folder/b");
    new_ = {{"a", changed}, {"c", pattern(9000, 7)}};
  }
  void put_back() {
    for (const auto& [path, bytes] : trial_.files.images())
      EXPECT_TRUE(trial_.files.remove(path));
    for (const auto& [path, bytes] : before_)
      trial_.files.put(path, bytes);
  }
  // Also with the maximum number of shards lost, with or without their journals.
  void expect_old_or_new() {
    expect_readable();
    const auto images = trial_.files.images();
    for (const std::string part : {"calpe", ".redo"}) {
      for (const auto& [path, bytes] : images) {
        const bool is_lost = path.find("s001") != path.npos || path.find("s004") != path.npos;
        if (!is_lost || !path.ends_with(part)) continue;
        EXPECT_TRUE(trial_.files.remove(path));
      }
      expect_readable();
    }
    for (const auto& [path, bytes] : images)
      trial_.files.put(path, bytes);
  }
  void expect_readable() {
    auto found = trial_.read_all();
    EXPECT_TRUE(found == old_ || found == new_) << found[""];
  }

  UpdatedTree trial_;
  UpdatedTree::Contents old_;
  UpdatedTree::Contents new_;
  std::map<std::string, tests::Bytes> before_;
};

TEST_P(UpdateFaults, EveryCall) {
  std::uint64_t calls = 0;
  {
    FaultyFiles files(trial_.files);
    ASSERT_TRUE(trial_.update_in(files));
    calls = files.calls();
    ASSERT_EQ(trial_.read_all(), new_);
    ASSERT_EQ(trial_.files.images().size(), before_.size());
  }
  EXPECT_GT(calls, 80U);
  std::uint64_t failures = 0;
  for (std::uint64_t index = 0; index < calls; ++index) {
    put_back();
    FaultyFiles files(trial_.files);
    files.fail_call(index, GetParam());
    const auto report = trial_.update_in(files);
    SCOPED_TRACE(testing::Message() << "call " << index << ": " << files.log()[index]);
    if (report) {
      EXPECT_EQ(trial_.read_all(), new_);
      continue;
    }
    ++failures;
    // A file that could not be opened is not a shard.
    const bool is_named = report.error().message.find("disk") != std::string::npos ||
                          report.error().message.ends_with("is missing; run calpe repair first");
    EXPECT_TRUE(is_named) << report.error().message;
    expect_old_or_new();
    // The next attempt succeeds, whatever leftovers there are.
    const auto settled = settle(trial_.files, {"disk"});
    ASSERT_TRUE(settled) << settled.error().message;
    const auto again = trial_.update();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(trial_.read_all(), new_);
    EXPECT_EQ(trial_.files.images().size(), before_.size());
    const auto verified = verify_set(trial_.files, *trial_.find(), true);
    EXPECT_TRUE(verified && verified->is_good());
  }
  EXPECT_GT(failures, GetParam() == Fault::short_read ? 10U : 40U);
}

INSTANTIATE_TEST_SUITE_P(All, UpdateFaults,
                         testing::Values(Fault::input_output, Fault::no_space, Fault::short_read,
                                         Fault::crash),
                         [](const auto& about) {
                           switch (about.param) {
                             case Fault::input_output:
                               return "InputOutput";
                             case Fault::no_space:
                               return "NoSpace";
                             case Fault::short_read:
                               return "ShortRead";
                             case Fault::crash:
                               break;
                           }
                           return "Crash";
                         });

}  // namespace
}  // namespace calpe::store
