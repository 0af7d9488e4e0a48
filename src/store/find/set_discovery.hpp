// SPDX-License-Identifier: Apache-2.0
// Shards are found by their headers, wherever they were moved and however they were renamed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/format/shard_header.hpp"
#include "store/io/file_system.hpp"

namespace calpe::store {

class ProvenBlocks;

struct FoundShard {
  std::string path;
  std::uint64_t file_bytes = 0;    // may be less or more than it should have
  bool front_header_good = false;  // at least one of the two
  bool back_header_good = false;
  // Bytes that were put in (or, below 0, taken out) somewhere before the back header: blocks are
  // looked for where they should be, and so much further on.
  std::int64_t shift = 0;
  // What its header claims; 0 where there are no roots.
  Digest root = {};
  RootPath root_path = {};
  // Its blocks or its header are not those that the root was computed from, whatever the checksums
  // say: none of its blocks is used.
  bool is_distrusted = false;
  // Of a command that was killed while it changed the shard; empty: none. All else here is said of
  // the shard as if it had been changed.
  std::string journal = {};
  bool operator==(const FoundShard&) const = default;
};

struct FoundSet {
  ShardHeader header;                           // of one of them
  std::vector<std::vector<FoundShard>> shards;  // by index; several: copies of the same shard
  // Of originals: the file or folder that was protected, a path of the caller's (links in it are
  // followed). It need not exist. Empty: not known, all data count as missing.
  std::string original = {};
  // What its root has proven of its files, in their order; readers take nothing else. nullptr: it
  // was not asked for (root_check.hpp).
  std::shared_ptr<const ProvenBlocks> proven = {};

  std::size_t present() const noexcept;   // indices of which there is at least one
  std::size_t expected() const noexcept;  // indices that have files: of originals only parity
  bool operator==(const FoundSet&) const = default;
};

// Every set and generation of which at least one header is good, below folders (not recursive) or
// in files, the newest generation of each set first. Files without a good header are left out, but
// counted. Fails with io when a path cannot be read.
struct Findings {
  std::vector<FoundSet> sets;
  std::vector<std::string> unknown;  // looked like shards by their name, but have no good header
  std::vector<std::string> unreadable = {};  // why one that looked like a shard cannot be read
};
Result<Findings> find_sets(FileSystem& files, const std::vector<std::string>& paths);

// The one set that is meant: the newest generation of which enough shards are there; else the
// generation with the most. Fails with invalid_argument when there are several sets (names their
// uuids and names) unless `uuid` says which, or no set is found, and with ambiguous when its
// generations differ in the kind of root, which no calpe command does. Where protect was killed,
// the set before or the one after: what it left incomplete does not count as a set.
Result<FoundSet> choose_set(const Findings& findings, const std::optional<Uuid>& uuid = {});

}  // namespace calpe::store
