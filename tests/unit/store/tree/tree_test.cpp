// SPDX-License-Identifier: Apache-2.0
// Files, directories and pipes as a content.
#include "store/tree/tree.hpp"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

#include "support/environment_scope.hpp"
#include "support/sample_tree.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

namespace fs = std::filesystem;
using tests::mib;
using tests::pattern;
using tests::read_whole;
using tests::Workshop;

const Entry* find(const Manifest& manifest, const std::string& path) {
  const auto found = std::find_if(manifest.entries.begin(), manifest.entries.end(),
                                  [&](const Entry& entry) { return entry.path == path; });
  return found == manifest.entries.end() ? nullptr : &*found;
}

// Reads by manifest only.
std::string bytes_of(const Entry& entry, const std::vector<std::byte>& content) {
  std::string bytes(entry.file_bytes, '\0');
  for (const Extent& extent : entry.extents) {
    std::memcpy(&bytes[extent.file_offset], &content[extent.content_offset], extent.bytes);
  }
  return bytes;
}

TEST(TreeSource, lists_and_reads_all_of_a_folder) {
  const Workshop workshop;
  const std::string top = workshop.path("tree");
  tests::make_sample_tree(top);
  const auto seen = tests::look_at(top);
  for (const std::size_t step : {std::size_t{4093}, mib, 64 * mib}) {
    const auto source = TreeSource::open(top);
    ASSERT_TRUE(source) << source.error().message;
    const Manifest& manifest = (*source)->manifest();
    EXPECT_EQ(manifest.entries[0].path, "");
    EXPECT_EQ(manifest.entries.size(), seen.size());
    EXPECT_TRUE((*source)->skipped().empty());
    const auto content = read_whole(**source, step);
    ASSERT_TRUE(content) << content.error().message;
    EXPECT_EQ(content->size(), *(*source)->bytes_expected());
    EXPECT_EQ(content->size(), (*source)->manifest_offset() + (*source)->manifest_bytes());
    EXPECT_LT((*source)->manifest_offset(), 10 * mib);  // holes are not stored
    const auto parsed = parse_manifest(std::span(*content).subspan((*source)->manifest_offset()),
                                       (*source)->manifest_offset());
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, manifest);
    for (const Entry& entry : manifest.entries) {
      const auto& expected = seen.at(entry.path);
      EXPECT_EQ(entry.mode, expected.mode & 07777U) << entry.path;
      EXPECT_EQ(entry.seconds, expected.time.tv_sec) << entry.path;
      EXPECT_EQ(entry.nanoseconds, expected.time.tv_nsec) << entry.path;
      if (entry.type == EntryType::link) {
        EXPECT_EQ(entry.target, expected.bytes);
      }
      if (entry.type == EntryType::file) {
        EXPECT_EQ(bytes_of(entry, *content), expected.bytes);
      }
    }
    EXPECT_EQ(find(manifest, "to folder")->type, EntryType::link);
    EXPECT_TRUE(find(manifest, "nested/all hole")->extents.empty());
    EXPECT_EQ(find(manifest, "hole in middle")->extents.size(), 3U);
  }
  tests::make_removable(top);
}

TEST(TreeSource, names_are_sorted_bytewise) {
  const Workshop workshop;
  for (const char* name : {"b", "a", "\xc3\xa4", "B", "a.x"})
    workshop.write(name, "");
  fs::create_directory(workshop.path("a-"));
  workshop.write("a-/z", "");
  workshop.write("a-/y", "");
  const auto source = TreeSource::open(workshop.path(""));
  ASSERT_TRUE(source);
  std::vector<std::string> paths;
  for (const Entry& entry : (*source)->manifest().entries)
    paths.push_back(entry.path);
  const std::vector<std::string> expected = {"",     "B",   "a", "a-",      "a-/y",
                                             "a-/z", "a.x", "b", "\xc3\xa4"};
  EXPECT_EQ(paths, expected);
}

TEST(TreeSource, one_file_has_its_last_name) {
  const Workshop workshop;
  workshop.write("file", "content");
  fs::create_symlink("file", workshop.path("link"));  // the path itself is followed
  for (const char* name : {"file", "link"}) {
    const auto source = TreeSource::open(workshop.path(name));
    ASSERT_TRUE(source) << source.error().message;
    ASSERT_EQ((*source)->manifest().entries.size(), 1U);
    EXPECT_EQ((*source)->manifest().entries[0].path, name);
    const auto content = read_whole(**source, 3);
    ASSERT_TRUE(content) << content.error().message;
    EXPECT_EQ(bytes_of((*source)->manifest().entries[0], *content), "content");
  }
}

TEST(TreeSource, special_files_are_listed_as_skipped) {
  const Workshop workshop;
  fs::create_directory(workshop.path("d"));
  ASSERT_EQ(mkfifo(workshop.path("d/pipe").c_str(), 0600), 0);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string socket_path = workshop.path("socket");
  ASSERT_LT(socket_path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto source = TreeSource::open(workshop.path(""));
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->skipped(), (std::vector<std::string>{"d/pipe", "socket"}));
  EXPECT_EQ((*source)->manifest().entries.size(), 2U);
  ::close(listener);

  EXPECT_EQ(TreeSource::open(workshop.path("d/pipe")).error().message,
            workshop.path("d/pipe") + " is neither a file nor a directory");
  const auto missing = TreeSource::open(workshop.path("missing"));
  EXPECT_EQ(missing.error().code, ErrorCode::io);
  EXPECT_EQ(missing.error().message,
            "cannot open " + workshop.path("missing") + ": No such file or directory");
}

// Applies `change` to "d/file" after its first bytes were read.
std::string error_after(const std::function<void(const std::string& path)>& change) {
  const Workshop workshop;
  fs::create_directory(workshop.path("d"));
  const std::string path = workshop.write("d/file", pattern(10'000, 1));
  workshop.write("d/later", "");
  tests::set_time(path, 1000, 1);
  const auto source = TreeSource::open(workshop.path("d"));
  EXPECT_TRUE(source);
  std::vector<std::byte> bytes(4000);
  const auto first = (*source)->read(bytes);
  EXPECT_TRUE(first && *first == 4000);
  change(path);
  bytes.resize(100'000);
  const auto rest = (*source)->read(bytes);
  if (rest) return "";
  EXPECT_EQ(rest.error().code, ErrorCode::io);
  std::string message = rest.error().message;
  const std::size_t folder = message.find(workshop.path("d/"));
  return folder == std::string::npos ? message : message.erase(folder, workshop.path("d/").size());
}

TEST(TreeSource, a_file_that_changes_is_an_error) {
  const auto cut = [](const std::string& path) { fs::resize_file(path, 5000); };
  const auto grow = [](const std::string& path) {
    fs::resize_file(path, 10'001);
    tests::set_time(path, 1000, 1);
  };
  const auto rewrite = [](const std::string& path) { tests::write_file(path, pattern(10'000, 2)); };
  const auto touch = [](const std::string& path) { tests::set_time(path, 1000, 2); };
  EXPECT_EQ(error_after(cut), "file changed while it was read");
  EXPECT_EQ(error_after(grow), "file changed while it was read");
  EXPECT_EQ(error_after(rewrite), "file changed while it was read");
  EXPECT_EQ(error_after(touch), "file changed while it was read");
  EXPECT_EQ(error_after([](const std::string&) {}), "");
  // A file that is not open yet and is empty.
  const auto later = [](const std::string& path) { return fs::path(path).parent_path() / "later"; };
  EXPECT_EQ(error_after([&](const std::string& path) { tests::write_file(later(path), "x"); }),
            "later changed while it was read");
  EXPECT_EQ(error_after([&](const std::string& path) { fs::remove(later(path)); }),
            "cannot open later: No such file or directory");
  EXPECT_EQ(error_after([&](const std::string& path) {
              fs::remove(later(path));
              fs::create_symlink("/etc/passwd", later(path));
            }),
            "cannot open later: Too many levels of symbolic links");
  EXPECT_EQ(error_after([&](const std::string& path) {  // same metadata, but another file
              struct stat about = {};
              ASSERT_EQ(lstat(later(path).c_str(), &about), 0);
              tests::write_file(later(path).string() + "2", "");
              fs::rename(later(path).string() + "2", later(path));
              tests::set_time(later(path), about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
            }),
            "later changed while it was read");
}

TEST(TreeSource, thousands_of_files_need_few_descriptors) {
  const tests::EnvironmentScope quick("TMPDIR", tests::quick_folder());
  const Workshop workshop;
  for (int i = 0; i < 1500; ++i) {
    if (i % 100 == 0) fs::create_directory(workshop.path("d" + std::to_string(i)));
    workshop.write("d" + std::to_string(i / 100 * 100) + "/" + std::to_string(i),
                   std::to_string(i));
  }
  // 60 nested directories are more than may be open.
  std::string deep;
  for (int i = 0; i < 60; ++i)
    deep += std::string(100, 'd') + "/";
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  int in_use = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd"))
    ++in_use;
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(in_use + 20);
  int folder = ::open(workshop.path("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < 60; ++i) {  // the whole path exceeds the system's limit
    const std::string name(100, 'd');
    ASSERT_EQ(mkdirat(folder, name.c_str(), 0700), 0);
    const int next = ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(folder);
    folder = next;
  }
  const int bottom = ::openat(folder, "bottom", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(bottom, "deep", 4), 4);
  ::close(bottom);
  ::close(folder);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto source = TreeSource::open(workshop.path(""));
  ASSERT_TRUE(source) << source.error().message;
  const auto content = read_whole(**source, mib);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ((*source)->manifest().entries.size(), 1U + 15U + 1500U + 61U);
  const Entry* found = find((*source)->manifest(), deep + "bottom");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(bytes_of(*found, *content), "deep");
  EXPECT_EQ(bytes_of(*find((*source)->manifest(), "d1400/1499"), *content), "1499");
}

TEST(StreamSource, reads_a_pipe_to_its_end) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, 3 * mib + 5}) {
    std::array<int, 2> ends = {};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    if (count == 4096) {
      ASSERT_EQ(::fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    }
    const std::string sent = pattern(count, 9);
    std::thread writer([&] {  // a few bytes at a time
      std::size_t at = 0;
      std::size_t step = 1;
      while (at < count) {
        const ssize_t put = ::write(ends[1], &sent[at], std::min(step, count - at));
        if (put <= 0) break;
        at += static_cast<std::size_t>(put);
        step = step * 7 % 9973 + 1;
        if (count == 4096 && at % 5 == 0) std::this_thread::yield();
      }
      ::close(ends[1]);
    });
    const auto source = make_stream_source(ends[0]);
    EXPECT_FALSE(source->bytes_expected());
    const auto content = read_whole(*source, 65'536);
    writer.join();
    ::close(ends[0]);
    ASSERT_TRUE(content) << content.error().message;
    EXPECT_EQ(source->manifest_offset(), count);
    ASSERT_EQ(content->size(), count + source->manifest_bytes());
    const auto manifest = parse_manifest(std::span(*content).subspan(count), count);
    ASSERT_TRUE(manifest) << manifest.error().message;
    ASSERT_EQ(manifest->entries.size(), 1U);
    EXPECT_EQ(manifest->entries[0].type, EntryType::stream);
    EXPECT_EQ(bytes_of(manifest->entries[0], *content), sent);
  }
  const auto broken = make_stream_source(-1);
  std::byte byte = {};
  EXPECT_EQ(broken->read({&byte, 1}).error().message,
            "cannot read the stream: Bad file descriptor");
}

}  // namespace
}  // namespace calpe::store
