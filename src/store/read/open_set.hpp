// SPDX-License-Identifier: Apache-2.0
// The open files of a set. Reads blocks and tells whether each is good.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
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

// A file of the set. Most shards have one, but a shard may be found twice.
struct ShardCopy {
  ShardIndex index = 0;
  FoundShard found;
  std::unique_ptr<File> file;
};

// Destination for a run of blocks of one shard. The block of stripe j goes to blocks + j * stride,
// and good[j] tells whether it matched its checksum. stride is at least one block.
struct BlockTarget {
  std::byte* blocks = nullptr;
  std::size_t stride = 0;
  std::span<std::uint8_t> good;  // one per stripe read
};

class OpenSet {
 public:
  // Presents the data of kept originals as data shards. Fails with io.
  static Result<OpenSet> open(FileSystem& files, const FoundSet& set,
                              MovedBytes moved = MovedBytes::found);

  const ShardHeader& header() const noexcept { return header_; }
  const Geometry& geometry() const noexcept { return geometry_; }
  std::size_t shard_count() const noexcept { return first_copy_.size() - 1; }
  std::span<const ShardCopy> copies() const noexcept { return copies_; }  // ascending by index
  std::span<const ShardCopy> copies_of(std::size_t index) const noexcept;
  // Treats all blocks of the copy as bad from now on.
  void distrust(std::size_t copy) noexcept { copies_[copy].found.is_distrusted = true; }

  // No file is long enough to contain a block at or after this stripe. Bounds the time that a
  // forged header can cost.
  std::uint64_t reachable_stripes() const noexcept { return reachable_stripes_; }
  // Returns the first stripe at or after `first` that may have a good block in some file. Skips
  // groups whose checksums are holes in every file, which bounds the time that a sparse file can
  // cost.
  std::uint64_t next_stripe(std::uint64_t first) const noexcept;
  bool has_holes() const noexcept { return has_holes_; }  // if false, next_stripe() returns `first`
  // Returns the longest run from `first` that stays in its group and within `bytes` bytes per
  // shard.
  StripeRun run_from(std::uint64_t first, std::uint64_t end, std::uint64_t bytes) const noexcept;

  // Reads a run within one group. Unreadable blocks are marked as not good. Thread-safe.
  void read(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target) const;
  // For callers that have read the blocks and checksums of the run themselves. In a proven set,
  // only blocks that have not changed since are good.
  void judge(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target,
             std::span<const LittleU64> checksums) const;
  FileSystem& files() const noexcept { return *files_; }
  // Reads from all copies of a shard: a block is good if any copy has it.
  void read_any(std::size_t index, const StripeRun& run, const BlockTarget& target) const;

  // Returns the first read error, prefixed with "; ", or an empty string. Unreadable blocks count
  // as damage, but a report of unrecoverable damage should name the file.
  std::string read_error_text() const;
  // The first read error of one file, such as that of a failing disk; empty: none.
  std::string read_error_of(const ShardCopy& copy) const;
  // Removes the run from the page cache, for all files but originals.
  void drop_cached(const StripeRun& run) const;

  // nullptr if the set is not one of kept originals, or if the manifest cannot be read;
  // read_error_text() tells why.
  const OriginalShards* originals() const noexcept { return originals_.get(); }
  // True for data shards that are presented as files.
  bool is_original(const ShardCopy& copy) const noexcept {
    return header_.kind == SetKind::originals && copy.index < header_.spec.data_shards;
  }

  // True if the last checksum page is 0 after the last stripe. For kept originals: true if all
  // pages and the manifest are good.
  bool is_padding_good(const ShardCopy& copy) const;

 private:
  // Offsets of blocks and checksums from their expected positions.
  struct Shifts {
    std::int64_t block = 0;
    std::int64_t checksum = 0;
  };
  void read_shifted(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target,
                    const Shifts& shifts) const;
  // Checks by checksums only.
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
  Status open_originals(FileSystem& files, const FoundSet& set, MovedBytes moved);
  std::uint64_t next_group_of(const ShardCopy& copy, std::uint64_t group, std::int64_t shift) const;
  void note(const Error& error) const;

  struct Noted {
    std::mutex mutex;
    std::string first_error;
    std::map<const ShardCopy*, std::string> by_copy;
  };
  FileSystem* files_ = nullptr;
  std::unique_ptr<Noted> noted_ = std::make_unique<Noted>();
  ShardHeader header_;
  Geometry geometry_;
  std::uint64_t reachable_stripes_ = 0;
  bool has_holes_ = false;  // in at least one file
  std::vector<ShardCopy> copies_;
  std::vector<std::size_t> first_copy_;  // by shard index, plus an end entry
  std::shared_ptr<OriginalShards> originals_;
  std::shared_ptr<const ProvenBlocks> proven_;
};

}  // namespace calpe::store
