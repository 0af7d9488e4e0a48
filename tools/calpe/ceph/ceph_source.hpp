// SPDX-License-Identifier: Apache-2.0
// Stopped OSDs, through Ceph's own ceph-objectstore-tool: which placement groups they hold, of
// which pools, their shards out and corrected ones back in. Each start of it takes about a second,
// so it is started for several OSDs at once.
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
  ceph::CephKeys keys;  // of its erasure-code profile
  std::uint64_t chunk_bytes = 0;
};

// Shards of one placement group: "1.a" -> shard -> the OSD that has it.
using GroupPlaces = std::map<std::string, std::multimap<ShardIndex, OsdPlace>>;

struct WriteBack {
  std::string name;  // for people
  ShardPlace place;
  ceph::CephObjectName object;
  ShardIndex shard = 0;
  std::string file;  // that holds the corrected shard
};

class StoppedOsds {
 public:
  // Fails with backend_unavailable when Ceph's programs are not installed, with invalid_argument
  // when a path is no OSD's, with io when an OSD still runs: then it says how to stop it.
  static Result<StoppedOsds> open(const std::vector<std::string>& paths);

  const std::vector<OsdPlace>& places() const noexcept { return places_; }
  // Erasure-coded ones, as the OSDs last knew them; `folder` is for what is passed in files.
  Result<std::vector<CephPool>> pools(const std::string& folder) const;
  GroupPlaces groups(std::int64_t pool) const;
  // Groups in which an object of this name is, by all OSDs.
  Result<std::vector<std::string>> groups_with(const std::string& object) const;
  // Writes a group's shards to files in the folder and adds them to `objects`.
  Status export_group(const GroupPlaces::value_type& group, const std::string& folder,
                      ScrubGroups& objects) const;
  // Writes each shard and reads it back to compare.
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
  std::vector<std::vector<std::string>> group_ids_;  // by place: "1.as2"
};

}  // namespace calpe::tools
