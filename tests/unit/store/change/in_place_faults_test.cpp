// SPDX-License-Identifier: Apache-2.0
// An update of kept originals that fails or is killed at any call leaves the old or the new parity,
// and the next update succeeds.
#include <gtest/gtest.h>

#include "store/change/generation_update.hpp"
#include "support/faulty_files.hpp"
#include "support/kept_tree.hpp"

namespace calpe::store {
namespace {

using tests::Fault;
using tests::FaultyFiles;
using tests::KeptTree;
using tests::pattern;

// Two files change, and the list of files gets longer.
class InPlaceFaults : public testing::TestWithParam<Fault> {
 protected:
  InPlaceFaults() {
    trial_.put("a", pattern(4000, 1));
    trial_.put("b", pattern(4000, 2));
    trial_.put("c", pattern(300, 3));
    trial_.protect();
    old_ = trial_.read_all();
    before_ = trial_.files.images();
    trial_.flip("a", 7, 2000);
    std::filesystem::rename(trial_.file("c"), trial_.file("a longer name"));
    tests::set_time(trial_.tree, 1000, 7);
    new_ = old_;
    new_["a"] = tests::read_bytes(trial_.file("a"));
    new_.erase("c");
    new_["a longer name"] = old_["c"];
  }
  void put_back() {
    for (const auto& [path, bytes] : trial_.files.images())
      EXPECT_TRUE(trial_.files.remove(path));
    for (const auto& [path, bytes] : before_)
      trial_.files.put(path, bytes);
  }
  // Also with a lost parity file, with or without its journal, and with a lost journal.
  void expect_old_or_new() {
    expect_readable();
    const auto images = trial_.files.images();
    for (const std::string lost : {"s004", "s005"}) {
      for (const std::string part : {".calpe", ".redo", "004", "005"}) {
        for (const auto& [path, bytes] : images) {
          const bool is_lost = path.find(lost) != path.npos &&
                               (path.ends_with(part) || path.find(part) != path.npos);
          if (is_lost) {
            EXPECT_TRUE(trial_.files.remove(path));
          }
        }
        expect_readable();
        for (const auto& [path, bytes] : images)
          trial_.files.put(path, bytes);
      }
    }
  }
  void expect_readable() {
    auto found = trial_.read_all();
    EXPECT_TRUE(found == old_ || found == new_) << found[""];
  }

  KeptTree trial_;
  KeptTree::Contents old_;
  KeptTree::Contents new_;
  std::map<std::string, tests::Bytes> before_;
};

TEST_P(InPlaceFaults, EveryCall) {
  std::uint64_t calls = 0;
  {
    FaultyFiles files(trial_.files);
    const auto updated = trial_.update_in(files);
    ASSERT_TRUE(updated) << updated.error().message;
    ASSERT_FALSE(updated->is_all_encoded);
    calls = files.calls();
    ASSERT_EQ(trial_.read_all(), new_);
    ASSERT_EQ(trial_.files.images().size(), before_.size());
  }
  EXPECT_GT(calls, 60U);
  std::uint64_t failures = 0;
  for (std::uint64_t index = 0; index < calls; ++index) {
    put_back();
    FaultyFiles files(trial_.files);
    files.fail_call(index, GetParam());
    const auto updated = trial_.update_in(files);
    SCOPED_TRACE(testing::Message() << "call " << index << ": " << files.log()[index]);
    if (updated) {
      EXPECT_EQ(trial_.read_all(), new_);
      continue;
    }
    ++failures;
    expect_old_or_new();
    // The next attempt succeeds, whatever leftovers there are.
    const auto settled = settle(trial_.files, {"disk"});
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_EQ(trial_.files.images().size(), before_.size()) << "a journal was left";
    const auto again = trial_.update();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(trial_.read_all(), new_);
    EXPECT_EQ(trial_.files.images().size(), before_.size());
    EXPECT_EQ(trial_.verify(), "");
  }
  // A short read of a file list or of a page of checksums costs nothing: there are others.
  EXPECT_GT(failures, GetParam() == Fault::short_read ? 0U : 30U);
}

INSTANTIATE_TEST_SUITE_P(All, InPlaceFaults,
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
