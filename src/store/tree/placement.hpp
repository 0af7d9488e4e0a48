// SPDX-License-Identifier: Apache-2.0
// Places the files of a changed tree in a content that already holds most of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/format/manifest.hpp"
#include "store/tree/tree_difference.hpp"

namespace calpe::store {

// A range of a file that must be read, and its offset in the content.
struct PlacedPiece {
  std::uint64_t content_offset = 0;
  std::uint64_t bytes = 0;
  std::size_t entry = 0;
  std::uint64_t file_offset = 0;
};

struct Placement {
  Manifest manifest = {};                // with the new extents
  std::uint64_t data_bytes = 0;          // end of the last extent
  std::uint64_t unused_bytes = 0;        // before that end, left by removed files
  std::vector<PlacedPiece> pieces = {};  // ascending in the content
};

// Unchanged files keep their extents. In changed files, each byte stays where the byte at the same
// offset was. The rest goes into the smallest gap that holds it whole, or to the end.
// check_manifest() validates the result. Fails with io when it is too large.
Result<Placement> place_files(const Manifest& before, const Manifest& after,
                              const TreeDifference& difference);

}  // namespace calpe::store
