// SPDX-License-Identifier: Apache-2.0
// Where the files of a tree go in a content that has most of them already.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/format/manifest.hpp"
#include "store/tree/tree_difference.hpp"

namespace calpe::store {

// Bytes of a file that have to be read, and where they go.
struct PlacedPiece {
  std::uint64_t content_offset = 0;
  std::uint64_t bytes = 0;
  std::size_t entry = 0;
  std::uint64_t file_offset = 0;
};

struct Placement {
  Manifest manifest = {};                // with its extents' places
  std::uint64_t data_bytes = 0;          // the end of the last extent
  std::uint64_t unused_bytes = 0;        // before it, of files that are gone
  std::vector<PlacedPiece> pieces = {};  // ascending in the content
};

// Files that keep their bytes keep their extents. Of the others each byte stays where the byte at
// the same place of the file before was; the rest goes into the smallest gap that holds it whole,
// or to the end. The result is proven by check_manifest(). Fails with io when it is too large.
Result<Placement> place_files(const Manifest& before, const Manifest& after,
                              const TreeDifference& difference);

}  // namespace calpe::store
