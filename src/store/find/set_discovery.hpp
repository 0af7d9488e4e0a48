// SPDX-License-Identifier: Apache-2.0
// Finds shards by their headers, independently of file names and directories.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/format/shard_header.hpp"
#include "store/io/file_system.hpp"

namespace calpe::store {

class ProvenBlocks;

struct FoundShard {
  std::string path;
  std::uint64_t file_bytes = 0;    // may differ from the expected size
  bool front_header_good = false;  // at least one of the two
  bool back_header_good = false;
  // Bytes inserted (or, if negative, removed) somewhere before the back header. Readers look for a
  // block at its offset and at its offset plus this.
  std::int64_t shift = 0;
  // As its header claims; 0 without roots.
  Digest root = {};
  RootPath root_path = {};
  // Its blocks or header do not match the root, even if the checksums do: no block is used.
  bool is_distrusted = false;
  // Redo journal of an interrupted command; empty: none. All other fields describe the shard with
  // the journal applied.
  std::string journal = {};
  // Undo journals that lead to an older generation, in the order in which they apply. Such a shard
  // can only be read.
  std::vector<std::string> undo = {};
  bool operator==(const FoundShard&) const = default;
};

struct FoundSet {
  ShardHeader header;  // of one of them
  std::vector<std::vector<FoundShard>>
      shards;  // by index; several entries: copies of the same shard
  // For kept originals: path of the protected file or directory, as the caller gave it (links are
  // followed). It need not exist. Empty: unknown, all data counts as missing.
  std::string original = {};
  // Blocks that the root proved, by file; readers use no others. nullptr: not requested
  // (root_check.hpp).
  std::shared_ptr<const ProvenBlocks> proven = {};

  std::size_t present() const noexcept;   // shards with at least one copy
  std::size_t expected() const noexcept;  // shards that have files; parity only for kept originals
  bool operator==(const FoundSet&) const = default;
};

// A change of one set that its undo journals can take back.
struct UndoStep {
  Uuid uuid = {};
  std::uint64_t before = 0;  // generations
  std::uint64_t after = 0;
  auto operator<=>(const UndoStep&) const = default;
};
// An undo journal that could not be read or used now, such as for lack of file descriptors.
struct UnreadUndo {
  std::string path;
  std::string why;             // the error
  bool is_step_known = false;  // then undo_steps has it
  bool operator==(const UnreadUndo&) const = default;
};
struct Findings {
  std::vector<FoundSet> sets;
  std::vector<std::string> unknown;                // named like shards, but without a good header
  std::vector<std::string> unreadable = {};        // errors of files named like shards
  std::vector<std::string> unreadable_paths = {};  // of these, in the same order
  // Older generations that undo journals restore, in the same order; only kept_generations()
  // uses them (older_generations.hpp).
  std::vector<FoundSet> older = {};
  // Steps of journals that a shard needs, or may need: an error never makes a journal useless.
  std::set<UndoStep> undo_steps = {};
  std::vector<UnreadUndo> unread_undo = {};
};
// Finds every set and generation with at least one good header in the given directories (not
// recursive) or files, the newest generation of each set first. Lists files without a good header
// separately. Fails with io if a path cannot be read.
Result<Findings> find_sets(FileSystem& files, const std::vector<std::string>& paths);

// Chooses the newest generation with enough shards, else the one with the most shards. Fails with
// invalid_argument if no set is found, or if there are several (lists UUIDs and names) and `uuid`
// does not choose one. Fails with ambiguous if generations differ in the kind of root, which no
// calpe command causes. After an interrupted protect, chooses the old or the new set; incomplete
// sets do not count.
Result<FoundSet> choose_set(const Findings& findings, const std::optional<Uuid>& uuid = {});

}  // namespace calpe::store
