// SPDX-License-Identifier: Apache-2.0
// Finds the blocks of kept originals that differ from their checksums, in the files that may have
// changed.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "store/format/content_ranges.hpp"
#include "store/format/stripe_ranges.hpp"
#include "store/read/in_place_shards.hpp"
#include "store/tree/in_place_source.hpp"

namespace calpe::store {

// Checksums of the data shards before the update.
class OldChecksums {
 public:
  explicit OldChecksums(const OriginalShards& originals)
      : originals_(originals), pages_(originals.header().spec.data_shards) {}

  bool is_same(ShardIndex shard, std::uint64_t stripe, std::span<const std::byte> block);

 private:
  struct GroupPage {
    std::uint64_t group = ~std::uint64_t{0};
    std::optional<OriginalShards::Page> page = {};
  };
  const OriginalShards& originals_;
  std::vector<GroupPage> pages_;  // the last one of each shard
};

class ChangedBlocks {
 public:
  explicit ChangedBlocks(const ShardHeader& header) : stripe_count_(header.stripe_count) {}

  // Call in ascending order of the content. `block`: number in the content.
  void add(std::uint64_t block) { numbers_.push_back(block); }
  bool contains(ShardIndex shard, std::uint64_t stripe) const;
  // True if any block of content [offset, offset + bytes) changed.
  bool overlaps(std::uint64_t offset, std::uint64_t bytes, std::uint64_t block_bytes) const;
  // Stripes with a changed block.
  StripeRanges stripes() const;

 private:
  std::uint64_t stripe_count_;
  std::vector<std::uint64_t> numbers_;  // ascending
};

// Reads the blocks in `ranges` of the content, which ascend. Fails as OriginalSource does.
Result<ChangedBlocks> find_changed_blocks(OriginalSource& now, OldChecksums& old,
                                          const ShardHeader& header,
                                          std::span<const ContentRange> ranges,
                                          const OnProgress& on_progress);

}  // namespace calpe::store
