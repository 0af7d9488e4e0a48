// SPDX-License-Identifier: Apache-2.0
// The current content of a set of kept originals, read from the files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "store/tree/in_place_path.hpp"

namespace calpe::store {

// An extent or a part of one. Pieces are in the order of the content.
struct OriginalPiece {
  std::uint64_t content_offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t file_offset = 0;
  std::size_t entry = 0;
  std::uint64_t data_offset = 0;  // in the data of the entry: its extents, one after another
  std::size_t moved_file = 0;     // 0: the file of the entry, else 1 + an index of moved paths
  std::uint64_t end() const noexcept { return content_offset + bytes; }
};

// All extents of a manifest, in the order of the content.
std::vector<OriginalPiece> pieces_of(const Manifest& manifest);

// Returns the part of `pieces` that overlaps [offset, offset + bytes).
std::span<const OriginalPiece> pieces_in(std::span<const OriginalPiece> pieces,
                                         std::uint64_t offset, std::uint64_t bytes);

// Content that is now in another file, or at another offset of its file.
struct MovedPiece {
  std::uint64_t content_offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t file_offset = 0;
  std::string path = {};  // relative to the top of the walk
  std::uint64_t end() const noexcept { return content_offset + bytes; }
};

class OriginalContent {
 public:
  // The manifest must have passed check_manifest() and outlive this object. `moved` replaces parts
  // of its extents; it is in the order of the content, without overlap.
  OriginalContent(const Manifest& manifest, OriginalPlace place,
                  std::span<const MovedPiece> moved = {});

  // Yields zeros where a file is missing or too short, and after the content. Fails with io.
  // Thread-safe.
  Status read(std::span<std::byte> bytes, std::uint64_t offset) const;
  // Pieces that overlap [offset, offset + bytes).
  std::span<const OriginalPiece> pieces_in(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  // One of the recently read files. No descriptor: the file is missing.
  struct OpenFile {
    std::size_t entry = 0;
    std::size_t moved_file = 0;
    std::shared_ptr<const Descriptor> file;
  };
  void add_pieces(OriginalPiece piece, std::span<const MovedPiece> moved);
  // The path below the top of the walk.
  const std::string& path_of(const OriginalPiece& piece) const;
  Result<std::shared_ptr<const Descriptor>> file_of(const OriginalPiece& piece) const;
  Status read_piece(const OriginalPiece& piece, std::span<std::byte> bytes,
                    std::uint64_t offset) const;

  const Manifest& manifest_;
  std::vector<OriginalPiece> pieces_;
  std::vector<std::string> moved_paths_;
  mutable std::mutex mutex_;  // guards the next two
  mutable OriginalPlace place_;
  mutable std::vector<OpenFile> open_;
  mutable std::size_t next_ = 0;
};

}  // namespace calpe::store
