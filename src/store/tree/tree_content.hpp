// SPDX-License-Identifier: Apache-2.0
// Reads a content for restore in pieces of a few MiB. Consecutive small files come from one piece,
// which saves calls of a reader that must check and rebuild whole stripes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "store/format/content_ranges.hpp"
#include "store/tree/tree.hpp"

namespace calpe::store {

// Checks one entry that is restored alone; its path is ignored. Fails with invalid_argument when it
// is not a file or stream, and with corrupt when its extents break the rules of the format.
Status check_data(const Entry& entry);

class ContentPieces {
 public:
  // Reads nothing but `wanted`, the data of the files to be restored.
  ContentPieces(const ReadContent& read, std::vector<ContentRange> wanted,
                const RestoreOptions& options)
      : read_(read),
        all_bytes_(total_bytes(wanted)),
        ranges_(merged(std::move(wanted))),
        options_(options) {}

  std::uint64_t all_bytes() const noexcept { return all_bytes_; }  // total for progress reports

  // Returns between 1 and `bytes` bytes at `offset`, valid until the next call. Fails as `read`.
  Result<std::span<const std::byte>> next(std::uint64_t offset, std::uint64_t bytes);

 private:
  Status fill(std::uint64_t offset, std::uint64_t bytes);

  const ReadContent& read_;
  std::uint64_t all_bytes_;
  std::vector<ContentRange> ranges_;
  const RestoreOptions& options_;
  std::vector<std::byte> piece_;
  std::uint64_t piece_offset_ = 0;
  std::uint64_t piece_bytes_ = 0;
  std::uint64_t last_end_ = 0;  // end of the last request
  std::uint64_t done_bytes_ = 0;
};

}  // namespace calpe::store
