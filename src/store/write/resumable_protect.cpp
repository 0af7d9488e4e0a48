// SPDX-License-Identifier: Apache-2.0
#include "store/write/resumable_protect.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/shard_probe.hpp"
#include "store/format/geometry.hpp"
#include "store/io/held_files.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

constexpr std::size_t uuid_text_bytes = 36;

struct Part {
  std::string path;
  std::unique_ptr<File> file = {};
  std::optional<Checkpoint> record = {};
  std::optional<ShardHeader> header = {};
};

// Leftovers with one uuid.
struct Leftover {
  std::vector<Part> parts;
  std::vector<std::string> asides;  // replaced files: it was renaming its shards
};

bool all_parts(const Leftover& left, const auto& test) {
  return std::all_of(left.parts.begin(), left.parts.end(), test);
}

void remove(FileSystem& files, Leftover& left) {
  for (Part& part : left.parts) {
    static_cast<void>(files.remove(part.path));  // a leftover is harmless
    part.file.reset();
  }
}

std::optional<Checkpoint> record_of(File& file) {
  HeaderBytes bytes = {};
  const Result<std::size_t> got = file.read_at(bytes, 0);
  if (!got || *got != bytes.size()) return std::nullopt;
  Result<Checkpoint> record = parse_checkpoint(bytes);
  if (!record) return std::nullopt;
  return *std::move(record);
}

bool is_named(const Part& part, const std::string& name) {
  return part.header ? part.header->name == name : part.record && part.record->name == name;
}

enum class Holder { none, other, other_of_this_name, unknown };

// Opens and locks all parts and reads their records.
Holder open_parts(FileSystem& files, Leftover& left, const std::string& name) {
  Holder holder = Holder::none;
  for (Part& part : left.parts) {
    Result<std::unique_ptr<File>> file = files.open_to_change(part.path);
    if (!file) return Holder::unknown;
    part.file = *std::move(file);
    const Result<bool> is_ours = part.file->lock(LockKind::exclusive);
    if (!is_ours) return Holder::unknown;
    part.record = record_of(*part.file);
    Result<std::optional<FoundFile>> found = look_at_open_file(*part.file);
    if (!found) return Holder::unknown;
    if (*found) part.header = (*found)->header;
    if (!*is_ours && holder == Holder::none) holder = Holder::other;
    if (!*is_ours && is_named(part, name)) holder = Holder::other_of_this_name;
  }
  return holder;
}

Error other_protect_error(const std::string& path, const std::string& name) {
  return locked_error(text(": another protect of ", name, " is running and writes ", path));
}

class Search {
 public:
  Search(FileSystem& files, const std::vector<std::string>& paths, const Checkpoint& wanted,
         bool may_resume)
      : files_(files), paths_(paths), wanted_(wanted), may_resume_(may_resume) {
    begun_.at = wanted;
    begun_.at.groups = 0;
  }

  Result<BegunSet> run() {
    std::set<std::string> folders;
    for (const std::string& path : paths_) {
      if (folders.insert(folder_of(path)).second) CALPE_CHECK(list(folder_of(path)));
    }
    for (auto& [uuid, left] : found_) {
      const Holder holder = open_parts(files_, left, wanted_.name);
      if (holder == Holder::other_of_this_name) {
        return other_protect_error(left.parts.front().path, wanted_.name);
      }
      if (holder == Holder::none) settle(left);
    }
    return std::move(begun_);
  }

 private:
  Status list(const std::string& folder) {
    CALPE_TRY(const std::vector<std::string> names, files_.list(folder));
    for (const std::string& name : names) {
      if (!is_temporary(name) || name.size() < temporary_prefix.size() + uuid_text_bytes) continue;
      const std::string uuid = name.substr(temporary_prefix.size(), uuid_text_bytes);
      if (name.ends_with(".old")) found_[uuid].asides.push_back(in_folder(folder, name));
      if (name.ends_with(".part")) found_[uuid].parts.push_back({.path = in_folder(folder, name)});
    }
    return Done{};
  }

  void settle(Leftover& left) {
    for (const std::string& path : left.asides) {
      const Result<std::optional<FoundFile>> found = look_at_file(files_, path);
      if (!found || !*found) continue;
      if ((*found)->header.name == wanted_.name) begun_.superseded.push_back(path);
    }
    const auto has_header = [](const Part& part) { return part.header.has_value(); };
    if (std::any_of(left.parts.begin(), left.parts.end(), has_header)) {
      settle_ended(left);
    } else if (!take(left)) {
      const bool is_of_use = all_parts(left, [&](const Part& part) {
        return part.record && part.record->name != wanted_.name && part.record->groups > 0;
      });
      if (!is_of_use) remove(files_, left);
    }
  }

  // Interrupted while headers were written or files renamed: until another set of this name exists,
  // it may be the only one.
  void settle_ended(Leftover& left) {
    for (const Part& part : left.parts) {
      if (is_named(part, wanted_.name)) begun_.superseded.push_back(part.path);
    }
  }

  bool take(Leftover& left) {
    if (!may_resume_ || begun_.at.groups > 0 || left.parts.size() != paths_.size()) return false;
    if (wanted_.what == Digest{} || !left.parts.front().record) return false;
    Checkpoint at = wanted_;
    at.uuid = left.parts.front().record->uuid;
    if (wanted_.uuid != Uuid{} && wanted_.uuid != at.uuid) return false;
    at.groups = ~std::uint64_t{0};
    std::vector<Part*> by_shard(paths_.size());
    for (Part& part : left.parts) {
      if (!part.record || part.record->shard_index >= paths_.size()) return false;
      const ShardIndex shard = part.record->shard_index;
      Checkpoint expected = at;
      expected.groups = part.record->groups;
      expected.shard_index = shard;
      const bool is_its_own = part.path == part_path(paths_[shard], at.uuid, shard);
      if (*part.record != expected || !is_its_own) return false;
      by_shard[shard] = &part;
      at.groups = std::min(at.groups, part.record->groups);
    }
    if (at.groups == 0 || !are_long_enough(left, at)) return false;
    for (Part* part : by_shard) {
      begun_.parts.push_back(std::move(part->file));
    }
    begun_.at = at;
    return true;
  }

  static bool are_long_enough(const Leftover& left, const Checkpoint& at) {
    return all_parts(left, [&](const Part& part) {
      const Result<std::uint64_t> bytes = part.file->size();
      if (!bytes || at.groups > capacity_max / (group_stripes * at.block_bytes)) return false;
      return *bytes >= Geometry{.block_bytes = at.block_bytes}.group_offset(at.groups);
    });
  }

  FileSystem& files_;
  const std::vector<std::string>& paths_;
  const Checkpoint& wanted_;
  bool may_resume_;
  std::map<std::string, Leftover> found_;  // by uuid
  BegunSet begun_;
};

}  // namespace

Status check_alone(FileSystem& files, const std::vector<std::string>& paths, const Uuid& uuid,
                   const std::string& name) {
  const std::string own = temporary_begin(uuid);
  std::set<std::string> folders;
  for (const std::string& path : paths) {
    if (!folders.insert(folder_of(path)).second) continue;
    CALPE_TRY(const std::vector<std::string> names, files.list(folder_of(path)));
    for (const std::string& file : names) {
      if (!is_temporary(file) || file.starts_with(own) || !file.ends_with(".part")) continue;
      Leftover other;
      other.parts.push_back({.path = in_folder(folder_of(path), file)});
      if (open_parts(files, other, name) == Holder::other_of_this_name) {
        return other_protect_error(other.parts.front().path, name);
      }
    }
  }
  return Done{};
}

Result<BegunSet> take_begun_set(FileSystem& files, const std::vector<std::string>& paths,
                                const Checkpoint& wanted, bool may_resume) {
  return Search(files, paths, wanted, may_resume).run();
}

}  // namespace calpe::store
