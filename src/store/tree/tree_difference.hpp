// SPDX-License-Identifier: Apache-2.0
// What became of a tree since it was protected, by the two lists of what is in it.
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
  metadata,  // mode, owner, or the time of what is no file: only the manifest changes
  changed,   // bytes, or so its size or time says; or it is of another type, or another link
  added,
};

struct EntryDifference {
  EntryChange change = EntryChange::added;
  // Of the entry before that has the bytes, or most of them: the file itself, or for one that was
  // added a file of the same size and time that is gone, as it was perhaps only renamed.
  std::optional<std::size_t> before = {};

  // Nobody has to read it: its extents are those before.
  bool keeps_bytes() const noexcept {
    return change == EntryChange::unchanged || change == EntryChange::metadata;
  }
};

struct TreeDifference {
  std::vector<EntryDifference> entries;  // of the manifest after
  std::vector<std::size_t> removed;      // of the manifest before

  bool is_none() const noexcept;
  std::size_t count(EntryChange change) const noexcept;
};

// Whether two files of one size have the same bytes.
using IsSameContent =
    std::function<Result<bool>(std::size_t entry_before, std::size_t entry_after)>;

// Size and time are believed, unless is_same_content is there to say. The two lists are of the same
// kind: both of a folder, or both of a single file, whose name does not matter.
Result<TreeDifference> compare_trees(const Manifest& before, const Manifest& after,
                                     const IsSameContent& is_same_content = {});

}  // namespace calpe::store
