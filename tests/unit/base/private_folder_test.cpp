// SPDX-License-Identifier: Apache-2.0
// Directories that only their owner may write to: links are not followed, other users' files are
// not read, and the checked directory is the one used.
#include "base/private_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dump.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "support/environment_scope.hpp"
#include "support/without_standard_input.hpp"
#include "support/workshop.hpp"

namespace calpe {
namespace {

namespace fs = std::filesystem;
using tests::EnvironmentScope;
using tests::Workshop;

std::string made_folder(const Workshop& workshop, const char* name, mode_t mode = 0700) {
  const std::string folder = workshop.path(name);
  fs::create_directory(folder);
  EXPECT_EQ(chmod(folder.c_str(), mode), 0);
  return folder;
}

mode_t mode_of(const std::string& path) {
  struct stat about = {};
  EXPECT_EQ(stat(path.c_str(), &about), 0) << path;
  return about.st_mode & 0777;
}

TEST(PrivateFolder, makes_files_for_the_owner_only) {
  const Workshop workshop;
  const std::string path = made_folder(workshop, "own");
  const auto folder = PrivateFolder::open(path);
  ASSERT_TRUE(folder);
  const mode_t before = umask(0);
  ASSERT_TRUE(folder->create("new", "bytes"));
  ASSERT_TRUE(folder->replace("other", "more"));
  umask(before);
  EXPECT_EQ(mode_of(path + "/new"), 0600U);
  EXPECT_EQ(mode_of(path + "/other"), 0600U);
  EXPECT_EQ(*folder->read("new"), "bytes");
  EXPECT_EQ(folder->list().size(), 2U);
  const Status again = folder->create("new", "bytes");
  EXPECT_FALSE(again) << "existing files are not overwritten";
}

TEST(PrivateFolder, does_not_follow_links) {
  const Workshop workshop;
  const std::string path = made_folder(workshop, "own");
  const std::string victim = workshop.path("victim");
  std::ofstream(victim) << "precious";
  fs::create_symlink(victim, path + "/link");
  const auto folder = PrivateFolder::open(path);
  ASSERT_TRUE(folder);
  EXPECT_FALSE(folder->read("link"));
  EXPECT_FALSE(folder->create("link", "harm"));
  EXPECT_TRUE(folder->replace("link", "ours"));  // replaces the link, not its target
  std::string content;
  std::getline(std::ifstream(victim), content);
  EXPECT_EQ(content, "precious");
  EXPECT_EQ(*folder->read("link"), "ours");
}

TEST(PrivateFolder, refuses_files_that_others_may_write) {
  const Workshop workshop;
  const std::string path = made_folder(workshop, "own");
  const auto folder = PrivateFolder::open(path);
  ASSERT_TRUE(folder);
  for (const mode_t mode : {0620U, 0602U}) {
    ASSERT_TRUE(folder->replace("file", "bytes"));
    ASSERT_EQ(chmod((path + "/file").c_str(), mode), 0);
    EXPECT_FALSE(folder->read("file")) << mode;
  }
  if (geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a file";
  ASSERT_TRUE(folder->replace("file", "bytes"));
  ASSERT_EQ(chown((path + "/file").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(folder->read("file"));
}

TEST(PrivateFolder, keeps_using_the_checked_directory) {
  const Workshop workshop;
  const std::string path = made_folder(workshop, "own");
  const auto folder = PrivateFolder::open(path);
  ASSERT_TRUE(folder);
  ASSERT_TRUE(folder->create("file", "ours"));
  fs::rename(path, workshop.path("moved"));
  made_folder(workshop, "own", 0777);
  std::ofstream(path + "/file") << "theirs";
  EXPECT_EQ(*folder->read("file"), "ours");
}

TEST(PrivateFolder, uses_descriptor_0_and_closes_it) {
  if (!tests::is_descriptor_0_open()) GTEST_SKIP() << "the first folder would be descriptor 0";
  const Workshop workshop;
  const std::string path = made_folder(workshop, "own");
  const auto opened_before = PrivateFolder::open(path);
  ASSERT_TRUE(opened_before);
  const tests::WithoutStandardInput scope;
  EXPECT_TRUE(opened_before->create("file", "bytes"));  // the file is descriptor 0
  EXPECT_FALSE(tests::is_descriptor_0_open());
  EXPECT_EQ(*opened_before->read("file"), "bytes");
  EXPECT_EQ(opened_before->list().size(), 1U);
  EXPECT_FALSE(tests::is_descriptor_0_open());
  {
    const auto folder = PrivateFolder::open(path);  // the directory is descriptor 0
    ASSERT_TRUE(folder);
    EXPECT_EQ(*folder->read("file"), "bytes");
    EXPECT_EQ(folder->list().size(), 1U);
    EXPECT_TRUE(tests::is_descriptor_0_open());
  }
  EXPECT_FALSE(tests::is_descriptor_0_open());
  EXPECT_FALSE(PrivateFolder::open(workshop.path("missing")));
}

// sysfs files report a page and contain less.
TEST(PrivateFolder, reads_short_files_to_their_end) {
  const std::string file = "/sys/kernel/profiling";
  if (geteuid() != 0 || !fs::exists(file)) GTEST_SKIP() << "needs root and " << file;
  const auto folder = PrivateFolder::open("/sys/kernel");
  ASSERT_TRUE(folder) << folder.error().message;
  alarm(60);      // ends an endless read
  errno = EINTR;  // left from an earlier call
  const Result<std::string> bytes = folder->read("profiling");
  alarm(0);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_LT(bytes->size(), fs::file_size(file));
}

TEST(Dump, writes_only_to_private_directories) {
  const Workshop workshop;
  const std::string good = made_folder(workshop, "good");
  {
    const EnvironmentScope scope("CALPE_DUMP", good);
    const mode_t before = umask(0);
    dump("name.txt", std::string_view("content"));
    umask(before);
  }
  ASSERT_EQ(std::distance(fs::directory_iterator(good), fs::directory_iterator()), 1);
  EXPECT_EQ(mode_of(fs::directory_iterator(good)->path()), 0600U);
  const std::string open = made_folder(workshop, "open", 0777);
  const EnvironmentScope scope("CALPE_DUMP", open);
  dump("name.txt", std::string_view("content"));
  EXPECT_TRUE(fs::is_empty(open));
}

TEST(Printable, escapes_only_control_sequences) {
  EXPECT_EQ(printable("a\x1b[2J\x7f"), "a\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\x9b"
                      "31m\xff"),
            "\\x9b31m\\xff");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // reverses the line
  EXPECT_EQ(printable("grün 日本 😀"), "grün 日本 😀");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(printable("abcdef", 3), "abc...");
}

}  // namespace
}  // namespace calpe
