// SPDX-License-Identifier: Apache-2.0
// Reads a content in pieces of a few MiB for those who restore it. Small files that follow one
// another come from one piece: a reader that must check and rebuild whole stripes is asked seldom.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/tree/tree.hpp"

namespace calpe::store {

// Of one entry that is restored by itself, whose path does not matter. Fails with invalid_argument
// when it is no file or stream, with corrupt when its extents break the format's rules.
Status check_data(const Entry& entry);

class ContentPieces {
 public:
  // data_end: nothing is read from there on. all_bytes: for progress.
  ContentPieces(const ReadContent& read, std::uint64_t data_end, std::uint64_t all_bytes,
                const RestoreOptions& options)
      : read_(read), data_end_(data_end), all_bytes_(all_bytes), options_(options) {}

  // At least 1 and at most `bytes` bytes at `offset`; good until the next call. Fails as `read`.
  Result<std::span<const std::byte>> next(std::uint64_t offset, std::uint64_t bytes);

 private:
  Status fill(std::uint64_t offset, std::uint64_t bytes);

  const ReadContent& read_;
  std::uint64_t data_end_;
  std::uint64_t all_bytes_;
  const RestoreOptions& options_;
  std::vector<std::byte> piece_;
  std::uint64_t piece_offset_ = 0;
  std::uint64_t piece_bytes_ = 0;
  std::uint64_t last_end_ = 0;  // of what was asked for
  std::uint64_t done_bytes_ = 0;
};

}  // namespace calpe::store
