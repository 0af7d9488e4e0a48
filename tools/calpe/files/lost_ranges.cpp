// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/lost_ranges.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <utility>

#include "base/printable.hpp"

namespace calpe::tools {

void LostContent::add(store::ContentRange range) {
  auto next = ends_.upper_bound(range.begin);
  if (next != ends_.begin() && std::prev(next)->second >= range.begin) --next;
  while (next != ends_.end() && next->first <= range.end) {
    range = {std::min(range.begin, next->first), std::max(range.end, next->second)};
    next = ends_.erase(next);
  }
  ends_.emplace(range.begin, range.end);
}

bool LostContent::is_in(const store::Entry& entry) const {
  return std::any_of(entry.extents.begin(), entry.extents.end(), [&](const store::Extent& extent) {
    const auto next = ends_.lower_bound(extent.content_offset + extent.bytes);
    return next != ends_.begin() && std::prev(next)->second > extent.content_offset;
  });
}

std::vector<store::ContentRange> LostContent::ranges() const {
  std::vector<store::ContentRange> out;
  for (const auto& [begin, end] : ends_)
    out.push_back({begin, end});
  return out;
}

std::vector<LostFile> lost_files(const store::Manifest& manifest,
                                 std::vector<store::ContentRange> lost_content) {
  const std::vector<store::ContentRange> ranges = store::merged(std::move(lost_content));
  std::vector<LostFile> files;
  for (const store::Entry& entry : manifest.entries) {
    auto parts = store::file_ranges(entry, ranges);
    if (!parts.empty()) files.push_back({entry.path, std::move(parts)});
  }
  return files;
}

void print_lost_files(std::string_view verb, const std::vector<LostFile>& files,
                      std::string_view outcome) {
  constexpr std::size_t shown_max = 20;  // of each file
  for (const LostFile& file : files) {
    const std::string name = file.path.empty() ? "the stream" : printable(file.path);
    const std::span ranges(file.ranges);
    for (const store::ContentRange& range : ranges.first(std::min(ranges.size(), shown_max))) {
      fmt::print(stderr, "calpe {}: {}: bytes {} to {} are lost{}\n", verb, name, range.begin,
                 range.end - 1, outcome);
    }
    if (ranges.size() <= shown_max) continue;
    fmt::print(stderr, "calpe {}: {}: and {} more ranges, {} bytes in all; --json lists them\n",
               verb, name, ranges.size() - shown_max, store::total_bytes(ranges));
  }
}

nlohmann::ordered_json to_json(const std::vector<LostFile>& files) {
  auto out = nlohmann::ordered_json::array();
  for (const LostFile& file : files) {
    auto ranges = nlohmann::ordered_json::array();
    for (const store::ContentRange& range : file.ranges)
      ranges.push_back({{"offset", range.begin}, {"bytes", range.bytes()}});
    out.push_back({{"path", printable(file.path)}, {"ranges", ranges}});
  }
  return out;
}

}  // namespace calpe::tools
