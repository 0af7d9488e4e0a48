// SPDX-License-Identifier: Apache-2.0
#include "store/tree/tree_content.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

namespace {
constexpr std::uint64_t piece_bytes_max = std::uint64_t{1} << 22U;
}

Status check_data(const Entry& entry) {
  if (entry.type != EntryType::file && entry.type != EntryType::stream) {
    return invalid("\"", shown_path(entry.path),
                   "\" is a directory or link; expected a file or stream");
  }
  Entry alone = entry;
  alone.type = EntryType::stream;
  alone.path.clear();
  return check_manifest({.entries = {std::move(alone)}}, std::numeric_limits<std::uint64_t>::max());
}

Status ContentPieces::fill(std::uint64_t offset, std::uint64_t bytes) {
  // Read ahead only for sequential requests: a hostile manifest may ask for single bytes all over.
  const bool goes_on = offset == last_end_;
  const std::uint64_t ahead = goes_on ? end_of_range_at(ranges_, offset) - offset : bytes;
  const auto wanted = static_cast<std::size_t>(std::min(ahead, piece_bytes_max));
  piece_bytes_ = 0;
  if (piece_.size() < wanted) piece_.resize(wanted);
  Status done = read_(std::span(piece_).first(wanted), offset);
  std::size_t got = wanted;
  if (!done && wanted > bytes) {  // the bytes read ahead may not be needed
    got = static_cast<std::size_t>(bytes);
    done = read_(std::span(piece_).first(got), offset);
  }
  CALPE_CHECK(std::move(done));
  piece_offset_ = offset;
  piece_bytes_ = got;
  return Done{};
}

Result<std::span<const std::byte>> ContentPieces::next(std::uint64_t offset, std::uint64_t bytes) {
  const bool is_here = offset >= piece_offset_ && offset - piece_offset_ < piece_bytes_;
  if (!is_here) CALPE_CHECK(fill(offset, bytes));
  const std::uint64_t skip = offset - piece_offset_;
  const std::uint64_t given = std::min(bytes, piece_bytes_ - skip);
  last_end_ = offset + given;
  // Reports the previous piece, which is written by now.
  if (options_.on_progress) options_.on_progress(done_bytes_, all_bytes_);
  done_bytes_ += given;
  return std::span<const std::byte>(piece_).subspan(static_cast<std::size_t>(skip),
                                                    static_cast<std::size_t>(given));
}

}  // namespace calpe::store
