// SPDX-License-Identifier: Apache-2.0
#include "remote/place/child_process.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>

#include "base/text.hpp"
#include "remote/place/open_place.hpp"
#include "support/environment_scope.hpp"
#include "support/scratch_folder.hpp"

namespace calpe::remote {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr milliseconds long_time = std::chrono::hours(1);

Result<ChildResult> run_shell(const std::string& script, std::string_view input,
                              milliseconds time_limit) {
  return run_child({"/bin/sh", "-c", script}, std::as_bytes(std::span(input)), 100, time_limit);
}

TEST(ChildProcess, ReturnsOutputErrorsAndExitCode) {
  const auto done =
      run_shell(text("cat; cat ", child_input_path, "; echo oops >&2; exit 3"), "ab", long_time);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->exit_code, 3);
  EXPECT_EQ(done->errors, "oops\n");
  const std::string_view output(reinterpret_cast<const char*>(done->output.data()),
                                done->output.size());
  EXPECT_EQ(output, "abab");
}

TEST(ChildProcess, KillsAHungProgram) {
  for (const char* script : {"exec sleep 3600", "sleep 3600; true", "exec >&-; exec sleep 3600"}) {
    const auto done = run_shell(script, "", milliseconds(20));
    ASSERT_FALSE(done) << script;
    EXPECT_THAT(done.error().message, HasSubstr("without progress"));
  }
}

TEST(ChildProcess, KillsAProgramThatWritesTooMuch) {
  const auto done = run_shell("while echo more; do :; done", "", long_time);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("wrote too much"));
}

TEST(RclonePlace, GivesUpAHungRclone) {
  const tests::ScratchFolder folder;
  namespace fs = std::filesystem;
  fs::permissions(folder.write("rclone", "#!/bin/sh\nexec /bin/sleep 3600\n"),
                  fs::perms::owner_all);
  const tests::EnvironmentScope path("PATH", folder.path(""));
  const auto place = open_place("rclone:drive:calpe", {.attempts = 1, .timeout_s = 0});
  ASSERT_TRUE(place) << place.error().message;
  const auto objects = (*place)->list("");
  ASSERT_FALSE(objects);
  EXPECT_THAT(objects.error().message, HasSubstr("without progress"));
}

}  // namespace
}  // namespace calpe::remote
