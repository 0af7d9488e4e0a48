// SPDX-License-Identifier: Apache-2.0
#include "store/find/journal_overlay.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/format/geometry.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

// A journal and the file that it was written for.
struct Pair {
  std::size_t file = 0;  // index in the files found
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  FoundFile redone;
};

// Identifies one update of one set.
using Step = std::tuple<Uuid, std::uint64_t, std::uint64_t>;

Result<std::unique_ptr<File>> open_redone(FileSystem& files, const std::string& shard_path,
                                          const std::string& journal_path, RedoJournal redo) {
  CALPE_TRY(std::unique_ptr<File> shard, files.open(shard_path));
  CALPE_TRY(std::unique_ptr<File> journal, files.open(journal_path));
  return make_redone_file(std::move(shard), std::move(journal), std::move(redo));
}

// Returns nullopt if the journal is incomplete. Fails with io.
Result<std::optional<RedoJournal>> read_journal(FileSystem& files, const std::string& path,
                                                JournalKind kind) {
  CALPE_TRY(const std::unique_ptr<File> file, files.open(path));
  return read_redo_journal(*file, kind);
}

bool is_fitting(const RedoJournal& redo, const ShardHeader& header) {
  return header.uuid == redo.uuid && header.shard_index == redo.shard_index &&
         (header.generation == redo.before || header.generation == redo.after);
}

// Returns nullopt if the journal does not produce the shard that it claims to.
std::optional<FoundFile> look_at_redone(FileSystem& files, const std::string& shard_path,
                                        const std::string& journal_path, const RedoJournal& redo) {
  const Result<std::unique_ptr<File>> file = open_redone(files, shard_path, journal_path, redo);
  if (!file) return std::nullopt;
  Result<std::optional<FoundFile>> looked = look_at_open_file(**file);
  if (!looked || !*looked) return std::nullopt;
  FoundFile found = **std::move(looked);
  const bool matches_journal = found.header.uuid == redo.uuid &&
                               found.header.shard_index == redo.shard_index &&
                               found.header.generation == redo.after &&
                               shard_file_bytes(found.header) == redo.shard_file_bytes;
  if (!matches_journal) return std::nullopt;
  found.shard.journal = journal_path;
  return found;
}

// Orders the copies of a shard by how likely the journal was written for them.
bool is_likelier(const RedoJournal& redo, const FoundFile& a, const FoundFile& b) {
  const bool is_a_begun = a.header.generation == redo.after;
  const bool is_b_begun = b.header.generation == redo.after;
  if (is_a_begun != is_b_begun) return is_a_begun;
  // repair appends a number if the usual name is taken, and temporary names are long.
  const std::string& path = a.shard.path;
  const std::string& other = b.shard.path;
  return path.size() != other.size() ? path.size() < other.size() : path < other;
}

// A journal was written for one file. Other copies in the directory were made later, by repair or
// by the user, and keep their generation: if the journal applied to them too, repair would find the
// shard that it has just created missing again.
void add_pair(FileSystem& files, const std::string& journal_path,
              const std::vector<FoundFile>& found, std::vector<Pair>& pairs) {
  const Result<std::optional<RedoJournal>> read =
      read_journal(files, journal_path, JournalKind::redo);
  if (!read || !*read) return;
  const RedoJournal& redo = **read;
  const std::string folder = folder_of(journal_path);
  std::optional<Pair> chosen;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string& path = found[i].shard.path;
    if (!is_fitting(redo, found[i].header) || folder_of(path) != folder) continue;
    if (chosen && !is_likelier(redo, found[i], found[chosen->file])) continue;
    if (auto redone = look_at_redone(files, path, journal_path, redo)) {
      chosen = Pair{i, redo.before, redo.after, *std::move(redone)};
    }
  }
  if (chosen) pairs.push_back(*std::move(chosen));
}

// Committed if some shard has changed already or all present shards have a journal. Missing shards
// do not count: they may be those that have changed. If they have not, the new state is still
// complete.
bool is_decided(const Step& step, const std::vector<FoundFile>& found,
                const std::vector<Pair>& pairs) {
  const auto& [uuid, before, after] = step;
  std::set<ShardIndex> with_journal;
  for (const Pair& pair : pairs) {
    const ShardHeader& header = found[pair.file].header;
    if (header.uuid == uuid && pair.before == before && pair.after == after)
      with_journal.insert(header.shard_index);
  }
  bool has_each_journal = true;
  for (const FoundFile& file : found) {
    if (file.header.uuid != uuid) continue;
    if (file.header.generation == after) return true;
    if (file.header.generation == before && !with_journal.contains(file.header.shard_index))
      has_each_journal = false;
  }
  return has_each_journal;
}

}  // namespace

bool is_named_as_journal(const std::string& path) noexcept {
  return is_temporary(path) && path.ends_with(redo_ending);
}

void apply_journals(FileSystem& files, const std::vector<std::string>& journal_paths,
                    std::vector<FoundFile>& found) {
  std::vector<Pair> pairs;
  for (const std::string& path : journal_paths) {
    add_pair(files, path, found, pairs);
  }
  std::map<Step, bool> decided;
  for (const Pair& pair : pairs) {
    const Step step = {found[pair.file].header.uuid, pair.before, pair.after};
    if (!decided.contains(step)) decided[step] = is_decided(step, found, pairs);
  }
  // Newest last. Decide for all of them by the files as they were found.
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.after < b.after; });
  for (Pair& pair : pairs) {
    FoundFile& file = found[pair.file];
    if (decided[{pair.redone.header.uuid, pair.before, pair.after}]) file = std::move(pair.redone);
  }
}

namespace {

Result<std::unique_ptr<File>> open_newest(FileSystem& files, const FoundShard& shard) {
  if (shard.journal.empty()) return files.open(shard.path);
  CALPE_TRY(std::optional<RedoJournal> redo, read_journal(files, shard.journal, JournalKind::redo));
  if (!redo) {
    return make_error(ErrorCode::io, "cannot read ", shard.journal,
                      ": it is no longer a complete redo journal");
  }
  return open_redone(files, shard.path, shard.journal, *std::move(redo));
}

// Opens the journal for each read, as a chain has one journal for each generation: with descriptors
// of their own, 14 shards of generation 72 would need more than the usual limit of 1024.
class ClosedJournal final : public File {
 public:
  ClosedJournal(FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  const std::string& path() const noexcept override { return path_; }
  Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
    CALPE_TRY(const std::unique_ptr<File> file, files_.open(path_));
    return file->read_at(bytes, offset);
  }
  Result<std::uint64_t> size() override {
    CALPE_TRY(const std::unique_ptr<File> file, files_.open(path_));
    return file->size();
  }
  Status write_at(std::span<const std::byte>, std::uint64_t) override { return refuse(); }
  Status resize(std::uint64_t) override { return refuse(); }
  Status sync() override { return refuse(); }

 private:
  Status refuse() const { return invalid(path_, " is an undo journal, which never changes"); }

  FileSystem& files_;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<File>> open_shard(FileSystem& files, const FoundShard& shard) {
  CALPE_TRY(std::unique_ptr<File> file, open_newest(files, shard));
  for (const std::string& path : shard.undo) {
    CALPE_TRY(std::optional<RedoJournal> undo, read_journal(files, path, JournalKind::undo));
    if (!undo) {
      return make_error(ErrorCode::io, "cannot read ", path,
                        ": it is no longer a complete undo journal");
    }
    file = make_redone_file(std::move(file), std::make_unique<ClosedJournal>(files, path),
                            *std::move(undo));
  }
  return file;
}

}  // namespace calpe::store
