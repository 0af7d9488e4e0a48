// SPDX-License-Identifier: Apache-2.0
// Brings all shards of a set to a new generation, so that whoever is killed at any moment leaves
// the old one or the new one: journals of all shards first, then the shards (docs/format.md).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "store/find/set_discovery.hpp"

namespace calpe::store {

class NewGeneration {
 public:
  // `after`: what the set's header becomes: content and manifest sizes, stripe_count, and for more
  // parity the spec; generation and roots are set here. The set must be whole: every shard there
  // once, headers and sizes good. Fails with corrupt and says which shard is not ("run calpe repair
  // first"), with invalid_argument and io. Journals of updates that were given up are removed.
  // Of a set with roots every block is read, and all shards must match their roots: fails with
  // corrupt. Its HMAC must be of `key`, which the new one is made with. It takes no more parity.
  static Result<std::unique_ptr<NewGeneration>> begin(FileSystem& files, const FoundSet& set,
                                                      ShardHeader after,
                                                      std::span<const std::byte> key = {});
  ~NewGeneration();  // unless committed, nothing was changed and journals are removed
  NewGeneration(const NewGeneration&) = delete;
  NewGeneration& operator=(const NewGeneration&) = delete;

  const ShardHeader& header() const noexcept;  // after; its roots when it is committed

  // Blocks of consecutive stripes of one shard that change or are new; their checksums are made
  // here. For each shard in ascending order of stripes. Every stripe beyond the old stripe_count
  // must be given.
  Status write_blocks(ShardIndex shard, std::uint64_t first_stripe,
                      std::span<const std::byte> blocks);

  // Shards that the set did not have (add-parity): written by `make`, called when all journals are
  // on the disk.
  using MakeShards = std::function<Status(const ShardHeader& header)>;
  // All pages of checksums and the headers are added, journals completed, shards changed.
  Status commit(const MakeShards& make_shards = {});

 private:
  struct Impl;
  explicit NewGeneration(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What a killed command left: journals of a generation that was decided on are done, others are
// removed. Returns how many shards were changed. For repair and update, before they look at a set.
Result<std::size_t> settle(FileSystem& files, const std::vector<std::string>& paths);
// The same for one set; it must be found again then.
Result<std::size_t> settle_set(FileSystem& files, const FoundSet& set);

}  // namespace calpe::store
