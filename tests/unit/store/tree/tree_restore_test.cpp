// SPDX-License-Identifier: Apache-2.0
// Restores the same tree, nothing outside of it, and no partial file under its final name.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <sys/wait.h>
#include <thread>

#include "store/tree/tree.hpp"
#include "support/environment_scope.hpp"
#include "support/sample_tree.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

namespace fs = std::filesystem;
using tests::content_of;
using tests::look_at;
using tests::mib;
using tests::pattern;
using tests::Workshop;

struct Content {
  Manifest manifest;
  std::vector<std::byte> bytes;
};

Content protect(const std::string& path) {
  const auto source = TreeSource::open(path);
  EXPECT_TRUE(source);
  auto bytes = tests::read_whole(**source, mib);
  EXPECT_TRUE(bytes);
  return {(*source)->manifest(), *std::move(bytes)};
}

std::string error_of(const Status& status) {
  return status ? "" : status.error().message;
}

Entry entry(EntryType type, std::string path, std::string target = {}) {
  Entry made;
  made.type = type;
  made.path = std::move(path);
  made.target = std::move(target);
  made.mode = type == EntryType::folder ? 0755 : 0644;
  return made;
}

// 3 bytes "abc" at the beginning of the content.
Entry abc(std::string path) {
  Entry made = entry(EntryType::file, std::move(path));
  made.file_bytes = 3;
  made.extents = {{0, 0, 3}};
  return made;
}

std::vector<std::byte> abc_content() {
  return {std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
}

std::size_t count_below(const std::string& folder) {
  const auto all = fs::recursive_directory_iterator(folder);
  return static_cast<std::size_t>(std::distance(fs::begin(all), fs::end(all)));
}

TEST(RestoreTree, gives_the_same_tree) {
  const Workshop workshop;
  const std::string top = workshop.path("tree");
  tests::make_sample_tree(top);
  const auto seen = look_at(top);
  const Content content = protect(top);
  std::uint64_t last = 0;
  std::uint64_t all = 0;
  RestoreOptions options;
  options.on_progress = [&](std::uint64_t done, std::uint64_t of) {
    EXPECT_GE(done, last);
    EXPECT_LE(done, of);
    last = done;
    all = of;
  };
  std::size_t read_max = 0;
  const ReadContent read = [&](std::span<std::byte> bytes, std::uint64_t offset) {
    read_max = std::max(read_max, bytes.size());
    return content_of(content.bytes)(bytes, offset);
  };
  EXPECT_EQ(error_of(restore_tree(content.manifest, read, workshop.path("a/b/c/"), options)), "");
  EXPECT_TRUE(tests::is_same_tree(seen, look_at(workshop.path("a/b/c"))));
  EXPECT_LE(read_max, 8 * mib);
  EXPECT_EQ(last, all);
  EXPECT_GT(all, 9 * mib);
  // Protecting the restored tree gives the same content.
  EXPECT_EQ(protect(workshop.path("a/b/c")).bytes, content.bytes);

  // An existing empty directory keeps its mode and time; the rest is the same.
  fs::create_directory(workshop.path("there"));
  ASSERT_EQ(::chmod(workshop.path("there").c_str(), 0700), 0);
  last = 0;
  EXPECT_EQ(error_of(restore_tree(content.manifest, read, workshop.path("there"), options)), "");
  auto there = look_at(workshop.path("there"));
  EXPECT_EQ(there[""].mode & 07777U, 0700U);
  there[""] = seen.at("");
  EXPECT_TRUE(tests::is_same_tree(seen, there));
  // Restore again over it.
  last = 0;
  options.overwrite = true;
  tests::write_file(workshop.path("there/big"), "changed");
  EXPECT_EQ(error_of(restore_tree(content.manifest, read, workshop.path("there"), options)), "");
  EXPECT_TRUE(tests::is_same_tree(seen, look_at(workshop.path("there"))));
  tests::make_removable(workshop.path(""));
}

TEST(RestoreTree, replaces_nothing_unless_asked) {
  const Workshop workshop;
  const auto bytes = abc_content();
  Manifest manifest = {.entries = {entry(EntryType::folder, ""), entry(EntryType::folder, "d"),
                                   abc("d/file"), entry(EntryType::link, "link", "to")}};
  fs::create_directories(workshop.path("out/d"));
  tests::write_file(workshop.path("out/link"), "kept");
  EXPECT_EQ(error_of(restore_tree(manifest, content_of(bytes), workshop.path("out"), {})),
            workshop.path("out/link") + " already exists; use --overwrite to replace it");
  EXPECT_EQ(tests::read_bytes(workshop.path("out/link")), "kept");
  EXPECT_EQ(count_below(workshop.path("out")), 2U);  // nothing was started
  RestoreOptions options;
  options.overwrite = true;
  tests::write_file(workshop.path("victim"), "kept");
  fs::create_symlink(workshop.path("victim"), workshop.path("out/d/file"));
  EXPECT_EQ(error_of(restore_tree(manifest, content_of(bytes), workshop.path("out"), options)), "");
  EXPECT_EQ(fs::read_symlink(workshop.path("out/link")), "to");
  EXPECT_FALSE(fs::is_symlink(workshop.path("out/d/file")));
  EXPECT_EQ(tests::read_bytes(workshop.path("out/d/file")), "abc");
  EXPECT_EQ(tests::read_bytes(workshop.path("victim")), "kept");
  // A directory is never replaced by a file, nor the reverse.
  fs::remove(workshop.path("out/link"));
  fs::create_directory(workshop.path("out/link"));
  EXPECT_NE(error_of(restore_tree(manifest, content_of(bytes), workshop.path("out"), options)), "");
  EXPECT_TRUE(fs::is_directory(workshop.path("out/link")));
  fs::remove_all(workshop.path("out/d"));
  tests::write_file(workshop.path("out/d"), "kept");
  EXPECT_EQ(error_of(restore_tree(manifest, content_of(bytes), workshop.path("out"), options)),
            "cannot open directory " + workshop.path("out/d") + ": Not a directory");
  EXPECT_EQ(tests::read_bytes(workshop.path("out/d")), "kept");
  EXPECT_EQ(count_below(workshop.path("out")), 2U);  // no temporary file is left
}

TEST(RestoreTree, hostile_manifests_write_nothing) {
  const auto bytes = abc_content();
  const auto refused = [&](std::vector<Entry> entries) {
    const Workshop workshop;
    fs::create_directory(workshop.path("out"));
    const Manifest manifest = {.entries = std::move(entries)};
    const Status status =
        restore_tree(manifest, content_of(bytes), workshop.path("out"), {.overwrite = true});
    EXPECT_FALSE(status);
    EXPECT_EQ(count_below(workshop.path("")), 1U);
    return !status && status.error().code == ErrorCode::corrupt;
  };
  EXPECT_TRUE(refused({abc("../victim")}));
  EXPECT_TRUE(refused({abc("/tmp/calpe-victim")}));
  EXPECT_TRUE(refused({entry(EntryType::folder, ".."), abc("../victim")}));
  EXPECT_TRUE(refused({abc("x"), abc("x")}));
  EXPECT_TRUE(refused({entry(EntryType::link, "l", ".."), abc("l/victim")}));
  EXPECT_TRUE(
      refused({entry(EntryType::link, "l", ".."), entry(EntryType::folder, "l"), abc("l/v")}));
  EXPECT_TRUE(
      refused({entry(EntryType::folder, "l"), entry(EntryType::link, "l", ".."), abc("l/v")}));
  EXPECT_TRUE(refused({abc("x"), abc("y")}));  // same content bytes
}

TEST(RestoreTree, what_appears_meanwhile_is_not_replaced) {
  const Workshop workshop;
  const auto bytes = abc_content();
  const Manifest manifest = {.entries = {abc("file"), entry(EntryType::link, "link", "x")}};
  for (const char* name : {"file", "link"}) {
    const std::string out = workshop.path(std::string("out of ") + name);
    const ReadContent read = [&](std::span<std::byte> into, std::uint64_t offset) {
      tests::write_file(out + "/" + name, "kept");
      return content_of(bytes)(into, offset);
    };
    EXPECT_EQ(error_of(restore_tree(manifest, read, out, {})),
              out + "/" + name + " already exists; use --overwrite to replace it");
    EXPECT_EQ(tests::read_bytes(out + "/" + name), "kept");
    EXPECT_EQ(count_below(out), name == std::string("file") ? 1U : 2U);
  }
}

// Runs as a normal user, as root ignores permissions.
TEST(RestoreTree, folders_without_permissions_are_restored) {
  const Workshop workshop;
  const auto bytes = abc_content();
  Manifest manifest = {.entries = {entry(EntryType::folder, ""), entry(EntryType::folder, "d"),
                                   entry(EntryType::folder, "d/e"), abc("d/e/file")}};
  for (Entry& each : manifest.entries)
    each.mode = 0;
  fs::create_directory(workshop.path("place"));
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::chown(workshop.path("place").c_str(), 65'534, 65'534), 0);
    ASSERT_EQ(::chmod(workshop.path("").c_str(), 0755), 0);
  }
  const pid_t child = ::fork();
  if (child == 0) {
    if (is_root && (::setgid(65'534) != 0 || ::setuid(65'534) != 0)) ::_exit(2);
    const Status status = restore_tree(manifest, content_of(bytes), workshop.path("place/out"), {});
    if (!status) std::fputs((status.error().message + "\n").c_str(), stderr);
    for (const char* folder : {"place/out", "place/out/d", "place/out/d/e"}) {
      struct stat about = {};
      if (::lstat(workshop.path(folder).c_str(), &about) != 0) ::_exit(3);
      if ((about.st_mode & 07777U) != 0) ::_exit(4);
      // For those below, and so that it can be removed.
      ::chmod(workshop.path(folder).c_str(), 0700);
    }
    ::_exit(status ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A link in the target at the path of a directory in the manifest, at each depth.
TEST(RestoreTree, links_in_the_target_are_not_followed) {
  const auto bytes = abc_content();
  const Manifest manifest = {
      .entries = {entry(EntryType::folder, "a"), entry(EntryType::folder, "a/b"), abc("a/b/file"),
                  entry(EntryType::folder, "a/b/c"), entry(EntryType::link, "a/b/l", "x")}};
  for (const char* link : {"a", "a/b", "a/b/c"}) {
    for (const bool is_relative : {true, false}) {
      const Workshop workshop;
      fs::create_directories(workshop.path("outside/b/c"));
      ASSERT_EQ(::chmod(workshop.path("outside/b").c_str(), 0700), 0);
      const auto before = look_at(workshop.path("outside"));
      const std::string at = workshop.path("out/" + std::string(link));
      fs::create_directories(fs::path(at).parent_path());
      const std::string up = link == std::string("a")        ? "../"
                             : std::string(link).size() == 3 ? "../../"
                                                             : "../../../";
      fs::create_directory_symlink(is_relative ? up + "outside" : workshop.path("outside"), at);
      ASSERT_TRUE(fs::exists(at + "/b"));  // the link does lead there
      for (const bool overwrite : {false, true}) {
        const std::string error = error_of(restore_tree(
            manifest, content_of(bytes), workshop.path("out"), {.overwrite = overwrite}));
        EXPECT_EQ(error, "cannot open directory " + at + ": Not a directory");
        EXPECT_TRUE(tests::is_same_tree(before, look_at(workshop.path("outside"))));
      }
    }
  }
}

// Directories are replaced by links during the restore.
TEST(RestoreTree, links_that_appear_meanwhile_are_not_followed) {
  const Workshop workshop;
  fs::create_directory(workshop.path("outside"));
  Manifest manifest = {.entries = {entry(EntryType::folder, "a"), entry(EntryType::folder, "b")}};
  std::vector<std::byte> bytes(300);
  for (std::uint64_t i = 0; i < 100; ++i) {
    manifest.entries.push_back(abc((i % 2 == 0 ? "a/" : "b/") + std::to_string(i)));
    // Backwards, so that each is a separate read.
    manifest.entries.back().extents = {{0, 299 - 3 * i - 2, 3}};
  }
  int reads = 0;
  const ReadContent read = [&](std::span<std::byte> into, std::uint64_t offset) {
    if (++reads == 50) {
      fs::rename(workshop.path("out/b"), workshop.path("out/was b"));
      fs::create_directory_symlink("../outside", workshop.path("out/b"));
    }
    return content_of(bytes)(into, offset);
  };
  EXPECT_EQ(error_of(restore_tree(manifest, read, workshop.path("out"), {})),
            "cannot open directory " + workshop.path("out/b") + ": Not a directory");
  EXPECT_GE(reads, 50);
  EXPECT_EQ(count_below(workshop.path("outside")), 0U);
}

TEST(RestoreTree, a_failure_leaves_no_part_of_a_file) {
  const Workshop workshop;
  const auto bytes = abc_content();
  Manifest manifest = {.entries = {abc("first"), abc("second")}};
  manifest.entries[1].extents = {{0, 10, 3}};
  const ReadContent read = [&](std::span<std::byte> into, std::uint64_t offset) -> Status {
    if (offset + into.size() > 3) return Error{ErrorCode::unrecoverable, "stripe 7 is lost"};
    return content_of(bytes)(into, offset);
  };
  const Status status = restore_tree(manifest, read, workshop.path("out"), {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::unrecoverable);
  EXPECT_EQ(status.error().message, "stripe 7 is lost");
  for (const auto& left : fs::directory_iterator(workshop.path("out"))) {
    ADD_FAILURE() << left.path();
  }
}

TEST(RestoreTree, rights_of_owners_come_with_owners_only) {
  const Workshop workshop;
  const auto bytes = abc_content();
  Manifest manifest = {.entries = {abc("file"), entry(EntryType::folder, "folder"),
                                   entry(EntryType::link, "link", "x")}};
  for (Entry& each : manifest.entries) {
    each.user = ::geteuid();
    each.group = ::getegid();
  }
  manifest.entries[0].mode = 06755;
  manifest.entries[1].mode = 03775;
  const auto mode_of = [&](const char* name) {
    struct stat about = {};
    EXPECT_EQ(lstat(workshop.path(name).c_str(), &about), 0);
    return about.st_mode & 07777U;
  };
  EXPECT_EQ(error_of(restore_tree(manifest, content_of(bytes), workshop.path("out"), {})), "");
  EXPECT_EQ(mode_of("out/file"), 0755U);
  EXPECT_EQ(mode_of("out/folder"), 01775U);
  EXPECT_EQ(
      error_of(restore_tree(manifest, content_of(bytes), workshop.path("own"), {.owners = true})),
      "");
  EXPECT_EQ(mode_of("own/file"), 06755U);
  EXPECT_EQ(mode_of("own/folder"), 03775U);
  if (::geteuid() != 0) GTEST_SKIP() << "other owners need root";
  for (Entry& each : manifest.entries) {
    each.user = 12'345;
    each.group = 54'321;
  }
  EXPECT_EQ(error_of(restore_tree(manifest, content_of(bytes), workshop.path("theirs"),
                                  {.owners = true})),
            "");
  for (const char* name : {"theirs/file", "theirs/folder", "theirs/link"}) {
    struct stat about = {};
    EXPECT_EQ(lstat(workshop.path(name).c_str(), &about), 0);
    EXPECT_EQ(about.st_uid, 12'345U) << name;
    EXPECT_EQ(about.st_gid, 54'321U) << name;
  }
  // Chown clears the bits, so the mode must be set after it.
  EXPECT_EQ(mode_of("theirs/file"), 06755U);
}

// After a kill in the middle, files under their final names are complete.
TEST(RestoreTree, a_kill_leaves_complete_files_only) {
  const tests::EnvironmentScope quick("TMPDIR", tests::quick_folder());
  const Workshop workshop;
  Manifest manifest;
  std::vector<std::byte> bytes;
  for (int i = 0; i < 1400; ++i) {
    const std::string data = pattern(static_cast<std::size_t>(i % 40), 1);
    manifest.entries.push_back(entry(EntryType::file, std::to_string(i)));
    Entry& made = manifest.entries.back();
    made.file_bytes = data.size();
    if (!data.empty()) made.extents = {{0, bytes.size(), data.size()}};
    for (const char byte : data)
      bytes.push_back(static_cast<std::byte>(byte));
  }
  std::size_t named = 0;
  for (const int last_call : {200, 1100, 1290}) {
    const std::string out = workshop.path("out" + std::to_string(last_call));
    const pid_t child = ::fork();
    if (child == 0) {
      int calls = 0;
      RestoreOptions options;
      options.on_progress = [&](std::uint64_t, std::uint64_t) {
        if (++calls == last_call) ::kill(::getpid(), SIGKILL);
      };
      static_cast<void>(restore_tree(manifest, content_of(bytes), out, options));
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << last_call;
    for (const auto& file : fs::directory_iterator(out)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with(".calpe-restore-")) continue;
      ++named;
      const auto expected = pattern(static_cast<std::size_t>(std::stoi(name) % 40), 1);
      ASSERT_EQ(tests::read_bytes(file.path().string()), expected) << name;
    }
  }
  EXPECT_GT(named, 2000U);  // files are renamed by the thousand
}

TEST(RestoreFile, writes_one_file_whole) {
  const Workshop workshop;
  tests::write_sparse(workshop.path("sparse"), 20 * mib, {{mib, 3 * mib}, {19 * mib, 7}});
  tests::set_time(workshop.path("sparse"), 5, 6);
  const auto seen = look_at(workshop.path("")).at("sparse");
  const Content content = protect(workshop.path("sparse"));
  const Entry& made = content.manifest.entries[0];
  const std::string to = workshop.path("copy");
  EXPECT_EQ(error_of(restore_file(made, content_of(content.bytes), to, {})), "");
  const auto copied = look_at(workshop.path("")).at("copy");
  EXPECT_TRUE(tests::is_same_tree({{"", seen}}, {{"", copied}}));
  EXPECT_EQ(error_of(restore_file(made, content_of(content.bytes), to, {})),
            to + " already exists; use --overwrite to replace it");
  tests::write_file(to, "old");
  const ReadContent fails = [](std::span<std::byte>, std::uint64_t) -> Status {
    return Error{ErrorCode::unrecoverable, "lost"};
  };
  EXPECT_EQ(error_of(restore_file(made, fails, to, {.overwrite = true})), "lost");
  EXPECT_EQ(tests::read_bytes(to), "old");
  EXPECT_EQ(error_of(restore_file(made, content_of(content.bytes), to, {.overwrite = true})), "");
  EXPECT_EQ(tests::read_bytes(to), seen.bytes);
  EXPECT_EQ(count_below(workshop.path("")), 2U);  // no temporary file

  EXPECT_EQ(error_of(restore_file(made, fails, workshop.path(""), {})),
            "\"" + workshop.path("") + "\" has no file name");
  fs::create_directory(workshop.path("d"));
  EXPECT_EQ(error_of(restore_file(made, fails, workshop.path("d"), {.overwrite = true})),
            workshop.path("d") + " is a directory; expected a file");
  EXPECT_EQ(error_of(restore_file(made, fails, workshop.path("x/y"), {})),
            "cannot open directory " + workshop.path("x") + ": No such file or directory");
  EXPECT_EQ(restore_file(entry(EntryType::folder, "d"), fails, to, {}).error().code,
            ErrorCode::invalid_argument);
  Entry hostile = made;
  hostile.extents.back().bytes = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(restore_file(hostile, fails, to, {}).error().code, ErrorCode::corrupt);
  EXPECT_EQ(restore_stream(hostile, fails, 1).error().code, ErrorCode::corrupt);
}

TEST(RestoreFile, gives_a_stream_the_usual_mode) {
  const Workshop workshop;
  const auto bytes = abc_content();
  Entry stream = abc("");
  stream.type = EntryType::stream;
  stream.mode = 0;
  workshop.write("usual", "");
  EXPECT_EQ(error_of(restore_file(stream, content_of(bytes), workshop.path("out"), {})), "");
  auto seen = look_at(workshop.path(""));
  EXPECT_EQ(seen["out"].bytes, "abc");
  EXPECT_EQ(seen["out"].mode, seen["usual"].mode);
  EXPECT_EQ(
      restore_tree({.entries = {stream}}, content_of(bytes), workshop.path("d"), {}).error().code,
      ErrorCode::invalid_argument);
}

TEST(RestoreStream, writes_holes_as_zeros_to_a_pipe) {
  const Workshop workshop;
  tests::write_sparse(workshop.path("sparse"), 6 * mib + 1, {{mib, 3 * mib}, {5 * mib, 7}});
  const Content content = protect(workshop.path("sparse"));
  const std::string expected = tests::read_bytes(workshop.path("sparse"));
  std::array<int, 2> ends = {};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  ASSERT_EQ(::fcntl(ends[0], F_SETFL, 0), 0);
  std::string got;
  std::thread reader([&] {
    std::vector<char> bytes(77'777);
    while (true) {
      const ssize_t count = ::read(ends[0], bytes.data(), bytes.size());
      if (count <= 0) break;
      got.append(bytes.data(), static_cast<std::size_t>(count));
    }
  });
  const Status status =
      restore_stream(content.manifest.entries[0], content_of(content.bytes), ends[1]);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(error_of(status), "");
  EXPECT_TRUE(got == expected);
  EXPECT_EQ(error_of(restore_stream(content.manifest.entries[0], content_of(content.bytes), -1)),
            "cannot write the stream: Bad file descriptor");
}

}  // namespace
}  // namespace calpe::store
