// SPDX-License-Identifier: Apache-2.0
// Finds the set that the user means, among the shards in the given paths, and locks it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "calpe/files/file_verb.hpp"
#include "store/find/held_set.hpp"
#include "store/find/set_discovery.hpp"

namespace calpe::tools {

// A set, and the file system that keeps its files locked. Access the set only through `files`.
struct HeldSet {
  store::FoundSet set;
  std::unique_ptr<store::HeldFiles> files;
  std::vector<store::FoundSet> older = {};  // kept generations, newest first
  // Generation that is newer than `set` but has too few shards; 0: none.
  std::uint64_t newer_lost = 0;
  // Result of store::kept_numbers(), with generations that could not be read now.
  Result<std::vector<std::uint64_t>> older_numbers = std::vector<std::uint64_t>();
  bool has_unread_undo = false;
  // Files named like shards that cannot be read: error, by path.
  std::map<std::string, std::string> unreadable = {};
};

// Finds all sets in the given paths ("." by default), or only the one selected by UUID or by the
// path of one of its shards, whose directory is then searched too. Notes unreadable paths, such as
// lost disks, and fails only if none can be read. Locks all sets for reading.
struct HeldFindings {
  store::Findings findings;
  std::vector<std::unique_ptr<store::HeldFiles>> files;  // one per set
};
Result<HeldFindings> find_shards(const FilesArguments& arguments);
// Finds the one set the user means, among those that match the given root and key, and the path of
// its originals if it has any. Locks it for reading.
Result<HeldSet> find_one_set(const FilesArguments& arguments);

// Same, but locks the set for changing and first completes or rolls back an interrupted change.
Result<HeldSet> find_settled_set(const FilesArguments& arguments);

}  // namespace calpe::tools
