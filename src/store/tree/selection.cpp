// SPDX-License-Identifier: Apache-2.0
#include "store/tree/selection.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <set>
#include <string_view>

#include "base/text.hpp"

namespace calpe::store {

namespace {

// "./a/b/" is "a/b", and "." is the protected directory itself.
std::string plain_path(std::string_view path) {
  while (path.starts_with("./") || path.starts_with('/'))
    path.remove_prefix(path.starts_with('/') ? 1 : 2);
  while (path.ends_with('/'))
    path.remove_suffix(1);
  return path == "." ? "" : std::string(path);
}

std::string_view folder_above(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool is_match(const std::string& pattern, const Entry& entry) {
  // The name as it is comes first, so that a file called "a[1]" can be named.
  return pattern == entry.path || ::fnmatch(pattern.c_str(), entry.path.c_str(), 0) == 0;
}

}  // namespace

Result<Manifest> select_entries(const Manifest& manifest, std::span<const std::string> patterns) {
  const std::vector<Entry>& entries = manifest.entries;
  std::set<std::string_view> matched;
  for (const std::string& given : patterns) {
    const std::string pattern = plain_path(given);
    bool is_any = false;
    for (const Entry& entry : entries) {
      if (!is_match(pattern, entry)) continue;
      is_any = true;
      matched.insert(entry.path);
    }
    if (!is_any) {
      return invalid("\"", shown_path(given),
                     "\" matches nothing in the set; calpe info --files lists what it contains");
    }
  }
  std::set<std::string_view> wanted;
  for (const Entry& entry : entries) {
    const std::string_view path = entry.path;
    bool is_wanted = matched.contains(path);
    for (std::string_view above = path; !is_wanted && !above.empty();) {
      above = folder_above(above);
      is_wanted = matched.contains(above);
    }
    if (!is_wanted) continue;
    wanted.insert(path);
    for (std::string_view above = path; !above.empty();) {
      above = folder_above(above);
      if (!wanted.insert(above).second) break;  // those above it are there as well
    }
  }
  Manifest selected;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(selected.entries),
               [&](const Entry& entry) { return wanted.contains(entry.path); });
  return selected;
}

Result<Entry> slice_entry(const Entry& entry, std::uint64_t begin, std::uint64_t end) {
  if (begin > end || end > entry.file_bytes) {
    return invalid("the range is ", begin, ":", end, ", but ", shown_path(entry.path), " has ",
                   entry.file_bytes, " bytes");
  }
  Entry slice = entry;
  slice.file_bytes = end - begin;
  slice.extents.clear();
  for (const Extent& extent : entry.extents) {
    const std::uint64_t first = std::max(extent.file_offset, begin);
    const std::uint64_t last = std::min(extent.file_offset + extent.bytes, end);
    if (first >= last) continue;
    slice.extents.push_back({.file_offset = first - begin,
                             .content_offset = extent.content_offset + (first - extent.file_offset),
                             .bytes = last - first});
  }
  return slice;
}

}  // namespace calpe::store
