// SPDX-License-Identifier: Apache-2.0
// Which shards belong together: those of one object, from files of single shards and from exports
// of placement groups.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ceph/export.hpp"
#include "ceph/object.hpp"

namespace calpe::tools {

struct ShardPlace {
  std::string file;                             // that the bytes are read from
  std::optional<ceph::ExportedShard> exported;  // none: the file is the shard
  std::string group_id;                         // of exports: "1.as2"
  std::string osd;                              // data path, where it came from one
};

struct ScrubObject {
  std::string name;   // for people, and to name files
  std::string group;  // "1.a"; empty for files of single shards
  std::optional<ceph::CephObjectName> id;
  std::optional<std::uint64_t> bytes;
  std::map<ShardIndex, ShardPlace> places;
  std::vector<std::string> notes;
};

class ScrubGroups {
 public:
  void add_file(const std::string& stem, ShardIndex shard, const std::string& path);
  // From an OSD, or empty.
  void add_export(const std::string& path, const std::string& osd, ceph::CephExport found);
  // By name. A shard that missed the last change of its object is left out, with a note.
  std::vector<ScrubObject> take();

 private:
  struct Exported {
    ShardIndex shard = 0;
    std::string group;
    ShardPlace place;
  };
  std::map<std::string, ScrubObject> files_;
  std::map<ceph::CephObjectName, std::vector<Exported>> exports_;
};

// A name for files: no slash, nothing that a shell minds; different for different objects. The
// namespace is before a plus, the snapshot behind an at, the locator behind a tilde.
std::string file_name(const ceph::CephObjectName& object);

// Of `count` shards those that are there and can be read; the others are noted.
Result<ceph::CephShards> load_shards(ScrubObject& object, std::size_t count);

}  // namespace calpe::tools
