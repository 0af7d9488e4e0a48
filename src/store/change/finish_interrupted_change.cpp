// SPDX-License-Identifier: Apache-2.0
// Completes or rolls back an interrupted update or add-parity.
#include <algorithm>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/change/generation_update.hpp"
#include "store/find/held_set.hpp"
#include "store/find/older_generations.hpp"
#include "store/find/redo_journal.hpp"
#include "store/find/unused_journals.hpp"

namespace calpe::store {

namespace {

template <class Work>
Status for_each_file(const FoundSet& set, const Work& work) {
  for (const auto& copies : set.shards) {
    for (const FoundShard& shard : copies) {
      CALPE_CHECK(work(shard));
    }
  }
  return Done{};
}

// Only if enough shards were found to be sure: otherwise the shards that committed a journal's
// generation may be elsewhere.
Status remove_journals(FileSystem& files, const FoundSet& set) {
  if (set.present() < std::min<std::size_t>(set.header.spec.data_shards, set.expected()))
    return Done{};
  const std::set<std::string> folders = shard_folders(set);
  CALPE_CHECK(remove_unused_journals(files, set.header, folders));
  CALPE_TRY(const Findings findings, find_sets(files, {folders.begin(), folders.end()}));
  // Undo journals of an update that never happened.
  CALPE_TRY([[maybe_unused]] const std::size_t removed,
            remove_undo_journals(files, set.header.uuid, folders, [&](const UndoStep& step) {
              return is_undo_needed(findings, step) || step.after <= set.header.generation;
            }));
  return Done{};
}

Result<std::size_t> redo_all(FileSystem& files, const FoundSet& set) {
  std::size_t changed = 0;
  CALPE_CHECK(for_each_file(set, [&](const FoundShard& shard) -> Status {
    if (shard.journal.empty()) return Done{};
    ++changed;
    return redo_shard(files, shard.path, shard.journal);
  }));
  return changed;
}

}  // namespace

Result<std::size_t> settle_set(FileSystem& files, const FoundSet& set) {
  return guarded([&]() -> Result<std::size_t> {
    CALPE_TRY(const auto held, hold_found_set(files, set, LockKind::exclusive));
    CALPE_TRY(const std::size_t changed, redo_all(*held, set));
    CALPE_CHECK(remove_journals(*held, set));
    return changed;
  });
}

Result<std::size_t> settle(FileSystem& files, const std::vector<std::string>& paths) {
  return guarded([&]() -> Result<std::size_t> {
    CALPE_TRY(const Findings findings, find_sets(files, paths));
    std::vector<std::unique_ptr<HeldFiles>> held;
    for (const FoundSet& set : findings.sets) {
      CALPE_TRY(held.emplace_back(), hold_found_set(files, set, LockKind::exclusive));
    }
    std::size_t changed = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      CALPE_TRY(const std::size_t more, redo_all(*held[i], findings.sets[i]));
      changed += more;
    }
    // Not earlier: an older generation of the set may have journals in the same directories.
    for (std::size_t i = 0; i < held.size(); ++i) {
      CALPE_CHECK(remove_journals(*held[i], findings.sets[i]));
    }
    return changed;
  });
}

}  // namespace calpe::store
