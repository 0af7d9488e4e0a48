// SPDX-License-Identifier: Apache-2.0
// How far protect has come, kept in its part files in the place of the header (docs/format.md), so
// that one that was killed can be gone on with.
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
  std::uint64_t groups = 0;  // of stripes that are complete and on the disk
  Digest what = {};          // is being protected; zeros: something that cannot be read again
  std::string name;          // of the set
  bool operator==(const Checkpoint&) const = default;
};

HeaderBytes to_bytes(const Checkpoint& checkpoint);
// Fails with corrupt.
Result<Checkpoint> parse_checkpoint(std::span<const std::byte> bytes);

// Two sets with the same digest would have the same bytes, but for uuid and checksums. Zeros if the
// content has no identity, or libcrypto no SHA-256: then nothing is gone on with.
Digest digest_of(ShardHeader header, const ContentSource& content);

// Writes the records of all shards: at the beginning, and then now and again.
class Checkpoints {
 public:
  struct Pace {
    std::uint64_t content_bytes = 0;  // between two records,
    std::chrono::seconds time = {};   // or so long
  };
  // `shards` is borrowed. group_bytes: content of a whole group.
  Checkpoints(const ShardFiles& shards, Checkpoint begun, std::uint64_t group_bytes, Pace pace,
              unsigned jobs)
      : shards_(shards),
        at_(std::move(begun)),
        group_bytes_(group_bytes),
        pace_(pace),
        jobs_(jobs) {}

  Status write();
  // All groups before this are written. When it is time: syncs them, and then says so in records.
  Status reached(std::uint64_t groups);

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
