// SPDX-License-Identifier: Apache-2.0
// A small directory, protected by shards in memory, to change and update.
#pragma once
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "store/change/update_set.hpp"
#include "store/io/names.hpp"
#include "store/read/set_reader.hpp"
#include "store/read/verify_set.hpp"
#include "store/write/protect.hpp"
#include "support/memory_files.hpp"
#include "support/sample_tree.hpp"
#include "support/set_contents.hpp"
#include "support/set_damage.hpp"
#include "support/workshop.hpp"

namespace calpe::tests {

struct UpdatedTree {
  Workshop shop;
  std::string tree = shop.path("tree");
  std::string source = tree;
  MemoryFiles files;
  CodeSpec spec = {.data_shards = 3, .parity_shards = 2};
  std::uint32_t block_bytes = 64;
  store::RootKind root_kind = store::RootKind::none;

  UpdatedTree() {
    std::filesystem::create_directories(tree + "/folder");
    write_file(tree + "/a", pattern(20000, 1));
    write_file(tree + "/c", pattern(3000, 2));
    write_file(tree + "/folder/b", pattern(1000, 3));
    EXPECT_EQ(symlink("a", (tree + "/link").c_str()), 0);
    for (const char* path : {"/a", "/c", "/folder/b", "/link", "/folder", ""})
      set_time(tree + path, 1000, 5);
    EXPECT_TRUE(files.make_folders("disk"));
  }

  void protect() {
    auto content = store::TreeSource::open(source);
    ASSERT_TRUE(content);
    protect_content(**content);
  }
  void protect_stream() {
    const int pipe = ::open((tree + "/a").c_str(), O_RDONLY | O_CLOEXEC);
    protect_content(*store::make_stream_source(pipe));
    ::close(pipe);
  }
  std::string shard_path(std::size_t index) const {
    return "disk/" + store::shard_file_name("set", static_cast<ShardIndex>(index));
  }

  Result<store::FoundSet> find() { return find_one(files); }
  Result<store::UpdateReport> update(const store::UpdateOptions& options = {}) {
    return update_in(files, options);
  }
  // `through` is the file system that makes calls fail.
  Result<store::UpdateReport> update_in(store::FileSystem& through,
                                        const store::UpdateOptions& options = {}) {
    const auto set = find_one(through);
    if (!set) return set.error();
    return store::update_set(through, *set, source, options);
  }

  // All files of the set by path; an error is stored under "".
  using Contents = SetContents;
  Contents read_all() { return read_set(find()); }
  Contents read_set(const Result<store::FoundSet>& set) { return contents_of(files, set); }

  // Checks that the current tree can be restored, also with as many shards lost as allowed.
  void expect_restorable() {
    const auto set = find();
    ASSERT_TRUE(set) << set.error().message;
    const auto verified = store::verify_set(files, *set, true);
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_TRUE(verified->is_good());
    EXPECT_TRUE(is_restored());
    const auto whole = files.images();
    for (std::size_t i = 0; i < spec.parity_shards; ++i)
      EXPECT_TRUE(files.remove(shard_path(i * 2)));
    EXPECT_TRUE(is_restored());
    for (const auto& [path, bytes] : whole)
      files.put(path, bytes);
  }

 private:
  void protect_content(store::ContentSource& content) {
    for (const auto& [path, bytes] : files.images())
      EXPECT_TRUE(files.remove(path));
    const auto made = store::protect(files, content,
                                     {.spec = spec,
                                      .targets = {"disk"},
                                      .name = "set",
                                      .block_bytes = block_bytes,
                                      .root_kind = root_kind});
    ASSERT_TRUE(made) << made.error().message;
  }
  testing::AssertionResult is_restored() {
    const auto set = find();
    if (!set) return testing::AssertionFailure() << set.error().message;
    auto reader = store::SetReader::open(files, *set);
    if (!reader) return testing::AssertionFailure() << reader.error().message;
    const auto manifest = reader->manifest();
    if (!manifest) return testing::AssertionFailure() << manifest.error().message;
    const std::string out = shop.path("out");
    const Status done = store::restore_tree(*manifest,
                                            [&](std::span<std::byte> bytes, std::uint64_t offset) {
                                              return reader->read(bytes, offset);
                                            },
                                            out, {});
    if (!done) return testing::AssertionFailure() << done.error().message;
    testing::AssertionResult same = is_same_tree(look_at(tree), look_at(out));
    std::filesystem::remove_all(out);
    return same;
  }
};

}  // namespace calpe::tests
