// SPDX-License-Identifier: Apache-2.0
// A tree with one entry of every kind, a snapshot of a tree, and a content in memory.
#pragma once
#include <array>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "store/tree/tree.hpp"

namespace calpe::tests {

// In memory if possible, for speed.
inline std::string quick_folder() {
  const char* const memory = "/dev/shm";
  return ::access(memory, W_OK) == 0 ? memory : std::filesystem::temp_directory_path().string();
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  EXPECT_TRUE(out.flush()) << path;
}

inline std::string read_bytes(const std::string& path) {
  auto bytes = read_file(path);
  return bytes ? *std::move(bytes) : std::string();
}

inline std::string pattern(std::size_t count, unsigned seed) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    bytes[i] = static_cast<char>(seed >> 24U);
  }
  return bytes;
}

inline void set_time(const std::string& path, std::int64_t seconds, long nanoseconds) {
  const std::array<timespec, 2> times = {timespec{.tv_sec = 7, .tv_nsec = 8},
                                         timespec{.tv_sec = seconds, .tv_nsec = nanoseconds}};
  EXPECT_EQ(utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW), 0) << path;
}

struct Piece {
  std::size_t offset;
  std::size_t bytes;
};

// Writes data only for the given pieces.
inline void write_sparse(const std::string& path, std::size_t size,
                         const std::vector<Piece>& pieces) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0) << path;
  for (const Piece& piece : pieces) {
    const std::string bytes = pattern(piece.bytes, static_cast<unsigned>(piece.offset + 1));
    ASSERT_EQ(::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(piece.offset)),
              static_cast<ssize_t>(bytes.size()));
  }
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(size)), 0);
  ASSERT_EQ(::fsync(file), 0);  // some file systems report holes only after this
  ::close(file);
}

constexpr std::size_t mib = std::size_t{1} << 20U;

inline void make_sample_tree(const std::string& top) {
  namespace fs = std::filesystem;
  fs::create_directories(top + "/nested/deeper/deepest");
  fs::create_directories(top + "/empty folder");
  fs::create_directories(top + "/\xff\xfe not utf-8\n");
  write_file(top + "/empty", "");
  write_file(top + "/one byte", "x");
  write_file(top + "/big", pattern(9 * mib + 13, 3));
  write_file(top + "/nested/script", "#!/bin/sh\n");
  write_file(top + "/nested/deeper/deepest/file", pattern(70'000, 4));
  write_file(top + "/nested.before", "sorts between nested and what is in it");
  write_file(top + "/\xff\xfe not utf-8\n/-rf \\ $(x) \x1b[2J", "odd");
  write_file(top + "/...", "dots");
  write_file(top + "/" + std::string(255, 'n'), "long");
  fs::create_symlink("nested/script", top + "/relative");
  fs::create_symlink("/etc/passwd", top + "/absolute");
  fs::create_symlink("../../../../nowhere\n", top + "/nested/dangling");
  fs::create_symlink("nested", top + "/to folder");
  write_sparse(top + "/hole at start", mib, {{mib - 4096, 4096}});
  write_sparse(top + "/hole in middle", 2 * mib, {{0, 5000}, {mib, 5000}, {2 * mib - 1, 1}});
  write_sparse(top + "/hole at end", mib + 1, {{0, 4096}});
  write_sparse(top + "/nested/all hole", 3 * mib, {});
  fs::create_hard_link(top + "/one byte", top + "/nested/same byte");
  const std::vector<std::pair<std::string, mode_t>> modes = {
      {"/empty", 0444},         {"/one byte", 0640},      {"/nested/script", 0755}, {"/big", 0600},
      {"/nested/deeper", 0711}, {"/empty folder", 01777}, {"/nested", 0500}};
  set_time(top + "/relative", 1'000'000'000, 987'654'321);
  set_time(top + "/one byte", -1, 999'999'999);
  set_time(top + "/empty", 4'102'444'800, 1);
  set_time(top + "/big", 1, 123'456'789);
  set_time(top + "/nested/deeper/deepest", 86'400, 5);
  set_time(top + "/nested/deeper", 86'401, 6);
  set_time(top + "/nested", 86'402, 7);
  set_time(top + "/empty folder", 86'403, 8);
  for (const auto& [path, mode] : modes)
    EXPECT_EQ(chmod((top + path).c_str(), mode), 0);
  EXPECT_EQ(chmod(top.c_str(), 0750), 0);
  set_time(top, 86'404, 9);
}

// Restores write permission of the read-only directory, so that users other than root can remove
// it.
inline void make_removable(const std::string& top) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
    if (entry.is_directory() && !entry.is_symlink()) ::chmod(entry.path().c_str(), 0700);
  }
}

struct Seen {
  mode_t mode = 0;
  timespec time = {};
  std::string bytes;  // or the target of a link
  std::uint64_t blocks = 0;
};
using SeenTree = std::map<std::string, Seen>;

inline SeenTree look_at(std::string top) {
  SeenTree seen;
  while (top.ends_with('/'))
    top.pop_back();
  const auto add = [&](const std::string& name, const std::string& path) {
    struct stat about = {};
    ASSERT_EQ(lstat(path.c_str(), &about), 0) << path;
    Seen one = {.mode = about.st_mode, .time = about.st_mtim, .bytes = {}, .blocks = 0};
    if (S_ISREG(about.st_mode)) {
      one.bytes = read_bytes(path);
      one.blocks = static_cast<std::uint64_t>(about.st_blocks);
    }
    if (S_ISLNK(about.st_mode)) one.bytes = std::filesystem::read_symlink(path).string();
    seen[name] = one;
  };
  add("", top);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
    const std::string path = entry.path().string();
    add(path.substr(top.size() + 1), path);
  }
  return seen;
}

inline testing::AssertionResult is_same_tree(const SeenTree& a, const SeenTree& b) {
  for (const auto& [path, one] : a) {
    const auto found = b.find(path);
    if (found == b.end()) return testing::AssertionFailure() << path << " is missing";
    const Seen& other = found->second;
    if (one.mode != other.mode) {
      return testing::AssertionFailure() << path << ": mode " << one.mode << ", " << other.mode;
    }
    if (one.time.tv_sec != other.time.tv_sec || one.time.tv_nsec != other.time.tv_nsec) {
      return testing::AssertionFailure() << path << ": time";
    }
    if (one.bytes != other.bytes) return testing::AssertionFailure() << path << ": bytes";
    // Extents may differ slightly; a filled hole differs by far more.
    if (other.blocks > one.blocks + 32)
      return testing::AssertionFailure() << path << ": hole filled";
  }
  if (b.size() != a.size())
    return testing::AssertionFailure() << b.size() << " instead of " << a.size();
  return testing::AssertionSuccess();
}

// Reads a whole source in steps of `step` bytes.
inline Result<std::vector<std::byte>> read_whole(store::ContentSource& source, std::size_t step) {
  std::vector<std::byte> all;
  while (true) {
    const std::size_t at = all.size();
    all.resize(at + step);
    const auto got = source.read(std::span(all).subspan(at));
    if (!got) return got.error();
    all.resize(at + *got);
    if (*got < step) break;
  }
  std::byte more = {};
  const auto after = source.read({&more, 1});
  EXPECT_TRUE(after && *after == 0);
  return all;
}

inline store::ReadContent content_of(const std::vector<std::byte>& content) {
  return [&content](std::span<std::byte> bytes, std::uint64_t offset) -> Status {
    if (offset > content.size() || bytes.size() > content.size() - offset) {
      return Error{ErrorCode::corrupt, "read beyond the content"};
    }
    std::memcpy(bytes.data(), content.data() + offset, bytes.size());
    return Done{};
  };
}

}  // namespace calpe::tests
