// SPDX-License-Identifier: Apache-2.0
// Ranges of content bytes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "store/format/manifest.hpp"

namespace calpe::store {

struct ContentRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes() const noexcept { return end - begin; }
  bool operator==(const ContentRange&) const = default;
};

// Ascending, with a gap between any two.
std::vector<ContentRange> merged(std::vector<ContentRange> ranges);
// Adds the data of a file.
void add_data(const Entry& entry, std::vector<ContentRange>& ranges);
std::vector<ContentRange> data_ranges(std::span<const Entry> entries);
std::uint64_t total_bytes(std::span<const ContentRange> ranges) noexcept;
// The end of the range that contains `offset`, or `offset` if no range does.
std::uint64_t end_of_range_at(std::span<const ContentRange> merged_ranges,
                              std::uint64_t offset) noexcept;
// The parts of the file that are in `content`, as offsets in the file.
std::vector<ContentRange> file_ranges(const Entry& entry,
                                      std::span<const ContentRange> merged_content);

}  // namespace calpe::store
