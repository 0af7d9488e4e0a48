// SPDX-License-Identifier: Apache-2.0
// The pages of checksums of one shard on its way to a new generation, group by group.
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
  // Headers are those of this shard; `shard` is the file as it is, `journal` what pages go to.
  NewPages(const ShardHeader& before, const ShardHeader& after, File& shard, RedoWriter& journal);

  // A block that changes or is new, in ascending order of stripes: its checksum and those of all
  // groups before its own. Fails with invalid_argument when a new stripe before it was not given.
  Status add(std::uint64_t stripe, std::span<const std::byte> block);
  Status finish();  // all other groups

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
  std::uint64_t next_stripe_ = 0;  // that may be given
  std::array<LittleU64, group_stripes> page_ = {};
  std::bitset<group_stripes> is_given_;
};

}  // namespace calpe::store
