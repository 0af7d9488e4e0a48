// SPDX-License-Identifier: Apache-2.0
#include "calpe/ceph/ceph_scrub_groups.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/try.hpp"

namespace calpe::tools {

namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name)
    out += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  // "." and ".." are directories.
  if (!out.empty() && out.front() == '.') out.replace(0, 1, "%2E");
  return out;
}

Result<std::vector<std::byte>> load(const ShardPlace& place) {
  CALPE_TRY(const std::unique_ptr<store::File> file, store::posix_files().open(place.file));
  if (place.exported) return ceph::read_exported_shard(*file, *place.exported);
  CALPE_TRY(const std::uint64_t size, file->size());
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  CALPE_TRY(const std::size_t got, file->read_at(bytes, 0));
  bytes.resize(got);
  return bytes;
}

}  // namespace

std::string file_name(const ceph::CephObjectName& object) {
  std::string out = object.space.empty() ? "" : escaped(object.space) + "+";
  out += escaped(object.name);
  if (!object.key.empty()) out += "~" + escaped(object.key);
  if (object.snapshot != ceph::CephObjectName::head) out += fmt::format("@{}", object.snapshot);
  return out;
}

void ScrubGroups::add_file(const std::string& stem, ShardIndex shard, const std::string& path) {
  ScrubObject& object = files_[stem];
  object.name = stem;
  const bool is_new = object.places.try_emplace(shard, ShardPlace{path, {}, "", ""}).second;
  if (is_new) return;
  object.notes.push_back(fmt::format("{}: duplicate of shard {}; not used", path, shard));
}

void ScrubGroups::add_export(const std::string& path, const std::string& osd,
                             ceph::CephExport found) {
  for (ceph::ExportedShard& shard : found.shards) {
    const ceph::CephObjectName name = shard.object;
    exports_[name].push_back({found.shard,
                              found.group(),
                              found.is_optimised,
                              {path, std::move(shard), found.group_id(), osd}});
  }
}

std::vector<ScrubObject> ScrubGroups::take() {
  std::vector<ScrubObject> objects;
  for (auto& entry : files_)
    objects.push_back(std::move(entry.second));
  for (auto& [name, shards] : exports_) {
    const auto newest = std::ranges::max_element(
        shards, {}, [](const Exported& shard) { return shard.place.exported->version; });
    const ceph::CephVersion version = newest->place.exported->version;
    auto others = newest->place.exported->shard_versions;
    others.erase(newest->shard);  // its own version is the expected one, whatever its list says
    ScrubObject object;
    object.name = file_name(name);
    object.group = newest->group;
    object.id = name;
    object.bytes = newest->place.exported->object_bytes;
    object.is_optimised = newest->is_optimised;
    for (Exported& shard : shards) {
      const std::string where = shard.place.osd.empty() ? shard.place.file : shard.place.osd;
      const auto other = others.find(shard.shard);
      const ceph::CephVersion expected = other == others.end() ? version : other->second;
      if (shard.place.exported->version != expected) {
        object.notes.push_back(fmt::format(
            "shard {} from {} has version {}; expected {}; not used", shard.shard, where,
            ceph::to_text(shard.place.exported->version), ceph::to_text(expected)));
        continue;
      }
      if (!object.places.try_emplace(shard.shard, std::move(shard.place)).second)
        object.notes.push_back(
            fmt::format("{}: duplicate of shard {}; not used", where, shard.shard));
    }
    objects.push_back(std::move(object));
  }
  files_.clear();
  exports_.clear();
  return objects;
}

Result<ceph::CephShards> load_shards(ScrubObject& object, std::size_t count) {
  if (!object.places.empty() && object.places.rbegin()->first >= count) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("{}: shard number is {}; expected below {}",
                    object.places.rbegin()->second.file, object.places.rbegin()->first, count)};
  }
  ceph::CephShards shards(count);
  for (const auto& entry : object.places) {
    Result<std::vector<std::byte>> bytes = load(entry.second);
    if (bytes) {
      shards[entry.first] = *std::move(bytes);
    } else {
      object.notes.push_back(fmt::format("{}; not used", bytes.error().message));
    }
  }
  return shards;
}

}  // namespace calpe::tools
