// SPDX-License-Identifier: Apache-2.0
// A set with one shard per directory that is changed to a new generation, and checks of its state.
#pragma once
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "store/change/generation_update.hpp"
#include "store/read/set_reader.hpp"
#include "support/made_set.hpp"

namespace calpe::tests {

// The set before and after; contents differ only in the last stripes.
struct SetChange {
  MadeSet before;
  MadeSet after;

  SetChange(SetShape from, std::uint64_t stripes)
      : before(from), after(with_stripes(std::move(from), stripes)) {}

  static SetShape with_stripes(SetShape shape, std::uint64_t stripes) {
    shape.stripes = stripes;
    return shape;
  }
  static std::string folder(std::size_t shard) { return "disk" + std::to_string(shard); }
  std::vector<std::string> folders() const {
    std::vector<std::string> all;
    for (std::size_t shard = 0; shard < before.shard_count(); ++shard) {
      all.push_back(folder(shard));
    }
    return all;
  }
  std::string path(std::size_t shard) const { return before.path(shard, folder(shard)); }
  void put(MemoryFiles& files) const {
    for (std::size_t shard = 0; shard < before.shard_count(); ++shard) {
      files.put(path(shard), before.images()[shard]);
    }
  }

  store::ShardHeader header_after(const store::FoundSet& set) const {
    store::ShardHeader header = set.header;
    header.stripe_count = after.shape().stripes;
    header.content_bytes = after.content().size();
    header.manifest_offset = header.content_bytes;
    return header;
  }

  Status write_changed(store::NewGeneration& change) const {
    const std::size_t block_bytes = before.shape().block_bytes;
    for (std::size_t shard = 0; shard < before.shard_count(); ++shard) {
      for (std::uint64_t stripe = 0; stripe < after.shape().stripes; ++stripe) {
        const std::byte* const now = after.images()[shard].data() + after.block_at(stripe);
        const bool is_same = stripe < before.shape().stripes &&
                             std::memcmp(before.images()[shard].data() + before.block_at(stripe),
                                         now, block_bytes) == 0;
        if (is_same) continue;
        const Status written =
            change.write_blocks(static_cast<ShardIndex>(shard), stripe, {now, block_bytes});
        if (!written) return written;
      }
    }
    return Done{};
  }

  // Makes the whole change, as a command would; sets `generation`.
  Status run(store::FileSystem& files, std::uint64_t* generation = nullptr) const {
    const auto findings = store::find_sets(files, folders());
    if (!findings) return findings.error();
    const auto set = store::choose_set(*findings);
    if (!set) return set.error();
    auto change = store::NewGeneration::begin(files, *set, header_after(*set));
    if (!change) return change.error();
    if (generation != nullptr) *generation = (*change)->header().generation;
    if (const Status written = write_changed(**change); !written) return written;
    return (*change)->commit();
  }

  enum class State { old_one, new_one, neither };
  // State according to the content that a reader returns; `why` is its error if there is none.
  State state(store::FileSystem& files, const std::vector<std::string>& places,
              std::string& why) const {
    const auto findings = store::find_sets(files, places);
    if (!findings) return why = findings.error().message, State::neither;
    const auto set = store::choose_set(*findings);
    if (!set) return why = set.error().message, State::neither;
    auto reader = store::SetReader::open(files, *set);
    if (!reader) return why = reader.error().message, State::neither;
    Bytes content(set->header.content_bytes);
    if (const Status read = reader->read(content, 0); !read) {
      return why = read.error().message, State::neither;
    }
    if (content == before.content()) return State::old_one;
    if (content == after.content()) return State::new_one;
    return why = "other bytes", State::neither;
  }
};

}  // namespace calpe::tests
