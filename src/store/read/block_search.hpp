// SPDX-License-Identifier: Apache-2.0
// Finds the blocks of an original in a file where they may be at other offsets, by their checksums.
// The checksums are not rolling ones: each offset that is tried costs a hash of a whole block. So
// the offsets tried are those that follow from the sizes and from the blocks already found, and
// where these fail, the ones nearby.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/format/block_checksum.hpp"
#include "store/format/manifest.hpp"
#include "store/read/in_place_shards.hpp"
#include "store/tree/in_place_content.hpp"

namespace calpe::store {

// An open file in which to search.
struct SearchedFile {
  int descriptor = -1;
  std::uint64_t bytes = 0;
};

class BlockSearch {
 public:
  // `originals` must outlive this object.
  explicit BlockSearch(const OriginalShards& originals);

  // True if a block contains only bytes of this file, so that its checksum identifies it.
  bool has_whole_block(const Entry& entry) const noexcept;
  // True if the first, the middle or the last whole block is where the sizes suggest.
  bool has_some(const Entry& entry, const SearchedFile& file);
  // All pieces of the entry that were found, without paths, in the order of its extents. The bytes
  // before the first and after the last whole block of an extent have no checksum of their own;
  // they are taken to be next to it.
  std::vector<MovedPiece> find_all(const Entry& entry, const SearchedFile& file);

 private:
  // Whole blocks of an extent: numbers in the order of the content.
  struct Blocks {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };
  // Consecutive blocks that are `shift` bytes after where they were.
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::int64_t shift = 0;
  };
  Blocks blocks_of(const Extent& extent) const noexcept;
  std::optional<std::uint64_t> expected(std::uint64_t block);
  bool is_at(const Extent& extent, std::uint64_t block, std::int64_t shift,
             const SearchedFile& file);
  struct Likely {
    std::int64_t last = 0;    // shift of the block before
    std::int64_t growth = 0;  // of the file
  };
  std::optional<std::int64_t> likely_shift(const Extent& extent, std::uint64_t block,
                                           const Likely& likely, const SearchedFile& file);
  std::optional<std::int64_t> find_near(const Extent& extent, std::uint64_t block,
                                        std::int64_t shift, const SearchedFile& file);
  std::vector<Run> runs_of(const Extent& extent, std::int64_t growth, const SearchedFile& file);
  void add_pieces(const Extent& extent, const std::vector<Run>& runs,
                  std::vector<MovedPiece>& pieces) const;

  const OriginalShards& originals_;
  const std::uint64_t block_bytes_;
  std::vector<std::byte> buffer_;
  std::uint64_t hashed_bytes_ = 0;  // by find_near()
  // The checksums that were needed last.
  std::optional<OriginalShards::Page> page_;
  std::uint64_t page_shard_ = 0;
  std::uint64_t page_group_ = 0;
  bool has_page_ = false;
};

}  // namespace calpe::store
