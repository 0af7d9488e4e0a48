// SPDX-License-Identifier: Apache-2.0
// Accesses stopped OSDs through ceph-objectstore-tool: lists their placement groups and pools,
// exports shards and writes corrected ones back. The tool takes about a second to start, so several
// OSDs are handled in parallel.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "calpe/ceph/ceph_scrub_groups.hpp"
#include "ceph/profile.hpp"

namespace calpe::tools {

struct OsdPlace {
  std::string path;  // /var/lib/ceph/osd/ceph-3
  std::string name;  // osd.3
};

struct CephPool {
  std::int64_t id = 0;
  std::string name;
  ceph::CephKeys keys;  // its erasure-code profile
  std::uint64_t chunk_bytes = 0;
  bool is_optimised = false;  // has allow_ec_optimizations
};

// Maps a placement group such as "1.a" to its shards and the OSD that holds each.
using GroupPlaces = std::map<std::string, std::multimap<ShardIndex, OsdPlace>>;

struct WriteBack {
  std::string name;  // for messages
  ShardPlace place;
  ceph::CephObjectName object;
  ShardIndex shard = 0;
  std::string file;  // holds the corrected shard
};

class StoppedOsds {
 public:
  // Fails with backend_unavailable if Ceph's programs are not installed, with invalid_argument if a
  // path is not an OSD, and with io if an OSD is still running (the message says how to stop it).
  static Result<StoppedOsds> open(const std::vector<std::string>& paths);

  const std::vector<OsdPlace>& places() const noexcept { return places_; }
  // Returns the erasure-coded pools as last known to the OSDs. `folder` is for temporary files.
  Result<std::vector<CephPool>> pools(const std::string& folder) const;
  GroupPlaces groups(std::int64_t pool) const;
  // Returns the placement groups that contain an object of this name, on any OSD.
  Result<std::vector<std::string>> groups_with(const std::string& object) const;
  // Exports a group's shards to files in `folder` and adds them to `objects`.
  Status export_group(const GroupPlaces::value_type& group, const std::string& folder,
                      ScrubGroups& objects) const;
  // Writes each shard, reads it back and compares.
  Status write_back(const std::vector<WriteBack>& shards) const;

 private:
  struct Command {
    OsdPlace osd;
    std::vector<std::string> arguments;
  };
  Result<std::vector<std::string>> run(const std::vector<Command>& commands) const;
  Status write_one(const WriteBack& shard) const;

  std::string tool_;
  std::vector<OsdPlace> places_;
  std::vector<std::vector<std::string>> group_ids_;  // per entry of places_: "1.as2"
};

}  // namespace calpe::tools
