// SPDX-License-Identifier: Apache-2.0
#include "store/change/content_equals.hpp"

#include <algorithm>
#include <cstring>

#include "base/all_zero.hpp"
#include "base/try.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20U;

class ContentComparison {
 public:
  ContentComparison(SetReader& set, TreeFiles& files, std::size_t entry)
      : set_(set), files_(files), entry_(entry) {}

  Result<bool> is_same(const Extent& extent) {
    return in_pieces(extent.bytes, [&](std::uint64_t from, std::size_t bytes) -> Result<bool> {
      in_set_.resize(bytes);
      CALPE_CHECK(set_.read(in_set_, extent.content_offset + from));
      CALPE_CHECK(files_.read(entry_, in_file(bytes), extent.file_offset + from));
      return in_set_ == in_file_;
    });
  }

  // Holes of the set.
  Result<bool> is_zero(std::uint64_t begin, std::uint64_t end) {
    return in_pieces(end - begin, [&](std::uint64_t from, std::size_t bytes) -> Result<bool> {
      CALPE_CHECK(files_.read(entry_, in_file(bytes), begin + from));
      return is_all_zero(in_file_);
    });
  }

 private:
  std::span<std::byte> in_file(std::size_t bytes) {
    in_file_.resize(bytes);
    return in_file_;
  }

  template <class Compare>
  Result<bool> in_pieces(std::uint64_t all, const Compare& compare) {
    for (std::uint64_t from = 0; from < all; from += piece_bytes) {
      const auto bytes = static_cast<std::size_t>(std::min(piece_bytes, all - from));
      CALPE_TRY(const bool is_same, compare(from, bytes));
      if (!is_same) return false;
    }
    return true;
  }

  SetReader& set_;
  TreeFiles& files_;
  std::size_t entry_;
  std::vector<std::byte> in_set_;
  std::vector<std::byte> in_file_;
};

}  // namespace

Result<bool> is_same_content(SetReader& set, const Entry& before, TreeFiles& files,
                             std::size_t entry, const Entry& after) {
  ContentComparison comparison(set, files, entry);
  for (const Extent& extent : before.extents) {
    CALPE_TRY(const bool is_same, comparison.is_same(extent));
    if (!is_same) return false;
  }
  // Data of the file in holes of the set. Other holes of the file were read as zeros above.
  auto old = before.extents.begin();
  for (const Extent& extent : after.extents) {
    const std::uint64_t end = extent.file_offset + extent.bytes;
    for (std::uint64_t at = extent.file_offset; at < end;) {
      while (old != before.extents.end() && old->file_offset + old->bytes <= at) {
        ++old;
      }
      const bool is_behind = old == before.extents.end();
      if (!is_behind && old->file_offset <= at) {
        at = old->file_offset + old->bytes;
        continue;
      }
      const std::uint64_t hole_end = is_behind ? end : std::min(end, old->file_offset);
      CALPE_TRY(const bool is_zero, comparison.is_zero(at, hole_end));
      if (!is_zero) return false;
      at = hole_end;
    }
  }
  CALPE_CHECK(files.close());
  return true;
}

}  // namespace calpe::store
