// SPDX-License-Identifier: Apache-2.0
// Groups shards by object, from files of single shards and from exports of placement groups.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ceph/export.hpp"
#include "ceph/object.hpp"

namespace calpe::tools {

struct ShardPlace {
  std::string file;                             // file to read the bytes from
  std::optional<ceph::ExportedShard> exported;  // nullopt: the file is the shard
  std::string group_id;                         // exports only: "1.as2"
  std::string osd;                              // data path of the OSD, or empty
};

struct ScrubObject {
  std::string name;   // for output and file names
  std::string group;  // "1.a"; empty for files of single shards
  std::optional<ceph::CephObjectName> id;
  std::optional<std::uint64_t> bytes;
  std::optional<bool> is_optimised;  // the pool has allow_ec_optimizations; nullopt: unknown
  std::map<ShardIndex, ShardPlace> places;
  std::vector<std::string> notes;
};

class ScrubGroups {
 public:
  void add_file(const std::string& stem, ShardIndex shard, const std::string& path);
  // `osd` is the data path of the OSD, or empty.
  void add_export(const std::string& path, const std::string& osd, ceph::CephExport found);
  // Returns the objects by name. Omits shards that missed a change, and adds a note. In optimised
  // pools a change need not involve all shards; the newest shards name the versions of the others.
  std::vector<ScrubObject> take();

 private:
  struct Exported {
    ShardIndex shard = 0;
    std::string group;
    std::optional<bool> is_optimised;
    ShardPlace place;
  };
  std::map<std::string, ScrubObject> files_;
  std::map<ceph::CephObjectName, std::vector<Exported>> exports_;
};

// Returns a unique file name for an object, without slashes or shell characters. A namespace
// comes before a plus, a locator after a tilde, a snapshot after an at sign.
std::string file_name(const ceph::CephObjectName& object);

// Loads the readable shards of `count`. Adds a note for each unreadable one.
Result<ceph::CephShards> load_shards(ScrubObject& object, std::size_t count);

}  // namespace calpe::tools
