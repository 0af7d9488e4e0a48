// SPDX-License-Identifier: Apache-2.0
// A directory whose files stay in place, with parity files in memory, to change and update.
#pragma once
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "base/text.hpp"
#include "store/change/update_in_place.hpp"
#include "store/io/names.hpp"
#include "store/read/set_reader.hpp"
#include "store/read/verify_set.hpp"
#include "store/repair/repair_set.hpp"
#include "store/tree/in_place_source.hpp"
#include "store/write/protect.hpp"
#include "support/memory_files.hpp"
#include "support/sample_tree.hpp"
#include "support/set_contents.hpp"
#include "support/set_damage.hpp"
#include "support/workshop.hpp"

namespace calpe::tests {

struct KeptTree {
  Workshop shop;
  std::string tree = shop.path("tree");
  MemoryFiles files;
  CodeSpec spec = {.data_shards = 4, .parity_shards = 2};
  std::uint32_t block_bytes = 64;

  KeptTree() {
    std::filesystem::create_directories(tree);
    EXPECT_TRUE(files.make_folders("disk"));
  }

  std::string file(const std::string& name) const { return tree + "/" + name; }
  void put(const std::string& name, const std::string& bytes, std::int64_t seconds = 1000) const {
    write_file(file(name), bytes);
    set_time(file(name), seconds, 7);
  }
  // Flips one byte.
  void flip(const std::string& name, std::size_t at, std::int64_t seconds) const {
    std::string bytes = read_bytes(file(name));
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
    put(name, bytes, seconds);
  }
  std::string parity_path(std::size_t index) const {
    return "disk/" + store::shard_file_name("set", static_cast<ShardIndex>(index));
  }

  store::ShardHeader protect() {
    set_time(tree, 1000, 7);
    auto source = store::OriginalSource::open(tree);
    EXPECT_TRUE(source) << source.error().message;
    store::ProtectOptions options;
    options.spec = spec;
    options.block_bytes = block_bytes;
    options.targets = {"disk"};
    options.name = "set";
    auto made = store::protect_originals(files, **source, options);
    EXPECT_TRUE(made) << made.error().message;
    return made->header;
  }

  Result<store::FoundSet> find() { return find_in(files); }
  Result<store::FoundSet> find_in(store::FileSystem& through) const {
    auto set = find_one(through);
    if (set) set->original = tree;
    return set;
  }
  Result<store::UpdatedOriginals> update(const store::UpdateOriginalsOptions& options = {}) {
    return update_in(files, options);
  }
  // `through` is the file system that makes calls fail.
  Result<store::UpdatedOriginals> update_in(
      store::FileSystem& through, const store::UpdateOriginalsOptions& options = {}) const {
    const auto set = find_in(through);
    if (!set) return set.error();
    return store::update_originals(through, *set, options);
  }

  // The problems of all files.
  std::string verify() {
    const auto set = find();
    if (!set) return set.error().message;
    const auto report = store::verify_set(files, *set, true);
    if (!report) return report.error().message;
    std::string all;
    for (const store::OriginalState& state : report->originals)
      all += text(store::name_of(state.path), ": ", state.problem, "; ");
    for (const store::ShardState& shard : report->shards) {
      if (!shard.problem.empty()) all += text("parity ", shard.index, "; ");
    }
    EXPECT_EQ(report->is_good(), all.empty()) << all;
    return all;
  }
  std::string repair() {
    const auto set = find();
    if (!set) return set.error().message;
    const auto repaired = store::repair_set(files, *set);
    return repaired ? "" : repaired.error().message;
  }

  // All files that the parity describes, by path; an error is stored under "".
  using Contents = SetContents;
  Contents read_all() { return contents_of(files, find()); }
};

}  // namespace calpe::tests
