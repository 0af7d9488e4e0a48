// SPDX-License-Identifier: Apache-2.0
#include "store/tree/placement.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/shard_header.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t not_placed = ~std::uint64_t{0};

// Gaps between extents by size, and the end, where everything fits.
class FreeSpace {
 public:
  explicit FreeSpace(std::vector<Extent> used) {
    std::sort(used.begin(), used.end(),
              [](const Extent& a, const Extent& b) { return a.content_offset < b.content_offset; });
    for (const Extent& extent : used) {
      if (extent.content_offset > end_) gaps_.emplace(extent.content_offset - end_, end_);
      end_ = extent.content_offset + extent.bytes;
    }
  }

  std::uint64_t take(std::uint64_t bytes) {
    const auto found = gaps_.lower_bound({bytes, 0});
    if (found == gaps_.end()) return std::exchange(end_, end_ + bytes);
    const auto [gap, offset] = *found;
    gaps_.erase(found);
    if (gap > bytes) gaps_.emplace(gap - bytes, offset + bytes);
    return offset;
  }

  std::uint64_t end() const noexcept { return end_; }

 private:
  std::set<std::pair<std::uint64_t, std::uint64_t>> gaps_;  // bytes, offset
  std::uint64_t end_ = 0;
};

// Splits `wanted` into ranges that have a place in the old file and ranges that have none.
std::vector<Extent> reuse_places(const std::vector<Extent>& wanted,
                                 const std::vector<Extent>& before) {
  std::vector<Extent> cut;
  auto old = before.begin();
  for (const Extent& extent : wanted) {
    const std::uint64_t end = extent.file_offset + extent.bytes;
    for (std::uint64_t at = extent.file_offset; at < end;) {
      while (old != before.end() && old->file_offset + old->bytes <= at) {
        ++old;
      }
      const bool has_place = old != before.end() && old->file_offset <= at;
      std::uint64_t cut_end = end;
      if (old != before.end()) {
        cut_end = std::min(end, has_place ? old->file_offset + old->bytes : old->file_offset);
      }
      cut.push_back(
          {.file_offset = at,
           .content_offset = has_place ? old->content_offset + (at - old->file_offset) : not_placed,
           .bytes = cut_end - at});
      at = cut_end;
    }
  }
  return cut;
}

// Joins adjacent extents, so that a file that grows in steps does not get one for each step.
void join_neighbours(std::vector<Extent>& extents) {
  std::vector<Extent> joined;
  for (const Extent& extent : extents) {
    if (!joined.empty() && joined.back().file_offset + joined.back().bytes == extent.file_offset &&
        joined.back().content_offset + joined.back().bytes == extent.content_offset) {
      joined.back().bytes += extent.bytes;
    } else {
      joined.push_back(extent);
    }
  }
  extents = std::move(joined);
}

void place_rest(Manifest& manifest) {
  std::vector<Extent> used;
  for (const Entry& entry : manifest.entries) {
    std::copy_if(entry.extents.begin(), entry.extents.end(), std::back_inserter(used),
                 [](const Extent& extent) { return extent.content_offset != not_placed; });
  }
  FreeSpace space(std::move(used));
  for (Entry& entry : manifest.entries) {
    for (Extent& extent : entry.extents) {
      if (extent.content_offset == not_placed) extent.content_offset = space.take(extent.bytes);
    }
    join_neighbours(entry.extents);
  }
}

}  // namespace

Result<Placement> place_files(const Manifest& before, const Manifest& after,
                              const TreeDifference& difference) {
  Placement placement = {.manifest = after};
  std::vector<Entry>& entries = placement.manifest.entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const EntryDifference& entry = difference.entries[i];
    if (entry.before && entry.keeps_bytes()) {
      entries[i].extents = before.entries[*entry.before].extents;
    } else {
      static const std::vector<Extent> none;
      entries[i].extents = reuse_places(
          entries[i].extents, entry.before ? before.entries[*entry.before].extents : none);
    }
  }
  place_rest(placement.manifest);
  std::uint64_t used_bytes = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (const Extent& extent : entries[i].extents) {
      placement.data_bytes = std::max(placement.data_bytes, extent.content_offset + extent.bytes);
      used_bytes += extent.bytes;
      if (difference.entries[i].keeps_bytes()) continue;
      placement.pieces.push_back({extent.content_offset, extent.bytes, i, extent.file_offset});
    }
  }
  placement.unused_bytes = placement.data_bytes - used_bytes;
  std::sort(placement.pieces.begin(), placement.pieces.end(),
            [](const PlacedPiece& a, const PlacedPiece& b) {
              return a.content_offset < b.content_offset;
            });
  // Never write a manifest that could not be read back.
  if (const Status kept = check_manifest(placement.manifest, placement.data_bytes); !kept) {
    return make_error(ErrorCode::io, kept.error().message);
  }
  return placement;
}

}  // namespace calpe::store
