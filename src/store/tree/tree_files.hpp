// SPDX-License-Identifier: Apache-2.0
// Bytes of the files of a tree that was scanned. A file that is not what it was then is an error,
// never bytes of two versions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "store/tree/tree_scan.hpp"

namespace calpe::store {

class TreeFiles {
 public:
  explicit TreeFiles(ScannedTree& tree) : tree_(tree) {}  // borrowed

  // Makes it the file that is read; the one before is closed. Fails with io, and when it or the one
  // before is another file, or has another size or time, than when it was scanned.
  Status open(std::size_t entry);
  // Checks once more that the file is what it was; without it bytes that were read may be of two
  // versions. Fine when none is open.
  Status close();

  // At least 1 byte of the file that is open, which must have that many.
  Result<std::size_t> read_some(std::span<std::byte> bytes, std::uint64_t file_offset);
  // All of `bytes` from one file; it stays open.
  Status read(std::size_t entry, std::span<std::byte> bytes, std::uint64_t file_offset);

  std::uint64_t bytes_read() const noexcept { return bytes_read_; }  // of all files

 private:
  int descriptor() const { return tree_.file ? tree_.file.get() : open_.get(); }
  std::string shown() const;
  Error changed() const;
  Status check_unchanged() const;

  ScannedTree& tree_;
  std::optional<std::size_t> entry_;  // that is open
  Descriptor open_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace calpe::store
