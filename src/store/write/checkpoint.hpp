// SPDX-License-Identifier: Apache-2.0
// Records the progress of protect in its part files, in place of the header (docs/format.md), so
// that an interrupted run can be resumed.
#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "store/format/shard_header.hpp"
#include "store/tree/content.hpp"
#include "store/write/shard_files.hpp"

namespace calpe::store {

struct Checkpoint {
  Uuid uuid = {};
  ShardIndex shard_index = 0;
  std::uint16_t shard_count = 0;
  std::uint32_t block_bytes = 0;
  std::uint64_t groups = 0;  // stripe groups that are complete and synced
  Digest what = {};          // digest of the input; zeros: it cannot be read again
  std::string name;          // name of the set
  bool operator==(const Checkpoint&) const = default;
};

HeaderBytes to_bytes(const Checkpoint& checkpoint);
// Fails with corrupt.
Result<Checkpoint> parse_checkpoint(std::span<const std::byte> bytes);

// Sets with the same digest would have the same bytes, except for uuid and checksums. Returns zeros
// if the content has no identity or libcrypto lacks SHA-256; the run cannot be resumed then.
Digest digest_of(ShardHeader header, const ContentSource& content);

// Writes the records of all shards at the start and at regular intervals.
class Checkpoints {
 public:
  struct Pace {
    std::uint64_t content_bytes = 0;  // content between two records,
    std::chrono::seconds time = {};   // or time between them
  };
  // `shards` is borrowed. group_bytes: content size of a whole group.
  Checkpoints(const ShardFiles& shards, Checkpoint begun, std::uint64_t group_bytes, Pace pace,
              unsigned jobs)
      : shards_(shards),
        at_(std::move(begun)),
        group_bytes_(group_bytes),
        pace_(pace),
        jobs_(jobs) {}

  Status write();
  // Call when all groups before `groups` are written. If a record is due, syncs the shards first
  // and then writes it.
  Status reached(std::uint64_t groups);
  // True if a later run can resume what was written.
  bool is_any_reached() const noexcept { return at_.groups > 0 && at_.what != Digest{}; }

 private:
  const ShardFiles& shards_;
  Checkpoint at_;
  std::uint64_t group_bytes_;
  Pace pace_;
  unsigned jobs_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool are_names_synced_ = false;
};

}  // namespace calpe::store
