// SPDX-License-Identifier: Apache-2.0
#include "array/service/hook_runner.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <vector>

#include "base/files.hpp"

namespace calpe::array {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HookRunnerTest : public ::testing::Test {
 protected:
  std::string script(const std::string& body) const {
    const std::string path = folder_.path() + "/hook";
    std::ofstream(path) << "#!/bin/sh\n" << body << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::string output() const { return folder_.path() + "/out"; }
  std::string said() const {
    const Result<std::string> text = read_file(output());
    return text ? *text : text.error().message;
  }
  HookRunner::Complain complain() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      complaints_.push_back(line);
    };
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
  std::mutex mutex_;
  std::vector<std::string> complaints_;
};

TEST_F(HookRunnerTest, EventsArriveInOrderWithTheirFields) {
  const std::string hook = script(
      "echo \"$1|$2|$CALPE_EVENT|$CALPE_MESSAGE|$CALPE_LEVEL|$CALPE_ARRAY|${CALPE_MEMBER-none}\" "
      ">> " +
      output());
  {
    HookRunner runner(hook, "uuid", complain());
    runner.add({"member-out", "member 3 is out: \"a\nb\"", true, 3});
    runner.add({"rebuild-complete", "rebuild complete"});
  }
  EXPECT_EQ(said(),
            "member-out|member 3 is out: \"a\nb\"|member-out|member 3 is out: \"a\nb\"|warning|"
            "uuid|3\n"
            "rebuild-complete|rebuild complete|rebuild-complete|rebuild complete|info|uuid|none\n");
  EXPECT_TRUE(complaints_.empty());
}

TEST_F(HookRunnerTest, FailuresAreReported) {
  {
    HookRunner runner(script("exit 7"), "uuid", complain());
    runner.add({"a", "b"});
  }
  {
    HookRunner runner(script("kill -9 $$"), "uuid", complain());
    runner.add({"a", "b"});
  }
  {
    HookRunner runner(folder_.path() + "/nowhere", "uuid", complain());
    runner.add({"a", "b"});
  }
  EXPECT_THAT(complaints_,
              ElementsAre(HasSubstr("failed for a: exit code 7"),
                          HasSubstr("failed for a: signal 9"), HasSubstr("nowhere: No such file")));
}

TEST_F(HookRunnerTest, ASlowProgramIsKilledAndDelaysNoCaller) {
  const auto begun = std::chrono::steady_clock::now();
  {
    HookRunner runner(script("sleep 600"), "uuid", complain(),
                      {.run = std::chrono::milliseconds(200),
                       .stop = std::chrono::milliseconds(600),
                       .events = 2});
    for (int i = 0; i < 100; ++i)
      runner.add({"a", "b"});
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(120));
  ASSERT_FALSE(complaints_.empty());
  EXPECT_THAT(complaints_.front(), HasSubstr("too many events"));
  EXPECT_THAT(complaints_.back(), HasSubstr("took too long for a and was killed"));
}

}  // namespace
}  // namespace calpe::array
