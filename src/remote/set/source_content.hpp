// SPDX-License-Identifier: Apache-2.0
// Reads segments of a content from the files of a scanned tree. Bytes of no file are zero.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "store/format/manifest.hpp"
#include "store/tree/tree_files.hpp"

namespace calpe::remote {

class SourceContent {
 public:
  // `manifest` says where the entries of the tree are in the content.
  SourceContent(store::ScannedTree& tree, const store::Manifest& manifest);
  // Fails with io, also if a file changed since it was listed.
  Status read(std::span<std::byte> bytes, std::uint64_t content_offset);
  Status finish() { return files_.close(); }

 private:
  struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::size_t entry = 0;
    std::uint64_t file_offset = 0;
  };
  store::TreeFiles files_;
  std::vector<Piece> pieces_;  // ascending
};

}  // namespace calpe::remote
