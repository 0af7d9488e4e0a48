// SPDX-License-Identifier: Apache-2.0
// Updates the checksum pages of one shard file to a new generation, group by group.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/little_endian.hpp"
#include "store/find/redo_journal.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"

namespace calpe::store {

class NewPages {
 public:
  // Takes the headers of this shard, the unchanged file, and the journal that receives the pages.
  NewPages(const ShardHeader& before, const ShardHeader& after, File& shard, RedoWriter& journal);

  // Adds a changed or new block of this shard or, for a parity file of kept originals, of a data
  // shard. Call in ascending order of stripes for each shard, and of groups for all of them. Writes
  // the pages of all earlier groups. Fails with invalid_argument if a new stripe before it was
  // skipped, and with corrupt if a parity file of kept originals has a damaged page.
  Status add(ShardIndex shard, std::uint64_t stripe, std::span<const std::byte> block);
  Status finish();  // writes all remaining groups

 private:
  bool is_originals() const noexcept { return before_.kind == SetKind::originals; }
  std::span<LittleU64> page(std::size_t number);
  ShardIndex shard_of(std::size_t page) const noexcept;
  Status end_group();
  Status read_old(std::vector<LittleU64>& old);
  Status finish_page(std::size_t number, std::span<const LittleU64> old);
  BlockName name(const ShardHeader& header, ShardIndex shard, std::uint64_t stripe) const;

  const ShardHeader& before_;
  const ShardHeader& after_;
  File& shard_;
  RedoWriter& journal_;
  Geometry geometry_before_;
  Geometry geometry_after_;
  std::size_t checked_pages_;  // pages with checksums of blocks
  std::uint64_t group_ = 0;
  std::vector<std::uint64_t> next_stripe_;  // by page: lowest stripe that add() accepts
  std::vector<LittleU64> pages_;            // of the group
  std::vector<std::uint8_t> is_given_;
};

}  // namespace calpe::store
