// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/environment_scope.hpp"
#include "support/without_standard_input.hpp"
#include "support/workshop.hpp"

namespace calpe {
namespace {

namespace fs = std::filesystem;
using tests::Workshop;

TEST(Files, are_read_whole_and_replaced_whole) {
  const Workshop workshop;
  const std::string path = workshop.path("file");
  const std::string bytes("zero\0byte", 9);
  ASSERT_TRUE(replace_file(path, bytes));
  EXPECT_EQ(*read_file(path), bytes);
  ASSERT_TRUE(replace_file(path, ""));
  EXPECT_EQ(*read_file(path), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(workshop.path("")), fs::directory_iterator()), 1);
  remove_file(path);
  remove_file(path);
  EXPECT_FALSE(fs::exists(path));
}

TEST(Files, errors_name_the_file) {
  const Workshop workshop;
  const std::string missing = workshop.path("missing");
  EXPECT_EQ(read_file(missing).error().message,
            "cannot read " + missing + ": No such file or directory");
  EXPECT_EQ(read_file(missing).error().code, ErrorCode::io);
  EXPECT_EQ(read_file(workshop.path("")).error().message,
            workshop.path("") + " is not a regular file");
  EXPECT_FALSE(replace_file(missing + "/below", "x"));
  const std::string pipe = workshop.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(read_file(pipe));  // does not wait for a writer
  EXPECT_FALSE(replace_file(workshop.path(""), "x"));
}

TEST(Files, descriptor_0_is_closed_like_any_other) {
  const Workshop workshop;
  const std::string path = workshop.path("file");
  const tests::WithoutStandardInput scope;
  EXPECT_TRUE(replace_file(path, "bytes"));
  EXPECT_FALSE(tests::is_descriptor_0_open());
  EXPECT_EQ(*read_file(path), "bytes");
  EXPECT_FALSE(tests::is_descriptor_0_open());
}

TEST(Files, a_full_disk_leaves_no_file) {
  const Workshop workshop;
  const std::string path = workshop.path("file");
  ASSERT_TRUE(replace_file(path, "before"));
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // so that the call fails instead
  const rlimit small = {100, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status written = replace_file(path, std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("File too large"), std::string::npos);
  EXPECT_EQ(*read_file(path), "before");
  EXPECT_EQ(std::distance(fs::directory_iterator(workshop.path("")), fs::directory_iterator()), 1);
}

TEST(TemporaryFolder, is_private_and_removed) {
  std::string path;
  {
    auto made = TemporaryFolder::create();
    ASSERT_TRUE(made) << made.error().message;
    const TemporaryFolder folder = *std::move(made);
    path = folder.path();
    ASSERT_TRUE(replace_file(path + "/file", "x"));
    struct stat about = {};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0700U);
  }
  EXPECT_FALSE(fs::exists(path));
  const tests::EnvironmentScope nowhere("TMPDIR", "/does/not/exist");
  EXPECT_FALSE(TemporaryFolder::create());
}

}  // namespace
}  // namespace calpe
