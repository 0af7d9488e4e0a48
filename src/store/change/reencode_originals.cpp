// SPDX-License-Identifier: Apache-2.0
#include "store/change/reencode_originals.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/change/renamed_originals.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/io/names.hpp"
#include "store/read/loss_margin.hpp"
#include "store/read/new_shard_names.hpp"
#include "store/read/report.hpp"
#include "store/read/verify_set.hpp"
#include "store/write/protect.hpp"

namespace calpe::store {

namespace {

// Sorted by path.
using ByPath = std::map<std::string_view, const Entry*>;

ByPath by_path(const Manifest& manifest) {
  ByPath entries;
  for (const Entry& entry : manifest.entries)
    entries[entry.path] = &entry;
  return entries;
}

class ReencodeOriginals {
 public:
  ReencodeOriginals(FileSystem& files, const FoundSet& set, const UpdateOriginalsOptions& options)
      : files_(files), set_(set), options_(options) {}

  Result<UpdatedOriginals> run(OriginalSource& source, const InPlaceUpdate& in_place) {
    CALPE_TRY(OpenSet shards, OpenSet::open(files_, set_));
    CALPE_TRY(const StripeCoder coder, StripeCoder::make(set_.header));
    if (shards.originals() == nullptr) {
      return make_error(ErrorCode::unrecoverable, "cannot read the file list",
                        shards.read_error_text());
    }
    ThreadPool helpers(options_.jobs > 1 ? options_.jobs - 1 : 0);
    CALPE_TRY(const Survey survey,
              survey_set(shards, coder, Compared::nowhere, &helpers,
                         [&](std::uint64_t done, std::uint64_t all) { tell(done, 2 * all); }));
    CALPE_TRY(const std::vector<OriginalState> states, check_originals(shards, coder, survey));
    const Manifest& before = shards.originals()->manifest();
    CALPE_CHECK(check_rot(before, source.manifest(), states, survey));
    UpdatedOriginals updated = {.header = set_.header};
    compare(before, source.manifest(), states, updated);
    updated.skipped = source.skipped();
    const VerifyReport parity = make_report(shards, survey);
    const bool is_parity_good =
        std::all_of(parity.shards.begin(), parity.shards.end(),
                    [](const ShardState& shard) { return shard.problem.empty(); });
    CALPE_TRY(const TreeDifference difference,
              compare_with_originals(*shards.originals(), source, options_.dry_run));
    for (std::size_t i = 0; i < difference.entries.size(); ++i) {
      if (difference.entries[i].change != EntryChange::metadata) continue;
      updated.metadata.push_back(source.manifest().entries[i].path);
    }
    const Removal removal = removal_of(before, source.manifest(), difference);
    updated.removed_percent = removal.percent();
    if (options_.dry_run || (difference.is_none() && is_parity_good)) return updated;
    // The old parity can still restore removed files; new parity could not.
    CALPE_CHECK(check_removal(removal, set_.original, options_.removed_percent_max));
    if (is_parity_good && in_place) {
      CALPE_TRY(std::optional<UpdatedOriginals> done, in_place());
      if (done) return *std::move(done);
    }
    return write(source, parity, std::move(updated));
  }

 private:
  void tell(std::uint64_t done, std::uint64_t all) const {
    if (options_.on_progress) options_.on_progress(done, all);
  }

  // Files with unchanged time, but other bytes.
  Status check_rot(const Manifest& before, const Manifest& now,
                   std::span<const OriginalState> states, const Survey& survey) const {
    const ByPath present = by_path(now);
    const bool is_single = before.entries.size() == 1 && now.entries.size() == 1;
    for (const OriginalState& state : states) {
      const Entry& entry = before.entries[state.entry];
      if (state.damage != OriginalDamage::damaged || entry.type != EntryType::file) continue;
      const auto found = is_single ? present.begin() : present.find(entry.path);
      if (found == present.end() || !is_same_time(*found->second, entry)) continue;
      return original_damaged(shown_path(state.path), found->second->file_bytes == entry.file_bytes,
                              cure_of(set_.header, survey, entry));
    }
    return Done{};
  }

  static void compare(const Manifest& before, const Manifest& now,
                      std::span<const OriginalState> states, UpdatedOriginals& updated) {
    const ByPath old = by_path(before);
    const ByPath present = by_path(now);
    for (const Entry& entry : before.entries) {
      if (!present.contains(entry.path)) updated.removed.push_back(entry.path);
    }
    for (const Entry& entry : now.entries) {
      if (!old.contains(entry.path)) updated.added.push_back(entry.path);
    }
    for (const OriginalState& state : states) {
      const std::string& path = before.entries[state.entry].path;
      if (present.contains(path)) updated.changed.push_back(path);
    }
  }

  // Each file where it was; a missing one goes to the directory with the fewest.
  Result<std::vector<std::string>> paths_of(const VerifyReport& parity) const {
    std::vector<ShardIndex> lost;
    for (const ShardState& shard : parity.shards) {
      if (shard.path.empty()) lost.push_back(shard.index);
    }
    CALPE_TRY(const StripeCoder coder, StripeCoder::make(set_.header));
    CALPE_TRY(const std::vector<std::string> folders, choose_folders(set_, coder, {{}, {}}, lost));
    auto next_folder = folders.begin();
    std::vector<std::string> paths;
    for (const ShardState& shard : parity.shards) {
      if (!shard.path.empty() && !is_temporary(shard.path)) {
        paths.push_back(shard.path);
        continue;
      }
      const std::string folder = shard.path.empty() ? *next_folder++ : folder_of(shard.path);
      CALPE_TRY(const NewName name, name_for_shard(files_, set_.header, shard.index, folder));
      paths.push_back(name.path);
    }
    return paths;
  }

  // Left by an interrupted update; none belongs to the set being updated.
  Status remove_parts(const std::vector<std::string>& paths) const {
    std::set<std::string> folders;
    for (const std::string& path : paths)
      folders.insert(folder_of(path));
    return remove_temporaries(files_, set_.header.uuid, folders, ".part");
  }

  // 0: to be chosen for the new size, unless the user chose it.
  std::uint32_t block_bytes() const {
    const ShardHeader& header = set_.header;
    const bool is_usual =
        header.block_bytes == choose_block_bytes(header.content_bytes, header.spec.data_shards);
    return is_usual ? 0 : header.block_bytes;
  }

  Result<UpdatedOriginals> write(OriginalSource& source, const VerifyReport& parity,
                                 UpdatedOriginals updated) {
    for (const ShardState& shard : parity.shards) {
      if (is_temporary(shard.path)) {
        return invalid(shard.path, " was left by an interrupted command; run calpe repair first");
      }
    }
    if (set_.header.root_kind != RootKind::none) {
      return invalid("set ", uuid_text(set_.header.uuid),
                     " has a root, which update cannot renew for kept originals");
    }
    CALPE_CHECK(source.set_digests(true));
    ProtectOptions options;
    options.spec = set_.header.spec;
    options.name = set_.header.name;
    options.block_bytes = block_bytes();
    options.uuid = set_.header.uuid;
    options.generation = next_generation(set_.header.generation);
    options.jobs = options_.jobs;
    options.on_progress = [&](std::uint64_t done, std::uint64_t all) { tell(all + done, 2 * all); };
    CALPE_TRY(options.paths, paths_of(parity));
    CALPE_CHECK(remove_parts(options.paths));
    CALPE_TRY(ProtectedSet made, protect_originals(files_, source, options));
    updated.header = std::move(made.header);
    updated.paths = std::move(made.paths);
    updated.is_all_encoded = true;
    updated.stripes_encoded = updated.header.stripe_count;
    return updated;
  }

  FileSystem& files_;
  const FoundSet& set_;
  const UpdateOriginalsOptions& options_;
};

}  // namespace

Result<UpdatedOriginals> reencode_originals(FileSystem& files, const FoundSet& set,
                                            OriginalSource& source,
                                            const UpdateOriginalsOptions& options,
                                            const InPlaceUpdate& in_place) {
  return ReencodeOriginals(files, set, options).run(source, in_place);
}

}  // namespace calpe::store
