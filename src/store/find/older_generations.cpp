// SPDX-License-Identifier: Apache-2.0
#include "store/find/older_generations.hpp"

#include <algorithm>
#include <optional>

#include "base/hex_digits.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/journal_overlay.hpp"
#include "store/find/redo_journal.hpp"
#include "store/format/geometry.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

// The fields of an undo journal without its table.
struct UndoName {
  std::string path;
  ShardIndex shard_index = 0;
  UndoStep step = {};
};

// Returns nullopt if the journal is incomplete. Fails with io.
Result<std::optional<UndoName>> read_name(FileSystem& files, const std::string& path) {
  CALPE_TRY(const std::unique_ptr<File> file, files.open(path));
  CALPE_TRY(const std::optional<RedoJournal> read, read_redo_journal(*file, JournalKind::undo));
  if (!read) return std::optional<UndoName>();
  return std::optional(UndoName{path, read->shard_index, {read->uuid, read->before, read->after}});
}

bool is_fitting(const UndoName& undo, const ShardHeader& header) {
  return header.uuid == undo.step.uuid && header.shard_index == undo.shard_index &&
         header.generation == undo.step.after;
}

// Returns nullopt if the journal does not produce the shard that it claims to. Fails with io.
Result<std::optional<FoundFile>> look_at_older(FileSystem& files, const FoundFile& newer,
                                               const UndoName& undo) {
  FoundShard shard = newer.shard;
  shard.undo.push_back(undo.path);
  CALPE_TRY(const std::unique_ptr<File> file, open_shard(files, shard));
  CALPE_TRY(std::optional<FoundFile> looked, look_at_open_file(*file));
  if (!looked) return std::optional<FoundFile>();
  FoundFile older = *std::move(looked);
  const bool matches_journal = older.header.uuid == undo.step.uuid &&
                               older.header.shard_index == undo.shard_index &&
                               older.header.generation == undo.step.before &&
                               shard_file_bytes(older.header) == older.shard.file_bytes;
  if (!matches_journal) return std::optional<FoundFile>();
  older.shard.journal = std::move(shard.journal);
  older.shard.undo = std::move(shard.undo);
  return std::optional(std::move(older));
}

bool has_uuid(const UnreadUndo& undo, const Uuid& uuid) {
  return name_of(undo.path).starts_with(temporary_begin(uuid));
}

// The journals of all shards of one step differ only in the number of the shard.
bool is_of_step(const UnreadUndo& undo, const UndoStep& step) {
  return has_uuid(undo, step.uuid) &&
         undo.path.ends_with(text("-", hex_number(step.after), undo_ending));
}

// Generations whose shards could not be read, and so are not in the result. Journals that start
// from them cannot be tried, so they count as needed.
class Unresolved {
 public:
  explicit Unresolved(OlderShards& older) : older_(older) {}

  void add(const UndoStep& step) {
    older_.steps.insert(step);
    generations_.insert({step.uuid, step.before});
  }
  bool has_start_of(const UndoStep& step) const {
    return generations_.contains({step.uuid, step.after});
  }

 private:
  OlderShards& older_;
  std::set<std::pair<Uuid, std::uint64_t>> generations_;
};

// Notes what other journals tell about those that could not be read.
void add_unread(const std::vector<UndoName>& undos, OlderShards& older, Unresolved& unresolved) {
  for (UnreadUndo& unread : older.unread) {
    for (const UndoName& undo : undos) {
      if (!is_of_step(unread, undo.step)) continue;
      unread.is_step_known = true;
      unresolved.add(undo.step);
    }
  }
}

template <class Work>
Status for_each_undo(FileSystem& files, const Uuid& uuid, const std::set<std::string>& folders,
                     const Work& work) {
  const std::string begin = temporary_begin(uuid);
  for (const std::string& folder : folders) {
    CALPE_TRY(const std::vector<std::string> names, files.list(folder));
    for (const std::string& name : names) {
      if (!name.starts_with(begin) || !name.ends_with(undo_ending)) continue;
      CALPE_CHECK(work(in_folder(folder, name)));
    }
  }
  return Done{};
}

}  // namespace

bool is_named_as_undo(const std::string& path) noexcept {
  return is_temporary(path) && path.ends_with(undo_ending);
}

OlderShards older_shards(FileSystem& files, const std::vector<std::string>& undo_paths,
                         const std::vector<FoundFile>& found) {
  OlderShards older;
  std::vector<UndoName> undos;
  for (const std::string& path : undo_paths) {
    Result<std::optional<UndoName>> undo = read_name(files, path);
    if (!undo) older.unread.push_back({.path = path, .why = undo.error().message});
    if (undo && *undo) undos.push_back(**std::move(undo));
  }
  Unresolved unresolved(older);
  add_unread(undos, older, unresolved);
  // Newest first, so that a journal finds the shards that the one before has given.
  std::stable_sort(undos.begin(), undos.end(), [](const UndoName& a, const UndoName& b) {
    return a.step.after > b.step.after;
  });
  std::set<std::pair<std::string, std::uint64_t>> given;  // a copy of a journal adds nothing
  for (const UndoName& undo : undos) {
    if (unresolved.has_start_of(undo.step)) unresolved.add(undo.step);
    const std::size_t older_count = older.files.size();
    for (std::size_t i = 0; i < found.size() + older_count; ++i) {
      const FoundFile& newer = i < found.size() ? found[i] : older.files[i - found.size()];
      if (!is_fitting(undo, newer.header)) continue;
      if (given.contains({newer.shard.path, undo.step.before})) continue;
      Result<std::optional<FoundFile>> file = look_at_older(files, newer, undo);
      if (!file) {
        unresolved.add(undo.step);
        older.unread.push_back(
            {.path = undo.path, .why = file.error().message, .is_step_known = true});
        continue;
      }
      if (!*file) continue;
      given.insert({(*file)->shard.path, undo.step.before});
      older.steps.insert(undo.step);
      older.files.push_back(**std::move(file));
    }
  }
  return older;
}

std::vector<FoundSet> kept_generations(const Findings& findings, const ShardHeader& newest) {
  std::vector<FoundSet> kept;
  for (const FoundSet& older : findings.older) {
    const bool is_meant =
        older.header.uuid == newest.uuid && older.header.generation < newest.generation;
    if (!is_meant) continue;
    kept.push_back(older);
    for (const FoundSet& stale : findings.sets) {
      if (!is_same_set(stale.header, older.header)) continue;
      for (std::size_t i = 0; i < stale.shards.size(); ++i) {
        auto& copies = kept.back().shards[i];
        copies.insert(copies.end(), stale.shards[i].begin(), stale.shards[i].end());
      }
    }
  }
  return kept;
}

Result<std::vector<std::uint64_t>> kept_numbers(const Findings& findings,
                                                const ShardHeader& newest) {
  for (const UnreadUndo& undo : findings.unread_undo) {
    if (undo.is_step_known || !has_uuid(undo, newest.uuid)) continue;
    return make_error(ErrorCode::io, undo.why, "; the older generations are not known");
  }
  std::set<std::uint64_t, std::greater<>> numbers;
  for (const UndoStep& step : findings.undo_steps) {
    if (step.uuid == newest.uuid && step.before < newest.generation) numbers.insert(step.before);
  }
  return std::vector<std::uint64_t>(numbers.begin(), numbers.end());
}

bool is_undo_needed(const Findings& findings, const UndoStep& step) {
  const auto& unread = findings.unread_undo;
  return findings.undo_steps.contains(step) ||
         std::any_of(unread.begin(), unread.end(), [&](const UnreadUndo& undo) {
           return !undo.is_step_known && has_uuid(undo, step.uuid);
         });
}

Result<std::size_t> remove_undo_journals(FileSystem& files, const Uuid& uuid,
                                         const std::set<std::string>& folders,
                                         const std::function<bool(const UndoStep&)>& is_kept) {
  std::size_t removed = 0;
  CALPE_CHECK(for_each_undo(files, uuid, folders, [&](const std::string& path) -> Status {
    const Result<std::optional<UndoName>> undo = read_name(files, path);
    if (!undo) return Done{};  // not known to be of no use
    if (*undo && (*undo)->step.uuid == uuid && is_kept((*undo)->step)) return Done{};
    ++removed;
    return files.remove(path);
  }));
  return removed;
}

Result<std::vector<UndoJournal>> list_undo_journals(FileSystem& files, const Uuid& uuid,
                                                    const std::set<std::string>& folders) {
  std::vector<UndoJournal> all;
  CALPE_CHECK(for_each_undo(files, uuid, folders, [&](const std::string& path) -> Status {
    const Result<std::optional<UndoName>> undo = read_name(files, path);
    if (!undo || !*undo || (*undo)->step.uuid != uuid) return Done{};
    CALPE_TRY(const std::unique_ptr<File> file, files.open(path));
    CALPE_TRY(const std::uint64_t bytes, file->size());
    all.push_back({path, (*undo)->shard_index, (*undo)->step, bytes});
    return Done{};
  }));
  return all;
}

std::set<std::string> shard_folders(const FoundSet& set) {
  std::set<std::string> folders;
  for (const auto& copies : set.shards) {
    for (const FoundShard& shard : copies) {
      folders.insert(folder_of(shard.path));
    }
  }
  return folders;
}

}  // namespace calpe::store
