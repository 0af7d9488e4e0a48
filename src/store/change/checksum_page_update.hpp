// SPDX-License-Identifier: Apache-2.0
// Updates the checksum pages of one shard to a new generation, group by group.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <span>

#include "base/little_endian.hpp"
#include "store/find/redo_journal.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"

namespace calpe::store {

class NewPages {
 public:
  // Takes the headers of this shard, the unchanged file, and the journal that receives the pages.
  NewPages(const ShardHeader& before, const ShardHeader& after, File& shard, RedoWriter& journal);

  // Adds a changed or new block, in ascending order of stripes, and writes the pages of all earlier
  // groups. Fails with invalid_argument if a new stripe before it was skipped.
  Status add(std::uint64_t stripe, std::span<const std::byte> block);
  Status finish();  // writes all remaining groups

 private:
  Status end_group();
  BlockName name(const ShardHeader& header, std::uint64_t stripe) const;

  const ShardHeader& before_;
  const ShardHeader& after_;
  File& shard_;
  RedoWriter& journal_;
  Geometry geometry_before_;
  Geometry geometry_after_;
  std::uint64_t group_ = 0;
  std::uint64_t next_stripe_ = 0;  // lowest stripe that add() accepts
  std::array<LittleU64, group_stripes> page_ = {};
  std::bitset<group_stripes> is_given_;
};

}  // namespace calpe::store
