// SPDX-License-Identifier: Apache-2.0
#include "store/find/held_set.hpp"

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/shard_probe.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

// Returns true if the file is still the shard that was found, ignoring its journals.
Result<bool> is_still(HeldFiles& held, const FoundSet& set, std::size_t index,
                      const FoundShard& shard, LockKind kind) {
  const Result<std::optional<FoundFile>> looked = look_at_file(held, shard.path);
  // Readers treat an unreadable file as damage.
  if (!looked && kind == LockKind::shared) return true;
  if (!looked) return looked.error();
  if (!*looked) return kind == LockKind::shared;
  const ShardHeader& header = (*looked)->header;
  if (header.uuid != set.header.uuid || header.shard_index != index) return false;
  return header.generation == set.header.generation || !shard.journal.empty() ||
         !shard.undo.empty();
}

}  // namespace

Result<std::unique_ptr<HeldFiles>> hold_set(FileSystem& files, const FoundSet& set, LockKind kind) {
  return guarded([&]() -> Result<std::unique_ptr<HeldFiles>> {
    auto held = std::make_unique<HeldFiles>(files, kind);
    for (const auto& copies : set.shards) {
      for (const FoundShard& shard : copies) {
        const Result<bool> is_held = held->hold(shard.path);
        if (!is_held) return is_held.error();
        if (!*is_held) return std::unique_ptr<HeldFiles>();
      }
    }
    for (std::size_t index = 0; index < set.shards.size(); ++index) {
      for (const FoundShard& shard : set.shards[index]) {
        CALPE_TRY(const bool is_same, is_still(*held, set, index, shard, kind));
        if (!is_same) return std::unique_ptr<HeldFiles>();
      }
    }
    return held;
  });
}

Result<std::unique_ptr<HeldFiles>> hold_found_set(FileSystem& files, const FoundSet& set,
                                                  LockKind kind) {
  CALPE_TRY(std::unique_ptr<HeldFiles> held, hold_set(files, set, kind));
  if (held) return held;
  return make_error(ErrorCode::io, "another calpe changed this set after it was found; ",
                    "find it again");
}

Status check_not_changing(FileSystem& files, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const Result<std::vector<std::string>> names = files.list(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (!is_temporary(name) && !name.ends_with(".calpe")) continue;
      const Result<std::unique_ptr<File>> file = files.open(in_folder(folder, name));
      if (!file) continue;
      const Result<bool> is_free = (*file)->lock(LockKind::shared);
      if (is_free && !*is_free) return locked_error(LockKind::shared);
    }
  }
  return Done{};
}

}  // namespace calpe::store
