// SPDX-License-Identifier: Apache-2.0
// Encodes the stripes of kept originals that have a changed block. Bytes that did not change are
// compared with their checksums, so that damage does not get into new parity.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "store/change/in_place_changes.hpp"
#include "store/change/stripe_update.hpp"
#include "store/read/open_set.hpp"
#include "store/read/stripe_coder.hpp"

namespace calpe::store {

class OriginalStripes {
 public:
  // Borrows everything. `files`: before the update. `is_kept`: by entry of the new manifest, true
  // for files whose bytes did not change.
  OriginalStripes(const OpenSet& files, const StripeCoder& coder, OriginalSource& now,
                  OldChecksums& old, const ChangedBlocks& changed, const std::vector<bool>& is_kept,
                  ThreadPool& helpers);

  // Passes all changed blocks to `take`: data blocks, whose checksums are new, and parity blocks.
  // Where too few blocks of a stripe are as they were, bytes that did not change cannot be compared
  // if they share a block with changed ones: see unchecked().
  // Fails with corrupt if bytes that did not change are damaged ("run calpe repair first"), and as
  // `take` and OriginalSource do.
  Status update(const TakeBlocks& take, const OnProgress& on_progress);

  std::uint64_t stripes() const noexcept { return stripe_count_; }  // that update() encoded
  // Entries of the new manifest with bytes that could not be compared.
  const std::set<std::size_t>& unchecked() const noexcept { return unchecked_; }

 private:
  std::span<std::byte> data(std::size_t shard, std::size_t j) {
    return std::span(data_).subspan((shard * run_.stripe_count + j) * block_bytes_, block_bytes_);
  }
  std::span<std::byte> parity(std::size_t shard, std::size_t j) {
    return std::span(parity_).subspan((shard * run_.stripe_count + j) * block_bytes_, block_bytes_);
  }
  std::uint64_t content_offset(std::size_t shard, std::uint64_t stripe) const noexcept;
  bool has_kept_bytes(std::size_t shard, std::uint64_t stripe) const;
  void add_unchecked(std::size_t shard, std::uint64_t stripe);

  Status update_run(const StripeRun& run, const TakeBlocks& take);
  Status read();
  Status check(std::size_t j);
  Result<Rebuilt> rebuild_old(std::size_t j, const std::vector<ShardIndex>& wanted);
  Status compare_kept(std::size_t shard, std::uint64_t stripe, std::span<const std::byte> was,
                      std::span<const std::byte> is);
  Status damaged(std::size_t shard, std::uint64_t stripe);
  Status is_damaged(std::size_t entry);
  Status encode();
  Status give(const TakeBlocks& take);

  const OpenSet& files_;
  const StripeCoder& coder_;
  OriginalSource& now_;
  OldChecksums& old_;
  const ChangedBlocks& changed_;
  const std::vector<bool>& is_kept_;
  ThreadPool& helpers_;
  std::size_t data_shards_;
  std::size_t parity_shards_;
  std::size_t block_bytes_;
  std::uint64_t stripe_count_ = 0;
  std::set<std::size_t> unchecked_;
  StripeRun run_;
  std::vector<std::byte> data_;        // shard by shard
  std::vector<std::byte> parity_;      // likewise
  std::vector<std::uint8_t> is_same_;  // by shard and stripe: as its checksum says
  std::vector<std::byte> was_;         // all blocks of one stripe before the update
};

}  // namespace calpe::store
