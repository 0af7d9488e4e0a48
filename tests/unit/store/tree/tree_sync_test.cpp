// SPDX-License-Identifier: Apache-2.0
// No file gets its final name before it is synced. As a power failure cannot be simulated here,
// functions of this program override those of the C library and record the calls.
#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/tree/tree.hpp"
#include "support/environment_scope.hpp"
#include "support/sample_tree.hpp"
#include "support/workshop.hpp"

namespace {
std::string* noted = nullptr;  // D: data written or link created, S: synced, N: renamed
void note(char what) {
  if (noted != nullptr) *noted += what;
}
}  // namespace

extern "C" {
int syncfs(int file) noexcept {
  note('S');
  return static_cast<int>(::syscall(SYS_syncfs, file));
}
int fsync(int file) {
  note('S');
  return static_cast<int>(::syscall(SYS_fsync, file));
}
int renameat2(int from, const char* old_name, int to, const char* new_name,
              unsigned flags) noexcept {
  note('N');
  return static_cast<int>(::syscall(SYS_renameat2, from, old_name, to, new_name, flags));
}
int renameat(int from, const char* old_name, int to, const char* new_name) noexcept {
  return renameat2(from, old_name, to, new_name, 0);
}
int symlinkat(const char* target, int folder, const char* name) noexcept {
  note('D');
  return static_cast<int>(::syscall(SYS_symlinkat, target, folder, name));
}
}

namespace calpe::store {
namespace {

// 40 bytes each, from the content's end to its start, so that each is a separate read.
Manifest many_files(std::uint64_t count) {
  Manifest manifest;
  for (std::uint64_t i = 0; i < count; ++i) {
    Entry entry;
    entry.path = std::to_string(i);
    entry.mode = 0644;
    entry.file_bytes = 40;
    entry.extents = {{0, (count - 1 - i) * 40, 40}};
    manifest.entries.push_back(std::move(entry));
  }
  return manifest;
}

Status give_zeros(std::span<std::byte> bytes, std::uint64_t /*offset*/) {
  note('D');
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  return Done{};
}

void expect_synced(const std::string& calls, std::size_t names) {
  EXPECT_EQ(calls.find("DN"), std::string::npos) << calls.substr(0, 200);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), 'N'), static_cast<std::ptrdiff_t>(names));
  EXPECT_TRUE(calls.ends_with('S'));  // the names as well
}

TEST(RestoreTree, data_is_synced_before_renaming) {
  const tests::EnvironmentScope quick("TMPDIR", tests::quick_folder());
  const tests::Workshop workshop;
  for (const bool overwrite : {false, true}) {
    Manifest manifest = many_files(1100);
    Entry link;
    link.type = EntryType::link;
    link.path = "link";
    link.target = "0";
    manifest.entries.push_back(link);
    std::string calls;
    noted = &calls;
    const Status status =
        restore_tree(manifest, give_zeros, workshop.path("out"), {.overwrite = overwrite});
    noted = nullptr;
    ASSERT_TRUE(status) << status.error().message;
    expect_synced(calls, 1101);
  }
}

TEST(RestoreFile, data_is_synced_before_renaming) {
  const tests::Workshop workshop;
  const Manifest manifest = many_files(1);
  std::string calls;
  noted = &calls;
  const Status status = restore_file(manifest.entries[0], give_zeros, workshop.path("out"), {});
  noted = nullptr;
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(calls, "DSNS");
}

}  // namespace
}  // namespace calpe::store
