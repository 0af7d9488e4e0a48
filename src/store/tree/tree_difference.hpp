// SPDX-License-Identifier: Apache-2.0
// Compares two manifests to find what changed in a tree since it was protected.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "store/format/manifest.hpp"

namespace calpe::store {

enum class EntryChange : std::uint8_t {
  unchanged,
  metadata,  // mode, owner, or the time of a non-file: only the manifest changes
  changed,   // other bytes (as size or time suggest), another type, or another link target
  added,
};

struct EntryDifference {
  EntryChange change = EntryChange::added;
  // Index of the old entry with the same or most of the bytes: the file itself, or for an added
  // file a removed one of the same size and time, as it was probably renamed.
  std::optional<std::size_t> before = {};
  bool has_same_digest = false;  // added, with the bytes of `before`

  // True if the file need not be read, as it keeps its extents.
  bool keeps_bytes() const noexcept {
    return change == EntryChange::unchanged || change == EntryChange::metadata || has_same_digest;
  }
};

// A removed and an added file of the same size and time, but with different digests: a renamed file
// that was damaged, or another file.
struct DoubtfulMove {
  std::size_t before = 0;
  std::size_t after = 0;
};

struct TreeDifference {
  std::vector<EntryDifference> entries;  // by entry of the new manifest
  std::vector<std::size_t> removed;      // entries of the old manifest
  std::vector<DoubtfulMove> doubtful;    // only if digests were compared

  bool is_none() const noexcept;
  std::size_t count(EntryChange change) const noexcept;
};

bool is_same_time(const Entry& a, const Entry& b) noexcept;

// Tells whether two files of the same size have the same bytes.
using IsSameContent =
    std::function<Result<bool>(std::size_t entry_before, std::size_t entry_after)>;

// Reads a file of the new manifest.
using DigestOf = std::function<Result<std::uint64_t>(std::size_t entry_after)>;

// Trusts size and time unless is_same_content is given. With digest_of, files that seem to be
// renamed are compared by their digests, which the old manifest must have. Both manifests must be
// of the same kind: both of a directory, or both of a single file, whose name is ignored.
Result<TreeDifference> compare_trees(const Manifest& before, const Manifest& after,
                                     const IsSameContent& is_same_content = {},
                                     const DigestOf& digest_of = {});

}  // namespace calpe::store
