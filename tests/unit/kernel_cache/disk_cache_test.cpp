// SPDX-License-Identifier: Apache-2.0
#include "kernel_cache/disk_cache.hpp"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "kernel_cache/cache_folder.hpp"
#include "kernel_cache/entry_file.hpp"
#include "kernel_cache/identity.hpp"
#include "support/environment_scope.hpp"
#include "support/workshop.hpp"

namespace calpe::kernel {
namespace {

namespace fs = std::filesystem;
using tests::EnvironmentScope;
using tests::Workshop;

DiskCache open_cache(const std::string& folder, std::uint64_t bytes_max = 1 << 20) {
  auto cache = DiskCache::open(folder, bytes_max);
  EXPECT_TRUE(cache) << cache.error().message;
  return *std::move(cache);
}

std::string file_of(const DiskCache& cache, const std::string& content) {
  return cache.folder() + "/" + digest(content) + ".kernel";
}

std::size_t file_count(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(EntryFile, every_damage_is_detected) {
  const std::string bytes = pack({.object = "object\0bytes", .content = "content"});
  const auto whole = unpack(bytes);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->content, "content");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(unpack(bytes.substr(0, size))) << "cut to " << size;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(unpack(damaged)) << "byte " << at;
  }
  EXPECT_FALSE(unpack(bytes + "x"));
  EXPECT_FALSE(unpack("x" + bytes));
}

TEST(EntryFile, empty_parts_are_parts) {
  for (const Entry& entry : {Entry{}, Entry{.object = "a"}, Entry{.content = "b"}}) {
    const auto back = unpack(pack(entry));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->object, entry.object);
    EXPECT_EQ(back->content, entry.content);
  }
}

TEST(DiskCache, returns_what_was_stored) {
  const Workshop workshop;
  const DiskCache cache = open_cache(workshop.path("a/b/cache"));
  EXPECT_FALSE(cache.find("key"));
  ASSERT_TRUE(cache.put("key", "object"));
  EXPECT_EQ(cache.find("key"), "object");
  ASSERT_TRUE(cache.put("key", "newer"));
  EXPECT_EQ(cache.find("key"), "newer");
  EXPECT_EQ(open_cache(cache.folder()).find("key"), "newer");
  struct stat about = {};
  ASSERT_EQ(stat(file_of(cache, "key").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  ASSERT_EQ(stat(cache.folder().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0700U);
}

TEST(DiskCache, damaged_files_are_absent_and_removed) {
  const Workshop workshop;
  const DiskCache cache = open_cache(workshop.path("cache"));
  ASSERT_TRUE(cache.put("key", "object"));
  const std::string path = file_of(cache, "key");
  const std::string bytes = *read_file(path);
  for (const std::string& damaged : {bytes.substr(0, bytes.size() / 2), std::string("junk"),
                                     std::string(), "x" + bytes.substr(1)}) {
    ASSERT_TRUE(replace_file(path, damaged));
    EXPECT_FALSE(cache.find("key"));
    EXPECT_FALSE(fs::exists(path));
  }
  ASSERT_TRUE(cache.put("key", "object"));
  EXPECT_EQ(cache.find("key"), "object");
}

// Simulates two identities with one digest: the file is valid, but belongs to another kernel.
TEST(DiskCache, a_collision_is_a_miss) {
  const Workshop workshop;
  const DiskCache cache = open_cache(workshop.path("cache"));
  ASSERT_TRUE(cache.put("decoder of 0, 3", "object"));
  fs::copy_file(file_of(cache, "decoder of 0, 3"), file_of(cache, "decoder of 0, 4"));
  EXPECT_FALSE(cache.find("decoder of 0, 4"));
  EXPECT_TRUE(fs::exists(file_of(cache, "decoder of 0, 4")));  // it belongs to another kernel
  EXPECT_EQ(cache.find("decoder of 0, 3"), "object");
}

TEST(DiskCache, is_bounded_and_evicts_the_least_recently_used) {
  const Workshop workshop;
  const std::string object(1000, 'o');
  const DiskCache cache = open_cache(workshop.path("cache"), 3500);
  const auto age = [&](const std::string& content, int minutes) {
    fs::last_write_time(file_of(cache, content),
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  };
  for (const std::string name : {"a", "b", "c"})
    ASSERT_TRUE(cache.put(name, object));
  age("a", 30);
  age("b", 20);
  age("c", 10);
  EXPECT_TRUE(cache.find("a"));  // now the most recently used
  ASSERT_TRUE(cache.put("d", object));
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
  EXPECT_TRUE(cache.find("d"));
  EXPECT_EQ(file_count(cache.folder()), 3U);

  const Status large = cache.put("e", std::string(4000, 'o'));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::io);
  EXPECT_EQ(file_count(cache.folder()), 3U);
}

TEST(DiskCache, removes_files_of_dead_writers_only) {
  const Workshop workshop;
  const DiskCache cache = open_cache(workshop.path("cache"));
  const std::string old = cache.folder() + "/x.kernel.1.1.new";
  const std::string recent = cache.folder() + "/y.kernel.1.1.new";
  const std::string strange = cache.folder() + "/notes";
  for (const std::string& path : {old, recent, strange})
    ASSERT_TRUE(replace_file(path, "half"));
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(old, long_ago);
  fs::last_write_time(strange, long_ago);
  ASSERT_TRUE(cache.put("key", "object"));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(recent));
  EXPECT_TRUE(fs::exists(strange));
}

TEST(DiskCache, refuses_directories_that_others_may_write) {
  const Workshop workshop;
  const std::string folder = workshop.path("open");
  for (const mode_t mode : {0770U, 0707U, 0777U, 0720U}) {
    fs::create_directory(folder);
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    const auto cache = DiskCache::open(folder);
    ASSERT_FALSE(cache);
    EXPECT_EQ(cache.error().code, ErrorCode::io);
    EXPECT_EQ(cache.error().message,
              "directory " + folder + " is writable by other users; expected only by its owner");
  }
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_TRUE(DiskCache::open(folder));
}

TEST(DiskCache, refuses_other_owners_and_non_directories) {
  if (geteuid() == 0) {
    const Workshop workshop;
    const std::string folder = workshop.path("theirs");
    fs::create_directory(folder);
    ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
    ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
    EXPECT_EQ(DiskCache::open(folder).error().message,
              "directory " + folder + " belongs to user 65534; expected 0");
  } else {
    EXPECT_FALSE(DiskCache::open("/"));
  }
  const Workshop workshop;
  const std::string file = workshop.write("file", "");
  EXPECT_EQ(DiskCache::open(file).error().message, file + " is not a directory");
  EXPECT_FALSE(DiskCache::open(file + "/below"));
}

// Two processes write and read the same few keys; a hit is always right.
TEST(DiskCache, two_processes_at_once) {
  const Workshop workshop;
  const DiskCache cache = open_cache(workshop.path("cache"), 6000);
  const auto work = [&](unsigned salt) {
    int wrong = 0;
    for (unsigned round = 0; round < 400; ++round) {
      const std::string key = text("key ", (round * 7 + salt) % 9);
      const std::string object(700, key.back());
      if (round % 3 == 0 && !cache.put(key, object)) ++wrong;
      if (const auto found = cache.find(key); found && *found != object) ++wrong;
    }
    return wrong;
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(work(5) == 0 ? 0 : 1);
  EXPECT_EQ(work(2), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_LE(file_count(cache.folder()), 9U);
}

// A directory named by the user must be good; a bad default directory is not used.
TEST(DiskCache, is_opened_at_its_location) {
  const Workshop shop;
  const auto none = DiskCache::open(CacheLocation{});
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->has_value());
  const auto made =
      DiskCache::open(CacheLocation{.folder = shop.path("deep/er"), .is_explicit = true});
  ASSERT_TRUE(made.has_value());
  ASSERT_TRUE(made->has_value());
  EXPECT_EQ((*made)->folder(), shop.path("deep/er"));
  const std::string file = shop.path("file");
  ASSERT_TRUE(replace_file(file, "x"));
  const auto refused =
      DiskCache::open(CacheLocation{.folder = file + "/below", .is_explicit = true});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::backend_unavailable);
  EXPECT_TRUE(refused.error().message.starts_with("CALPE_CACHE_DIR: cannot create directory " +
                                                  file + "/below"));
  const auto ignored = DiskCache::open(CacheLocation{.folder = file + "/below"});
  ASSERT_TRUE(ignored.has_value());
  EXPECT_FALSE(ignored->has_value());
}

TEST(DiskCache, a_removed_directory_is_an_error) {
  const Workshop shop;
  const DiskCache cache = open_cache(shop.path("gone"));
  fs::remove_all(cache.folder());
  EXPECT_FALSE(cache.put("content", "object"));
  EXPECT_FALSE(cache.find("content"));
}

// A dangling link cannot be created and is not a directory.
TEST(DiskCache, a_dangling_link_is_refused) {
  const Workshop shop;
  fs::create_symlink(shop.path("nowhere"), shop.path("link"));
  const auto cache = DiskCache::open(shop.path("link"));
  ASSERT_FALSE(cache.has_value());
  EXPECT_NE(cache.error().message.find(shop.path("link")), std::string::npos);
}

TEST(CacheLocation, follows_the_environment) {
  const EnvironmentScope unset("CALPE_CACHE_DIR", std::nullopt);
  {
    const EnvironmentScope xdg("XDG_CACHE_HOME", "/x");
    EXPECT_EQ(cache_location().folder, "/x/calpe");
    EXPECT_FALSE(cache_location().is_explicit);
    const EnvironmentScope given("CALPE_CACHE_DIR", "/given");
    EXPECT_EQ(cache_location().folder, "/given");
    EXPECT_TRUE(cache_location().is_explicit);
    const EnvironmentScope off("CALPE_CACHE_DIR", "");
    EXPECT_EQ(cache_location().folder, "");
  }
  const EnvironmentScope home("HOME", "/h");
  {
    const EnvironmentScope no_xdg("XDG_CACHE_HOME", std::nullopt);
    EXPECT_EQ(cache_location().folder, "/h/.cache/calpe");
  }
  const EnvironmentScope relative("XDG_CACHE_HOME", "here");
  EXPECT_EQ(cache_location().folder, "/h/.cache/calpe");
  const EnvironmentScope homeless("HOME", std::nullopt);
  EXPECT_EQ(cache_location().folder, "");
}

}  // namespace
}  // namespace calpe::kernel
