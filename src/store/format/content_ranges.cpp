// SPDX-License-Identifier: Apache-2.0
#include "store/format/content_ranges.hpp"

#include <algorithm>

namespace calpe::store {

namespace {

// The first range that ends after `offset`.
auto first_after(std::span<const ContentRange> ranges, std::uint64_t offset) {
  return std::upper_bound(
      ranges.begin(), ranges.end(), offset,
      [](std::uint64_t value, const ContentRange& range) { return value < range.end; });
}

}  // namespace

std::vector<ContentRange> merged(std::vector<ContentRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ContentRange& a, const ContentRange& b) { return a.begin < b.begin; });
  std::vector<ContentRange> out;
  for (const ContentRange& range : ranges) {
    if (range.bytes() == 0) continue;
    if (!out.empty() && range.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, range.end);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

void add_data(const Entry& entry, std::vector<ContentRange>& ranges) {
  for (const Extent& extent : entry.extents)
    ranges.push_back({extent.content_offset, extent.content_offset + extent.bytes});
}

std::vector<ContentRange> data_ranges(std::span<const Entry> entries) {
  std::vector<ContentRange> ranges;
  for (const Entry& entry : entries)
    add_data(entry, ranges);
  return ranges;
}

std::uint64_t total_bytes(std::span<const ContentRange> ranges) noexcept {
  std::uint64_t bytes = 0;
  for (const ContentRange& range : ranges)
    bytes += range.bytes();
  return bytes;
}

std::uint64_t end_of_range_at(std::span<const ContentRange> merged_ranges,
                              std::uint64_t offset) noexcept {
  const auto found = first_after(merged_ranges, offset);
  return found != merged_ranges.end() && found->begin <= offset ? found->end : offset;
}

std::vector<ContentRange> file_ranges(const Entry& entry,
                                      std::span<const ContentRange> merged_content) {
  std::vector<ContentRange> out;
  for (const Extent& extent : entry.extents) {
    const std::uint64_t end = extent.content_offset + extent.bytes;
    for (auto range = first_after(merged_content, extent.content_offset);
         range != merged_content.end() && range->begin < end; ++range) {
      const std::uint64_t first = std::max(range->begin, extent.content_offset);
      const std::uint64_t last = std::min(range->end, end);
      const std::uint64_t at = extent.file_offset + (first - extent.content_offset);
      out.push_back({at, at + (last - first)});
    }
  }
  return merged(std::move(out));
}

}  // namespace calpe::store
