// SPDX-License-Identifier: Apache-2.0
// Files of `ceph-objectstore-tool --op export`: one placement group as one OSD keeps it, so one
// shard of every object in it. One export is one start of that program; reading the objects one by
// one would be one for each.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "store/io/file_system.hpp"

namespace calpe::ceph {

struct CephObjectName {
  std::string name;
  std::string key;    // the locator; mostly empty
  std::string space;  // the namespace; mostly empty
  std::int64_t snapshot = head;
  std::uint32_t hash = 0;
  std::int64_t pool = 0;

  static constexpr std::int64_t head = -2;  // no snapshot: the object itself
  auto operator<=>(const CephObjectName&) const = default;
};

// As Ceph prints it, 29'9: in which epoch, and which change since.
struct CephVersion {
  std::uint32_t epoch = 0;
  std::uint64_t number = 0;
  auto operator<=>(const CephVersion&) const = default;
};
std::string to_text(const CephVersion& version);

struct ExportedShard {
  CephObjectName object;
  std::uint64_t object_bytes = 0;
  CephVersion version;
  std::uint64_t shard_bytes = 0;

  struct Piece {
    std::uint64_t file_offset = 0;
    std::uint64_t shard_offset = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Piece> pieces;
};

struct CephExport {
  std::uint64_t pool = 0;
  std::uint32_t seed = 0;
  ShardIndex shard = 0;
  std::vector<ExportedShard> shards;

  std::string group() const;     // "1.a"
  std::string group_id() const;  // "1.as2"
};

// By its first bytes.
Result<bool> is_ceph_export(store::File& file);

// What is in it, but for the bytes of the shards. Fails with corrupt when it is none, when it ends
// early, or when it is of a pool that is not erasure-coded; with io.
Result<CephExport> read_ceph_export(store::File& file);
Result<std::vector<std::byte>> read_exported_shard(store::File& file, const ExportedShard& shard);

}  // namespace calpe::ceph
