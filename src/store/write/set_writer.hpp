// SPDX-License-Identifier: Apache-2.0
// Writes a content as the bodies of shard files with one or more threads. Each thread takes the
// next stripes of the content, then encodes and writes them in parallel with the others. Content is
// read in order by one thread at a time.
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

// Selects the files to write, and whether to hash blocks for roots.
struct SetForm {
  SetKind kind = SetKind::shards;
  bool with_roots = false;
};

class SetWriter {
 public:
  // Everything is borrowed. `name` has uuid and generation. For kept originals, `shards` are only
  // the parity files.
  SetWriter(ContentSource& content, const Codec& codec, const ShardFiles& shards,
            const BlockName& name, std::uint32_t block_bytes, const SetForm& form = {});

  // Starts at this group. Earlier groups are written, and the content is positioned after them.
  void begin_at(std::uint64_t group);
  // Sets a callback for completed groups: all groups before `groups` are written. One thread calls
  // it at a time.
  void tell_of_groups(std::function<Status(std::uint64_t groups)> on_groups) {
    on_groups_ = std::move(on_groups);
  }

  // Writes blocks and checksums of the whole content and returns its size. Fails with out_of_memory
  // and as content, codec and files do. No thread is running when it returns.
  Result<std::uint64_t> write(unsigned jobs, const OnProgress& on_progress);
  // Digests of all groups of a shard, if roots are computed. Call after write().
  std::span<const Digest> group_digests(std::size_t shard) const noexcept {
    return group_digests_[shard];
  }

 private:
  // Checksums, and leaves if hashed, of a group of stripes until it is complete: one page per
  // shard.
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
  std::size_t first_shard_;  // first shard that has a file
  Geometry geometry_;

  std::mutex content_mutex_;  // guards content_ and the next three members
  std::uint64_t next_stripe_ = 0;
  std::uint64_t content_bytes_ = 0;
  bool is_at_end_ = false;

  std::mutex groups_mutex_;
  std::map<std::uint64_t, Group> groups_;           // incomplete groups
  std::vector<std::vector<Digest>> group_digests_;  // by shard and group; 32 bytes for 512 blocks
  std::set<std::uint64_t> written_;                 // complete groups after an incomplete one
  std::uint64_t groups_written_ = 0;                // all groups before this one are written
  std::mutex tell_mutex_;
  std::function<Status(std::uint64_t)> on_groups_;

  std::mutex error_mutex_;
  std::optional<Error> error_;  // the first
  std::atomic<bool> is_stopped_ = false;
  std::atomic<std::uint64_t> bytes_done_ = 0;
};

}  // namespace calpe::store
