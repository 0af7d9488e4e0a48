// SPDX-License-Identifier: Apache-2.0
#include "store/find/set_discovery.hpp"

#include <algorithm>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/journal_overlay.hpp"
#include "store/find/older_generations.hpp"

namespace calpe::store {

namespace {

bool is_named_as_shard(const std::string& path) {
  return path.ends_with(".calpe");
}

// Gathers files into sets.
class Search {
 public:
  explicit Search(FileSystem& files) : files_(files) {}

  Status look_at(const std::string& path) {
    const Result<std::vector<std::string>> names = files_.list(path);
    if (!names) return look_at_named_file(path);
    for (const std::string& name : *names) {
      const std::string neighbour = in_folder(path, name);
      if (!keep_journal(neighbour)) look_at_neighbour(neighbour);
    }
    return Done{};
  }

  Findings finish() {
    if (!journals_.empty()) {
      apply_journals(files_, {journals_.begin(), journals_.end()}, found_);
    }
    OlderShards older = older_shards(files_, {undos_.begin(), undos_.end()}, found_);
    return {.sets = sets_of(std::move(found_)),
            .unknown = std::move(unknown_),
            .unreadable = std::move(unreadable_),
            .unreadable_paths = std::move(unreadable_paths_),
            .older = sets_of(std::move(older.files)),
            .undo_steps = std::move(older.steps),
            .unread_undo = std::move(older.unread)};
  }

 private:
  // Returns false for other files.
  bool keep_journal(const std::string& path) {
    if (is_named_as_journal(path)) return journals_.insert(path), true;
    if (is_named_as_undo(path)) return undos_.insert(path), true;
    return false;
  }

  Status look_at_named_file(const std::string& path) {
    const bool is_journal = is_named_as_journal(path) || is_named_as_undo(path);
    if (!seen_.insert(path).second || is_journal) return Done{};
    CALPE_TRY(std::optional<FoundFile> found, look_at_file(files_, path));
    keep(path, std::move(found));
    // Include its journals, which the caller did not name.
    const std::string folder = folder_of(path);
    const Result<std::vector<std::string>> names = files_.list(folder);
    if (!names) return Done{};
    for (const std::string& name : *names) {
      keep_journal(in_folder(folder, name));
    }
    return Done{};
  }

  // Skip entries that cannot be read, such as subdirectories, pipes, files of other users or files
  // on a failing disk.
  void look_at_neighbour(const std::string& path) {
    if (!seen_.insert(path).second) return;
    Result<std::optional<FoundFile>> found = look_at_file(files_, path);
    if (!found && is_named_as_shard(path)) {
      unreadable_.push_back(found.error().message);
      unreadable_paths_.push_back(path);
      return;
    }
    keep(path, found ? *std::move(found) : std::nullopt);
  }

  void keep(const std::string& path, std::optional<FoundFile> found) {
    if (!found) {
      if (is_named_as_shard(path)) unknown_.push_back(path);
      return;
    }
    found_.push_back(*std::move(found));
  }

  static std::vector<FoundSet> sets_of(std::vector<FoundFile> files) {
    std::vector<FoundSet> sets;
    for (FoundFile& file : files) {
      add_to_set(std::move(file), sets);
    }
    std::stable_sort(sets.begin(), sets.end(), [](const FoundSet& a, const FoundSet& b) {
      if (a.header.uuid != b.header.uuid) return a.header.uuid < b.header.uuid;
      return a.header.generation > b.header.generation;
    });
    return sets;
  }

  static void add_to_set(FoundFile found, std::vector<FoundSet>& sets) {
    const ShardIndex index = found.header.shard_index;
    auto set = std::find_if(sets.begin(), sets.end(), [&](const FoundSet& other) {
      return is_same_set(other.header, found.header);
    });
    if (set == sets.end()) {
      const std::size_t shards =
          std::size_t{found.header.spec.data_shards} + found.header.spec.parity_shards;
      sets.push_back({.header = std::move(found.header), .shards = {}});
      set = sets.end() - 1;
      set->shards.resize(shards);
    }
    set->shards[index].push_back(std::move(found.shard));
  }

  FileSystem& files_;
  std::set<std::string> seen_;
  std::vector<FoundFile> found_;
  std::set<std::string> journals_;
  std::set<std::string> undos_;
  std::vector<std::string> unknown_;
  std::vector<std::string> unreadable_;
  std::vector<std::string> unreadable_paths_;
};

std::string_view root_words(RootKind kind) {
  switch (kind) {
    case RootKind::none:
      return "no root";
    case RootKind::sha256:
      return "a root without HMAC";
    case RootKind::hmac:
      break;
  }
  return "a root with HMAC";
}

// update keeps the kind of root, so a generation with another kind may be a forgery made without
// the key.
Status check_root_kinds(std::span<const FoundSet> generations) {
  const ShardHeader& newest = generations.front().header;
  for (const FoundSet& other : generations) {
    if (other.header.root_kind == newest.root_kind) continue;
    return make_error(ErrorCode::ambiguous, "set ", uuid_text(newest.uuid), ": generation ",
                      newest.generation, " has ", root_words(newest.root_kind), ", generation ",
                      other.header.generation, " has ", root_words(other.header.root_kind),
                      "; one of them is a forgery");
  }
  return Done{};
}

// Generations of one set, newest first.
Result<FoundSet> choose_generation(std::span<const FoundSet> generations) {
  CALPE_CHECK(check_root_kinds(generations));
  const auto enough = std::find_if(generations.begin(), generations.end(), has_enough);
  if (enough != generations.end()) return *enough;
  return *std::max_element(
      generations.begin(), generations.end(),
      [](const FoundSet& a, const FoundSet& b) { return a.present() < b.present(); });
}

Error none_found(const Findings& findings) {
  std::string message = "no shard with a good header was found";
  if (!findings.unknown.empty()) {
    message += text("; ", findings.unknown.front(), " is named like one but has none");
    if (findings.unknown.size() > 1)
      message += text(", and ", findings.unknown.size() - 1, " more");
  }
  if (!findings.unreadable.empty()) message += text("; ", findings.unreadable.front());
  return invalid(message);
}

}  // namespace

std::size_t FoundSet::present() const noexcept {
  return static_cast<std::size_t>(std::count_if(
      shards.begin(), shards.end(), [](const auto& copies) { return !copies.empty(); }));
}

std::size_t FoundSet::expected() const noexcept {
  return header.kind == SetKind::originals ? header.spec.parity_shards : shards.size();
}

Result<Findings> find_sets(FileSystem& files, const std::vector<std::string>& paths) {
  return guarded([&]() -> Result<Findings> {
    Search search(files);
    for (const std::string& path : paths) {
      CALPE_CHECK(search.look_at(path));
    }
    return search.finish();
  });
}

Result<FoundSet> choose_set(const Findings& findings, const std::optional<Uuid>& uuid) {
  return guarded([&]() -> Result<FoundSet> {
    std::vector<std::span<const FoundSet>> sets;  // by uuid
    for (auto begin = findings.sets.begin(); begin != findings.sets.end();) {
      const auto end = std::find_if(begin, findings.sets.end(), [&](const FoundSet& other) {
        return other.header.uuid != begin->header.uuid;
      });
      const bool is_meant = !uuid || begin->header.uuid == *uuid;
      if (is_meant && !std::all_of(begin, end, is_unfinished)) sets.emplace_back(begin, end);
      begin = end;
    }
    if (sets.size() == 1) return choose_generation(sets.front());
    if (sets.empty() && uuid && !findings.sets.empty()) {
      return invalid("no shard of set ", uuid_text(*uuid), " was found");
    }
    if (sets.empty()) return none_found(findings);
    if (const auto settled = choose_settled(sets)) return choose_generation(sets[*settled]);
    std::string message = text(sets.size(), " sets were found; expected one:");
    for (const auto& set : sets) {
      const ShardHeader& header = set.front().header;
      message +=
          text(&set == &sets.front() ? " " : ", ", uuid_text(header.uuid), " (", header.name, ")");
    }
    return invalid(message);
  });
}

}  // namespace calpe::store
