// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/set_choice.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/files/generations.hpp"
#include "calpe/files/original_paths.hpp"
#include "calpe/files/part_notes.hpp"
#include "calpe/files/remote_paths.hpp"
#include "store/change/generation_update.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/older_generations.hpp"
#include "store/io/file_system.hpp"
#include "store/io/names.hpp"

namespace calpe::tools {

namespace {

// Resolves links: one file under two names must not count as two copies of a shard.
std::string canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::weakly_canonical(path, error);
  return error ? path : found.string();
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

Status check_readable(const std::string& path) {
  if (is_folder(path)) {
    CALPE_TRY([[maybe_unused]] const auto names, store::posix_files().list(path));
    return Done{};
  }
  CALPE_TRY([[maybe_unused]] const auto file, store::posix_files().open(path));
  return Done{};
}

struct Places {
  std::vector<std::string> folders;
  std::vector<std::string> targets;  // those not in `folders`
  std::vector<std::string> files;    // given by name; `folders` has their directories
};

Result<Places> places_of(const FilesArguments& arguments, std::vector<std::string>& notes) {
  std::vector<std::string> paths = arguments.paths;
  paths.insert(paths.end(), arguments.search.begin(), arguments.search.end());
  if (paths.empty()) paths.emplace_back(".");
  Places places;
  std::set<std::string> seen;
  std::vector<std::string> unreadable;
  for (const std::string& path : paths) {
    CALPE_CHECK(refuse_remote(path));
    if (const Status status = check_readable(path); !status) {
      unreadable.push_back(status.error().message);
      continue;
    }
    std::string folder = path;
    if (!is_folder(path)) {
      places.files.push_back(path);
      folder = std::filesystem::path(path).parent_path().string();
      if (folder.empty()) folder = ".";
    }
    if (seen.insert(canonical(folder)).second) places.folders.push_back(folder);
  }
  if (places.folders.empty())
    return make_error(ErrorCode::io, none_readable_text,
                      fmt::format("{}", fmt::join(unreadable, "; ")));
  for (const std::string& target : arguments.targets) {
    if (is_folder(target) && check_readable(target) && seen.insert(canonical(target)).second)
      places.targets.push_back(target);
  }
  for (const std::string& why : unreadable)
    notes.push_back(text(why, "; continuing without it"));
  return places;
}

bool is_lower_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
}

Result<std::string> uuid_beginning(const std::string& given) {
  std::string lower = given;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower.size() <= 36 && std::all_of(lower.begin(), lower.end(), is_lower_hexadecimal))
    return lower;
  return invalid(
      "--uuid is \"", given,
      "\"; expected a UUID or its first digits, such as 0b9a3c1e; calpe info lists them");
}

void keep_only(store::Findings& findings, const std::function<bool(const Uuid&)>& is_kept) {
  std::erase_if(findings.sets,
                [&](const store::FoundSet& set) { return !is_kept(set.header.uuid); });
}

struct Generation {
  Uuid uuid = {};
  std::uint64_t number = 0;
  std::size_t shards = 0;
  Digest root = {};
  bool operator==(const Generation&) const = default;
};

std::vector<Generation> generations_in(const store::Findings& findings) {
  std::vector<Generation> all;
  for (const store::FoundSet& set : findings.sets)
    all.push_back({set.header.uuid, set.header.generation, set.present(), set.header.set_root});
  return all;
}

// Notes unused generations of a set with roots: left over from an update, or forged.
void note_others(std::vector<std::string>& notes, const store::FoundSet& set,
                 const std::vector<Generation>& all, const std::vector<Generation>& kept) {
  if (set.header.root_kind == store::RootKind::none) return;
  for (const Generation& other : all) {
    const bool is_used = other.number == set.header.generation && other.root == set.header.set_root;
    if (other.uuid != set.header.uuid || is_used) continue;
    const bool is_kept = std::find(kept.begin(), kept.end(), other) != kept.end();
    notes.push_back(
        text("generation ", other.number, " of the set was also found, with ",
             count_text(other.shards, "shard"),
             is_kept ? "; without its root (--expect-root), nothing proves which one is right"
                     : "; it is not proven and not used"));
  }
}

Error none_there(const Places& places, const store::Findings& findings) {
  std::string where;
  for (const std::string& folder : places.folders)
    where += (where.empty() ? "" : ", ") + folder;
  if (!findings.unreadable.empty())
    return make_error(ErrorCode::io, "no shard in ", where,
                      " could be read: ", findings.unreadable.front());
  if (findings.unknown.empty())
    return invalid("no shards in ", where, "; name the directories that hold them");
  return make_error(ErrorCode::unrecoverable, "no shard in ", where, " has a good header; ",
                    findings.unknown.front(), " is one of ", findings.unknown.size(),
                    " files named like shards");
}

// Search result: where, what, and notes for the user.
struct Found {
  Places places;
  store::Findings findings;
  std::vector<std::string> notes;
  std::size_t generations = 0;  // of the chosen set that meet the demand
  std::vector<store::FoundSet> older = {};
  std::uint64_t newer_lost = 0;
};

Status keep_asked(store::FileSystem& files, const FilesArguments& arguments, Found& found) {
  CALPE_TRY(const std::string beginning, uuid_beginning(arguments.uuid));
  store::Findings& findings = found.findings;
  const Places& places = found.places;
  if (findings.sets.empty()) return none_there(places, findings);
  if (!beginning.empty()) {
    keep_only(findings, [&](const Uuid& uuid) { return uuid_text(uuid).starts_with(beginning); });
    if (findings.sets.empty()) {
      return invalid("no set here has a UUID that begins with ", beginning,
                     "; calpe info lists them");
    }
  } else if (!places.files.empty()) {
    CALPE_TRY(const store::Findings named, store::find_sets(files, places.files));
    if (named.sets.empty()) {
      return make_error(ErrorCode::corrupt, places.files.front(),
                        " has no good header; name its directory instead");
    }
    keep_only(findings, [&](const Uuid& uuid) {
      return std::any_of(named.sets.begin(), named.sets.end(),
                         [&](const store::FoundSet& set) { return set.header.uuid == uuid; });
    });
  }
  return Done{};
}

// If too few shards of the newest generation are left, restore fails; other commands use an older
// generation and print a note.
Status note_newer(const FilesArguments& arguments, Found& found, const store::FoundSet& chosen) {
  for (const store::FoundSet& other : found.findings.sets) {
    const bool is_newer = other.header.uuid == chosen.header.uuid &&
                          other.header.generation > chosen.header.generation;
    if (!is_newer || store::is_unfinished(other)) continue;
    const std::string what =
        text("generation ", other.header.generation, " is newer, but has only ",
             count_text(other.present(), "shard"), "; ");
    if (arguments.verb == "restore" && !arguments.accepts_older) {
      return make_error(ErrorCode::unrecoverable, what, "--older restores generation ",
                        chosen.header.generation, ", an older state");
    }
    found.newer_lost = std::max(found.newer_lost, other.header.generation);
    found.notes.push_back(text(
        what, "using generation ", chosen.header.generation, ", an older state",
        arguments.verb == "repair" ? "; restore needs --older until the next calpe update" : ""));
  }
  return Done{};
}

// verify and info only.
void note_parts(const FilesArguments& arguments, Found& found) {
  if (arguments.verb != "verify" && arguments.verb != "info") return;
  for (std::string& note : part_notes(found.places.folders, found.findings))
    found.notes.push_back(std::move(note));
}

// Shards of a disk that was away during an update.
void note_stale(const FilesArguments& arguments, Found& found, const store::FoundSet& chosen) {
  const bool is_asked = arguments.verb == "verify" || arguments.verb == "repair";
  if (!is_asked || chosen.header.root_kind != store::RootKind::none) return;
  for (const store::FoundSet& other : found.findings.sets) {
    const bool is_stale = other.header.uuid == chosen.header.uuid &&
                          other.header.generation < chosen.header.generation;
    if (!is_stale) continue;
    std::set<std::string> folders;
    for (const auto& copies : other.shards) {
      for (const store::FoundShard& shard : copies)
        folders.insert(store::folder_of(shard.path));
    }
    found.notes.push_back(text(count_text(other.present(), "shard"), " in ",
                               fmt::format("{}", fmt::join(folders, ", ")),
                               " from before an update: out of date and not used"));
  }
}

// An undo journal that cannot be read is no reason to fail, but older generations may need it.
void note_unread_undo(const store::Findings& findings, Found& found) {
  const auto& unread = findings.unread_undo;
  if (unread.empty()) return;
  found.notes.push_back(
      text(unread.front().why, "; older generations may be incomplete",
           unread.size() > 1 ? text(" (and ", unread.size() - 1, " more undo journals)") : ""));
}

// Sets that only the targets hold are not meant.
Result<store::Findings> find_with_targets(store::FileSystem& files, const Places& places) {
  CALPE_TRY(store::Findings findings, store::find_sets(files, places.folders));
  if (places.targets.empty() || findings.sets.empty()) return findings;
  std::set<Uuid> found;
  for (const store::FoundSet& set : findings.sets)
    found.insert(set.header.uuid);
  std::vector<std::string> all = places.folders;
  all.insert(all.end(), places.targets.begin(), places.targets.end());
  CALPE_TRY(findings, store::find_sets(files, all));
  keep_only(findings, [&](const Uuid& uuid) { return found.contains(uuid); });
  return findings;
}

Status find_in(store::FileSystem& files, const FilesArguments& arguments, Found& found) {
  CALPE_TRY(found.places, places_of(arguments, found.notes));
  CALPE_TRY(found.findings, find_with_targets(files, found.places));
  note_parts(arguments, found);
  return keep_asked(files, arguments, found);
}

Result<store::FoundSet> find_one_in(store::FileSystem& files, const FilesArguments& arguments,
                                    const store::RootDemand& demand, Found& found) {
  CALPE_CHECK(find_in(files, arguments, found));
  CALPE_CHECK(use_generation(arguments.generation, found.findings));
  const std::vector<Generation> all = generations_in(found.findings);
  CALPE_CHECK(store::keep_demanded(found.findings, demand));
  auto set = store::choose_set(found.findings);
  if (!set && set.error().code == ErrorCode::invalid_argument)
    return invalid(set.error().message, "; choose one with --uuid");
  if (!set) return set;
  found.older = store::kept_generations(found.findings, set->header);
  CALPE_CHECK(note_newer(arguments, found, *set));
  note_stale(arguments, found, *set);
  for (const std::string& why : found.findings.unreadable)
    found.notes.push_back(text(why, "; not used"));
  for (const std::string& path : found.findings.unknown)
    found.notes.push_back(text(path, " has no good header; not used"));
  const std::vector<Generation> kept = generations_in(found.findings);
  note_others(found.notes, *set, all, kept);
  if (set->header.kind == store::SetKind::originals) {
    CALPE_TRY(set->original, original_of(arguments.original, *set));
  }
  found.generations = static_cast<std::size_t>(
      std::count_if(kept.begin(), kept.end(),
                    [&](const Generation& other) { return other.uuid == set->header.uuid; }));
  return set;
}

// Only the key or the root proves which generation of a set with roots is the owner's.
Status check_only_one(const store::RootDemand& demand, const store::ShardHeader& header,
                      std::size_t generations) {
  const bool is_free = header.root_kind == store::RootKind::none || demand.names_one();
  if (is_free || generations == 1) return Done{};
  return make_error(ErrorCode::ambiguous, "set ", uuid_text(header.uuid), " has ", generations,
                    " generations, and nothing proves which one is yours");
}

// update, add-parity, restore and info have no --io and use POSIX calls.
Result<store::FileSystem*> reading_files(const FilesArguments& arguments) {
  if (arguments.io.empty()) return &store::posix_files();
  return files_of(arguments);
}

// Finds files without a lock, locks them, and finds them again. `find` returns nothing if the two
// results differ because another command is running.
template <class Value>
Result<Value> find_until_same(const FilesArguments& arguments,
                              const std::function<Result<std::optional<Value>>(Found&)>& find) {
  constexpr int attempts = 5;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    Found found;
    Result<std::optional<Value>> value = find(found);
    if (value && !*value) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * attempt));
      continue;
    }
    if (!value) {
      if (store::is_locked_error(value.error())) return value.error();
      CALPE_CHECK(store::check_not_changing(store::posix_files(), found.places.folders));
      if (attempt == 1) continue;
    }
    for (const std::string& note : found.notes)
      print_note(arguments, note);
    if (!value) return value.error();
    return **std::move(value);
  }
  return store::locked_error(store::LockKind::shared);
}

Result<std::optional<HeldSet>> find_held(const FilesArguments& arguments,
                                         const store::RootDemand& demand, store::LockKind kind,
                                         Found& found) {
  CALPE_TRY(store::FileSystem * files, reading_files(arguments));
  CALPE_TRY(store::FoundSet set, find_one_in(*files, arguments, demand, found));
  CALPE_TRY(auto held, store::hold_set(*files, set, kind));
  if (!held) return std::optional<HeldSet>();
  Found again;
  CALPE_TRY(const store::FoundSet same, find_one_in(*held, arguments, demand, again));
  if (same != set) return std::optional<HeldSet>();
  note_unread_undo(again.findings, found);
  if (kind == store::LockKind::exclusive) {
    CALPE_CHECK(check_only_one(demand, set.header, again.generations));
  }
  HeldSet all = {.set = std::move(set),
                 .files = std::move(held),
                 .older = std::move(again.older),
                 .newer_lost = again.newer_lost,
                 .older_numbers = store::kept_numbers(again.findings, same.header),
                 .has_unread_undo = !again.findings.unread_undo.empty()};
  const store::Findings& findings = again.findings;
  for (std::size_t i = 0; i < findings.unreadable.size(); ++i)
    all.unreadable.emplace(findings.unreadable_paths[i], findings.unreadable[i]);
  return std::optional<HeldSet>(std::move(all));
}

Result<std::optional<HeldFindings>> find_all_held(const FilesArguments& arguments, Found& found) {
  CALPE_CHECK(find_in(store::posix_files(), arguments, found));
  HeldFindings all = {.findings = std::move(found.findings), .files = {}};
  for (const store::FoundSet& set : all.findings.sets) {
    CALPE_TRY(auto held, store::hold_set(store::posix_files(), set, store::LockKind::shared));
    if (!held) return std::optional<HeldFindings>();
    all.files.push_back(std::move(held));
  }
  Found again;
  CALPE_CHECK(find_in(store::posix_files(), arguments, again));
  if (again.findings.sets != all.findings.sets) return std::optional<HeldFindings>();
  note_unread_undo(again.findings, found);
  return std::optional<HeldFindings>(std::move(all));
}

Result<HeldSet> find_locked_set(const FilesArguments& arguments, store::LockKind kind) {
  CALPE_TRY(const store::RootDemand demand, demand_of(arguments.roots));
  return find_until_same<HeldSet>(
      arguments, [&](Found& found) { return find_held(arguments, demand, kind, found); });
}

}  // namespace

Result<HeldFindings> find_shards(const FilesArguments& arguments) {
  return find_until_same<HeldFindings>(
      arguments, [&](Found& found) { return find_all_held(arguments, found); });
}

Result<HeldSet> find_one_set(const FilesArguments& arguments) {
  return find_locked_set(arguments, store::LockKind::shared);
}

Result<HeldSet> find_settled_set(const FilesArguments& arguments) {
  {
    CALPE_TRY(HeldSet held, find_locked_set(arguments, store::LockKind::exclusive));
    CALPE_TRY(const std::size_t changed, store::settle_set(*held.files, held.set));
    if (changed == 0) return held;
    print_note(arguments,
               text("completed an interrupted change of ", count_text(changed, "shard")));
  }
  return find_locked_set(arguments, store::LockKind::exclusive);
}

}  // namespace calpe::tools
