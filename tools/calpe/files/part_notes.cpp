// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/part_notes.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "calpe/cli/output.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/io/file_system.hpp"
#include "store/io/names.hpp"

namespace calpe::tools {

namespace {

using store::FoundSet;

// ".calpe-UUID-s"
std::string begin_of(const std::string& name) {
  const std::size_t end = store::temporary_begin(Uuid()).size();
  return name.size() > end ? name.substr(0, end) : std::string();
}

bool any_shard(const FoundSet& set, const auto& test) {
  return std::any_of(set.shards.begin(), set.shards.end(), [&](const auto& copies) {
    return std::any_of(copies.begin(), copies.end(),
                       [&](const store::FoundShard& shard) { return test(shard.path); });
  });
}

// What is known about the files whose temporary names begin with the UUID of one set.
struct Interrupted {
  std::map<std::string, std::uint64_t> parts;            // by folder
  std::map<std::string, std::uint64_t> asides;           // of shards that are replaced
  bool was_renaming() const { return !asides.empty(); }  // so all parts were complete
};

std::map<std::string, Interrupted> list_interrupted(const std::vector<std::string>& folders) {
  std::map<std::string, Interrupted> all;  // by begin_of()
  for (const std::string& folder : folders) {
    const auto names = store::posix_files().list(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (!store::is_temporary(name)) continue;
      if (name.ends_with(".part")) ++all[begin_of(name)].parts[folder];
      if (name.ends_with(".old")) ++all[begin_of(name)].asides[folder];
    }
  }
  return all;
}

// A whole set of that name which no command was changing.
bool is_another_used(const FoundSet& set, const store::Findings& findings) {
  return std::any_of(findings.sets.begin(), findings.sets.end(), [&](const FoundSet& other) {
    return other.header.uuid != set.header.uuid && other.header.name == set.header.name &&
           store::has_enough(other) && !any_shard(other, store::is_temporary);
  });
}

// What the parts of one set belong to, and what to do.
std::string advice(const std::string& begin, const Interrupted& interrupted,
                   const store::Findings& findings) {
  bool has_headers = false;  // in at least one part, so no run resumes them
  bool is_complete = interrupted.was_renaming();
  bool is_update = false;
  bool is_old_used = false;
  for (const FoundSet& set : findings.sets) {
    if (store::temporary_begin(set.header.uuid) != begin) continue;
    const bool is_named =
        any_shard(set, [](const std::string& path) { return !store::is_temporary(path); });
    const bool has_part =
        any_shard(set, [](const std::string& path) { return path.ends_with(".part"); });
    has_headers = has_headers || has_part;
    is_complete = is_complete || (has_part && !store::is_unfinished(set));
    is_update = is_update || is_named;
    is_old_used = is_old_used || is_another_used(set, findings);
  }
  const bool is_first_rename_due = is_old_used && !is_update && !interrupted.was_renaming();
  if (is_complete && !is_first_rename_due)
    return "an interrupted command, which needs them; run calpe repair with all directories of "
           "the set";
  const std::string verb = is_update ? "update" : "protect";
  const std::string again = text("an unfinished ", verb, "; run the same ", verb, " again");
  if (has_headers) return again;
  return text(again, is_update ? "" : " to resume it", ", or remove ", begin, "*.part");
}

// All shards have their names, but those that they replace were not removed.
bool is_only_removal_due(const std::string& begin, const Interrupted& interrupted,
                         const store::Findings& findings) {
  const auto is_whole = [&](const FoundSet& set) {
    return store::temporary_begin(set.header.uuid) == begin && store::has_enough(set) &&
           !any_shard(set, store::is_temporary);
  };
  return interrupted.parts.empty() &&
         std::any_of(findings.sets.begin(), findings.sets.end(), is_whole);
}

std::vector<std::string> asides_notes(const std::string& begin, const Interrupted& interrupted,
                                      const store::Findings& findings) {
  std::vector<std::string> notes;
  if (!is_only_removal_due(begin, interrupted, findings)) return notes;
  for (const auto& [folder, count] : interrupted.asides) {
    notes.push_back(text(folder, " has ", count_text(count, "replaced shard"),
                         " of an interrupted command; calpe repair with all directories of the "
                         "set removes the replaced set"));
  }
  return notes;
}

}  // namespace

std::vector<std::string> part_notes(const std::vector<std::string>& folders,
                                    const store::Findings& findings) {
  std::vector<std::string> notes;
  for (const auto& [begin, interrupted] : list_interrupted(folders)) {
    for (const auto& [folder, count] : interrupted.parts) {
      notes.push_back(text(folder, " has ", count_text(count, "part"), " of ",
                           advice(begin, interrupted, findings)));
    }
    for (std::string& note : asides_notes(begin, interrupted, findings))
      notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace calpe::tools
