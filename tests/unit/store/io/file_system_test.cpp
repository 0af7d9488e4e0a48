// SPDX-License-Identifier: Apache-2.0
// The file system interface, and the test double that fails on demand.
#include "store/io/file_system.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/faulty_files.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::Fault;
using tests::FaultyFiles;
using tests::Workshop;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string read_text(File& file, std::size_t bytes, std::uint64_t offset) {
  std::string out(bytes, '\0');
  const auto got = file.read_at(std::as_writable_bytes(std::span(out)), offset);
  if (!got) return got.error().message;
  out.resize(*got);
  return out;
}

template <class T>
std::string message_of(const Result<T>& result) {
  if (result) return "no error";
  EXPECT_EQ(result.error().code, ErrorCode::io);
  return result.error().message;
}

TEST(PosixFiles, WhatIsWrittenIsRead) {
  const Workshop shop;
  FileSystem& files = posix_files();
  auto file = files.create(shop.path("a"));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ((*file)->path(), shop.path("a"));
  ASSERT_TRUE((*file)->write_at(bytes_of("world"), 6).has_value());
  ASSERT_TRUE((*file)->write_at(bytes_of("hello"), 0).has_value());
  EXPECT_EQ(*(*file)->size(), 11U);
  EXPECT_EQ(read_text(**file, 100, 0), std::string("hello\0world", 11));
  EXPECT_EQ(read_text(**file, 3, 6), "wor");
  EXPECT_EQ(read_text(**file, 3, 11), "");
  EXPECT_EQ(read_text(**file, 3, ~std::uint64_t{0}), "");
  ASSERT_TRUE((*file)->resize(5).has_value());
  ASSERT_TRUE((*file)->sync().has_value());
  EXPECT_EQ(read_text(**file, 100, 0), "hello");
  struct stat about = {};
  ASSERT_EQ(stat(shop.path("a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);

  ASSERT_TRUE(files.rename(shop.path("a"), shop.path("b")).has_value());
  auto again = files.open_to_change(shop.path("b"));
  ASSERT_TRUE(again.has_value());
  ASSERT_TRUE((*again)->write_at(bytes_of("J"), 0).has_value());
  EXPECT_EQ(read_text(**files.open(shop.path("b")), 9, 0), "Jello");
  ASSERT_TRUE(files.remove(shop.path("b")).has_value());
  EXPECT_TRUE(files.remove(shop.path("b")).has_value());
}

TEST(PosixFiles, FoldersAndLists) {
  const Workshop shop;
  FileSystem& files = posix_files();
  ASSERT_TRUE(files.make_folders(shop.path("x/y/z/")).has_value());
  EXPECT_TRUE(files.make_folders(shop.path("x/y/z")).has_value());
  for (const char* name : {"b", "a", ".c"}) {
    ASSERT_TRUE(files.create(shop.path("x/y") + "/" + name).has_value());
  }
  EXPECT_EQ(*files.list(shop.path("x/y")), (std::vector<std::string>{".c", "a", "b", "z"}));
  EXPECT_TRUE(files.sync_folder(shop.path("x")).has_value());
  EXPECT_EQ(message_of(files.make_folders(shop.path("x/y/a"))),
            "cannot create directory " + shop.path("x/y/a") + ": Not a directory");
  EXPECT_EQ(message_of(files.make_folders(shop.path("x/y/a/b"))),
            "cannot create directory " + shop.path("x/y/a/b") + ": Not a directory");
  EXPECT_EQ(message_of(files.make_folders("")),
            "cannot create directory : No such file or directory");
}

TEST(PosixFiles, ErrorsNameActionPathAndReason) {
  const Workshop shop;
  FileSystem& files = posix_files();
  const std::string missing = shop.path("missing");
  const std::string why = ": No such file or directory";
  EXPECT_EQ(message_of(files.open(missing)), "cannot open " + missing + why);
  EXPECT_EQ(message_of(files.open_to_change(missing)), "cannot open " + missing + why);
  EXPECT_EQ(message_of(files.list(missing)), "cannot list " + missing + why);
  EXPECT_EQ(message_of(files.sync_folder(missing)), "cannot sync directory " + missing + why);
  EXPECT_EQ(message_of(files.rename(missing, missing + "2")),
            "cannot rename " + missing + " to " + missing + "2" + why);
  EXPECT_EQ(message_of(files.open(shop.path(""))),
            "cannot open " + shop.path("") + ": not a regular file");
  EXPECT_EQ(message_of(files.remove(shop.path(""))),
            "cannot remove " + shop.path("") + ": Is a directory");
  shop.write("there", "x");
  EXPECT_EQ(message_of(files.create(shop.path("there"))),
            "cannot create " + shop.path("there") + ": File exists");
  auto reader = files.open(shop.path("there"));
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(message_of((*reader)->write_at(bytes_of("y"), 0)),
            "cannot write " + shop.path("there") + ": Bad file descriptor");
  auto writer = files.open_to_change(shop.path("there"));
  ASSERT_TRUE(writer.has_value());
  const std::string large = shop.path("there") + ": File too large";
  EXPECT_EQ(message_of((*writer)->write_at(bytes_of("yy"), ~std::uint64_t{0} / 2)),
            "cannot write " + large);
  EXPECT_EQ(message_of((*writer)->resize(~std::uint64_t{0})), "cannot resize " + large);
}

// A link at the path of the new file must not be followed.
TEST(PosixFiles, CreateDoesNotFollowLinks) {
  const Workshop shop;
  ASSERT_EQ(symlink(shop.path("victim").c_str(), shop.path("link").c_str()), 0);
  EXPECT_FALSE(posix_files().create(shop.path("link")).has_value());
  EXPECT_FALSE(posix_files().open(shop.path("victim")).has_value());
}

TEST(PosixFiles, PipesDoNotBlock) {
  const Workshop shop;
  ASSERT_EQ(mkfifo(shop.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(message_of(posix_files().open(shop.path("pipe"))),
            "cannot open " + shop.path("pipe") + ": not a regular file");
}

// At the file size limit, the write is cut short first and then fails.
TEST(PosixFiles, ShortWritesContinueUntilTheError) {
  const Workshop shop;
  auto file = posix_files().create(shop.path("a"));
  ASSERT_TRUE(file.has_value());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = 10000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string text(20000, 'x');
  const Status status = (*file)->write_at(bytes_of(text), 0);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message_of(status), "cannot write " + shop.path("a") + ": File too large");
  EXPECT_EQ(*(*file)->size(), 10000U);
}

TEST(FaultyFiles, CountsAndFailsTheChosenCall) {
  const Workshop shop;
  FaultyFiles files;
  const auto work = [&]() -> std::string {
    auto file = files.create(shop.path("a"));  // call 0
    if (!file) return file.error().message;
    const Status put = (*file)->write_at(bytes_of("12345678"), 0);  // 1
    if (!put) return put.error().message;
    return read_text(**file, 8, 0);  // 2
  };
  EXPECT_EQ(work(), "12345678");
  EXPECT_EQ(files.calls(), 3U);
  EXPECT_FALSE(files.has_failed());
  EXPECT_EQ(files.log()[1], "write_at " + shop.path("a") + " 0 +8");

  ASSERT_TRUE(posix_files().remove(shop.path("a")).has_value());
  files.fail_call(0, Fault::no_space);
  EXPECT_EQ(work(), "cannot create " + shop.path("a") + ": No space left on device");
  files.fail_call(1, Fault::input_output);
  EXPECT_EQ(work(), "cannot write " + shop.path("a") + ": Input/output error");
  EXPECT_EQ(read_text(**posix_files().open(shop.path("a")), 9, 0), "1234");
  ASSERT_TRUE(posix_files().remove(shop.path("a")).has_value());
  files.fail_call(2, Fault::short_read);
  EXPECT_EQ(work(), "1234");
  EXPECT_TRUE(files.has_failed());
  ASSERT_TRUE(posix_files().remove(shop.path("a")).has_value());
  files.fail_call(2, Fault::no_space);  // a read needs no space
  EXPECT_EQ(work(), "12345678");
  EXPECT_FALSE(files.has_failed());
  files.fail_call(0, Fault::crash);
  EXPECT_FALSE(files.remove(shop.path("a")).has_value());
  EXPECT_FALSE(files.remove(shop.path("a")).has_value());
  EXPECT_TRUE(posix_files().open(shop.path("a")).has_value());
  files.stop_failing();
  files.fail_below(shop.path("a"));
  EXPECT_FALSE(files.remove(shop.path("a")).has_value());
  files.stop_failing();
  EXPECT_TRUE(files.remove(shop.path("a")).has_value());
}

}  // namespace
}  // namespace calpe::store
