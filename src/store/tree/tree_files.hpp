// SPDX-License-Identifier: Apache-2.0
// Reads the files of a scanned tree. Fails if a file changed since the scan, so the data never
// mixes two versions.
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

  // Opens a file and closes the previous one. Fails with io, and when either file was replaced or
  // its size or time changed since the scan.
  Status open(std::size_t entry);
  // Checks once more that the file is unchanged. Without this call, the data may mix two versions.
  // Does nothing if no file is open.
  Status close();

  // Closes the file without a check.
  void abandon();

  // Reads at least 1 byte of the open file, which must be long enough.
  Result<std::size_t> read_some(std::span<std::byte> bytes, std::uint64_t file_offset);
  // Fills `bytes` from one file and leaves it open.
  Status read(std::size_t entry, std::span<std::byte> bytes, std::uint64_t file_offset);

  std::uint64_t bytes_read() const noexcept { return bytes_read_; }  // of all files

 private:
  int descriptor() const { return tree_.file ? tree_.file.get() : open_.get(); }
  std::string shown() const;
  Error changed() const;
  Status check_unchanged() const;

  ScannedTree& tree_;
  std::optional<std::size_t> entry_;  // the open one
  Descriptor open_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace calpe::store
