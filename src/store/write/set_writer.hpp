// SPDX-License-Identifier: Apache-2.0
// Turns a content into the bodies of shard files with one or several threads: each takes the next
// stripes of the content, codes and writes them. Reads are in order and one at a time; the rest
// of one thread's work goes on beside that of the others.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <calpe/codec.hpp>

#include "base/little_endian.hpp"
#include "base/progress.hpp"
#include "store/format/geometry.hpp"
#include "store/tree/content.hpp"
#include "store/write/shard_files.hpp"
#include "store/write/stripe_batch.hpp"

namespace calpe::store {

// Which files are written, and whether blocks are hashed for roots.
struct SetForm {
  SetKind kind = SetKind::shards;
  bool with_roots = false;
};

class SetWriter {
 public:
  // Everything is borrowed. `name` has uuid and generation. Of originals, `shards` are the parity
  // files alone.
  SetWriter(ContentSource& content, const Codec& codec, const ShardFiles& shards,
            const BlockName& name, std::uint32_t block_bytes, const SetForm& form = {});

  // Groups before this one are written, and the content stands behind them.
  void begin_at(std::uint64_t group);
  // Told, by one thread at a time, that all groups before one are written.
  void tell_of_groups(std::function<Status(std::uint64_t groups)> on_groups) {
    on_groups_ = std::move(on_groups);
  }

  // Writes blocks and checksums of the whole content and returns its bytes. Fails as content,
  // codec and files do, with out_of_memory; other threads are done when it returns.
  Result<std::uint64_t> write(unsigned jobs, const OnProgress& on_progress);
  // With roots, when all is written: of all groups of a shard.
  std::span<const Digest> group_digests(std::size_t shard) const noexcept {
    return group_digests_[shard];
  }

 private:
  // Checksums of a group of stripes until all are known: a page for each shard. Leaves likewise.
  struct Group {
    std::vector<LittleU64> pages;
    std::vector<Digest> leaves;
    std::uint64_t stripes = 0;
  };

  void work(const OnProgress* on_progress);
  Status work_on_all(const OnProgress* on_progress);
  Result<bool> take(StripeBatch& batch, std::uint64_t& first_stripe);
  Status write_batch(const StripeBatch& batch, std::uint64_t first_stripe);
  std::optional<Group> add_checksums(const StripeBatch& batch, std::uint64_t first_stripe);
  Status end_group(std::uint64_t index, const Group& group);
  Status hash_group(std::uint64_t index, const Group& group);
  Status tell_of_group(std::uint64_t group);
  void fail(Error error);

  ContentSource& content_;
  const Codec& codec_;
  const ShardFiles& shards_;
  BlockName name_;
  BatchShape shape_;
  std::size_t first_shard_;  // that has a file
  Geometry geometry_;

  std::mutex content_mutex_;  // guards content_ and the next three
  std::uint64_t next_stripe_ = 0;
  std::uint64_t content_bytes_ = 0;
  bool is_at_end_ = false;

  std::mutex groups_mutex_;
  std::map<std::uint64_t, Group> groups_;           // those with stripes still to come
  std::vector<std::vector<Digest>> group_digests_;  // by shard and group; 32 bytes for 512 blocks
  std::set<std::uint64_t> written_;   // those that are complete, but not all before them
  std::uint64_t groups_written_ = 0;  // all before this one
  std::mutex tell_mutex_;
  std::function<Status(std::uint64_t)> on_groups_;

  std::mutex error_mutex_;
  std::optional<Error> error_;  // the first
  std::atomic<bool> is_stopped_ = false;
  std::atomic<std::uint64_t> bytes_done_ = 0;
};

}  // namespace calpe::store
