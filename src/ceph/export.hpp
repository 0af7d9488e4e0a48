// SPDX-License-Identifier: Apache-2.0
// Reads files written by `ceph-objectstore-tool --op export`. An export is one placement group as
// one OSD stores it: one shard of every object. It needs a single run of the tool, not one per
// object.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "store/io/file_system.hpp"

namespace calpe::ceph {

struct CephObjectName {
  std::string name;
  std::string key;    // the locator; usually empty
  std::string space;  // the namespace; usually empty
  std::int64_t snapshot = head;
  std::uint32_t hash = 0;
  std::int64_t pool = 0;

  static constexpr std::int64_t head = -2;  // the object itself, not a snapshot
  auto operator<=>(const CephObjectName&) const = default;
};

// Printed by Ceph as 29'9: epoch, and number of the change.
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
  // Versions of other shards that the last changes left out, in optimised pools.
  std::map<ShardIndex, CephVersion> shard_versions;
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
  std::optional<bool> is_optimised;  // the pool has allow_ec_optimizations; nullopt: unknown
  std::vector<ExportedShard> shards;

  std::string group() const;     // "1.a"
  std::string group_id() const;  // "1.as2"
};

// Checks the magic number.
Result<bool> is_ceph_export(store::File& file);

// Reads everything except the bytes of the shards. Fails with corrupt if the file is not a complete
// export of an erasure-coded pool, and with io.
Result<CephExport> read_ceph_export(store::File& file);
Result<std::vector<std::byte>> read_exported_shard(store::File& file, const ExportedShard& shard);

}  // namespace calpe::ceph
