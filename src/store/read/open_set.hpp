// SPDX-License-Identifier: Apache-2.0
// The open files of a set, and blocks out of them with a verdict on each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/little_endian.hpp"
#include "store/find/set_discovery.hpp"
#include "store/format/geometry.hpp"
#include "store/format/proven_blocks.hpp"
#include "store/format/stripe_ranges.hpp"
#include "store/read/in_place_shards.hpp"

namespace calpe::store {

// A file of the set. Most shards have one; the same shard may have been found twice.
struct ShardCopy {
  ShardIndex index = 0;
  FoundShard found;
  std::unique_ptr<File> file;
};

// Where a run of blocks of one shard goes: that of its stripe j to blocks + j * stride, and good[j]
// says whether it matched its checksum. stride is at least a block.
struct BlockTarget {
  std::byte* blocks = nullptr;
  std::size_t stride = 0;
  std::span<std::uint8_t> good;  // as many as stripes are read
};

class OpenSet {
 public:
  // Of originals, data shards are shown as files. Fails with io.
  static Result<OpenSet> open(FileSystem& files, const FoundSet& set);

  const ShardHeader& header() const noexcept { return header_; }
  const Geometry& geometry() const noexcept { return geometry_; }
  std::size_t shard_count() const noexcept { return first_copy_.size() - 1; }
  std::span<const ShardCopy> copies() const noexcept { return copies_; }  // ascending by index
  std::span<const ShardCopy> copies_of(std::size_t index) const noexcept;
  // No block of it is good from now on.
  void distrust(std::size_t copy) noexcept { copies_[copy].found.is_distrusted = true; }

  // No file is long enough to have a block from here on: what a header claims costs no time.
  std::uint64_t reachable_stripes() const noexcept { return reachable_stripes_; }
  // The first stripe from `first` on of which some file may have a good block. Those before it are
  // in groups whose checksums are holes in every file: what a sparse file claims costs no time.
  std::uint64_t next_stripe(std::uint64_t first) const noexcept;
  bool has_holes() const noexcept { return has_holes_; }  // else the answer is always `first`
  // The longest run from `first` that stays in its group and within so many bytes of each shard.
  StripeRun run_from(std::uint64_t first, std::uint64_t end, std::uint64_t bytes) const noexcept;

  // A run in one group. What cannot be read is not good. Several threads may read at once.
  void read(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target) const;
  // For those who have read blocks and checksums of the run themselves. Of a set that was proven,
  // only blocks that have not changed since are good.
  void judge(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target,
             std::span<const LittleU64> checksums) const;
  FileSystem& files() const noexcept { return *files_; }
  // The same from all copies of a shard: a block is good if it is in one of them.
  void read_any(std::size_t index, const StripeRun& run, const BlockTarget& target) const;

  // Of the first read that failed, "; " before it; empty if none did. What cannot be read counts as
  // damage, but whoever reports that more is damaged than can be repaired should name the file.
  std::string read_error_text() const;

  // Of originals; nullptr: of shards, or the list of files cannot be had, which read_error_text()
  // says.
  const OriginalShards* originals() const noexcept { return originals_.get(); }
  // Shown as a file, and none.
  bool is_original(const ShardCopy& copy) const noexcept {
    return header_.kind == SetKind::originals && copy.index < header_.spec.data_shards;
  }

  // Whether the last page of checksums is 0 where there are no stripes. Of originals: whether all
  // pages and the list of files are good.
  bool is_padding_good(const ShardCopy& copy) const;

 private:
  // How far blocks and checksums are from where they should be.
  struct Shifts {
    std::int64_t block = 0;
    std::int64_t checksum = 0;
  };
  void read_shifted(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target,
                    const Shifts& shifts) const;
  // By checksums alone.
  void read_unproven(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target) const;
  void judge_checksums(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target,
                       std::span<const LittleU64> checksums) const;
  void drop_unproven(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target) const;
  std::optional<ProvenBlocks::Leaves> read_leaves(const ShardCopy& copy, std::uint64_t group) const;

  std::size_t read_what_is_there(const ShardCopy& copy, std::span<std::byte> bytes,
                                 std::uint64_t offset, std::int64_t shift) const;
  void read_consecutive(const ShardCopy& copy, std::span<std::byte> bytes, std::uint64_t offset,
                        std::int64_t shift, std::span<std::uint8_t> there) const;
  void read_blocks(const ShardCopy& copy, const StripeRun& run, std::int64_t shift,
                   const BlockTarget& target, std::span<std::uint8_t> there) const;
  Status open_originals(FileSystem& files, const FoundSet& set);
  std::uint64_t next_group_of(const ShardCopy& copy, std::uint64_t group, std::int64_t shift) const;
  void note(const Error& error) const;

  struct Noted {
    std::mutex mutex;
    std::string first_error;
  };
  FileSystem* files_ = nullptr;
  std::unique_ptr<Noted> noted_ = std::make_unique<Noted>();
  ShardHeader header_;
  Geometry geometry_;
  std::uint64_t reachable_stripes_ = 0;
  bool has_holes_ = false;  // some file has
  std::vector<ShardCopy> copies_;
  std::vector<std::size_t> first_copy_;  // by shard index, and the end
  std::shared_ptr<OriginalShards> originals_;
  std::shared_ptr<const ProvenBlocks> proven_;
};

}  // namespace calpe::store
