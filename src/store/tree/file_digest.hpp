// SPDX-License-Identifier: Apache-2.0
// The digest of a file of kept originals (docs/format.md). It depends on nothing but the bytes of
// its extents, so it tells an intact file from a damaged one when blocks cannot: in a file that was
// renamed, in a block that other files share, and where checksums are lost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "store/format/manifest.hpp"

namespace calpe::store {

// Bytes of a file without its holes are hashed in pieces of this size, the last one shorter.
inline constexpr std::uint64_t digest_piece_bytes = std::uint64_t{1} << 20U;

// Computes digests of many files from what is read of them anyway, in any order and split anywhere.
// Pieces that were not seen from start to end in one go are read again at the end: few, as each
// reader of a part of the content goes through its files in order.
class FileDigests {
 public:
  // Reads bytes of the data of an entry: of its extents, one after another.
  using ReadData = std::function<Status(std::size_t entry, std::uint64_t data_offset,
                                        std::span<std::byte> bytes)>;

  // is_wanted: by entry; empty: all. Only files have digests.
  explicit FileDigests(const Manifest& manifest, const std::vector<bool>& is_wanted = {});
  ~FileDigests();
  FileDigests(FileDigests&&) noexcept;
  FileDigests& operator=(FileDigests&&) noexcept;

  void add(std::size_t entry, std::uint64_t data_offset, std::span<const std::byte> bytes);
  // Fills the digests of the wanted files of a manifest with the same files. Fails as `read`.
  Status finish(const ReadData& read, Manifest& manifest);

 private:
  struct File {
    std::size_t entry = 0;
    std::uint64_t data_bytes = 0;
    std::size_t first_piece = 0;
  };
  struct Begun;
  const File* find(std::size_t entry) const;
  void add_part(std::size_t piece, std::uint64_t piece_bytes, std::uint64_t within,
                std::span<const std::byte> bytes);

  std::vector<File> files_;               // ascending by entry
  std::vector<std::uint64_t> checksums_;  // of pieces
  std::vector<bool> is_done_;
  std::vector<std::unique_ptr<Begun>> begun_;
};

// Bytes of the extents of a file.
std::uint64_t data_bytes_of(const Entry& entry) noexcept;

// Reads the extents of an open file. Returns nullopt if the file is too short. Fails with io; the
// error names it `shown`.
Result<std::optional<std::uint64_t>> digest_of_file(int file, const Entry& entry,
                                                    const std::string& shown);

}  // namespace calpe::store
