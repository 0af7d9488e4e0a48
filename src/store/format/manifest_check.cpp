// SPDX-License-Identifier: Apache-2.0
// The manifest rules of docs/format.md. They ensure that a restore writes nothing outside its
// directory and no byte twice.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/manifest.hpp"

namespace calpe::store {

namespace {

constexpr std::size_t text_bytes_max = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t count_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t mode_max = 07777;
constexpr std::uint32_t second_nanoseconds = 1'000'000'000;
// Maximum file size that operating systems accept.
constexpr std::uint64_t file_bytes_max = std::numeric_limits<std::int64_t>::max();

template <class... Parts>
Error broken(const Manifest& manifest, std::size_t index, const Parts&... rule) {
  return make_error(ErrorCode::corrupt, "manifest entry ", index, " \"",
                    shown_path(manifest.entries[index].path), "\": ", rule...);
}

std::string_view wrong_part(std::string_view path) {
  while (true) {
    const std::size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    if (part.empty()) return "the path is absolute or has an empty component";
    if (part == "." || part == "..") return "the path contains . or ..";
    if (end == std::string_view::npos) return {};
    path.remove_prefix(end + 1);
  }
}

Status check_texts(const Manifest& manifest, std::size_t index) {
  const Entry& entry = manifest.entries[index];
  if (entry.path.size() > text_bytes_max || entry.target.size() > text_bytes_max) {
    return broken(manifest, index, "path and target have ", entry.path.size(), " and ",
                  entry.target.size(), " bytes; expected at most ", text_bytes_max);
  }
  const bool is_root = entry.type == EntryType::folder && index == 0;
  const bool is_stream = entry.type == EntryType::stream;
  if (is_stream && (!entry.path.empty() || manifest.entries.size() != 1)) {
    return broken(manifest, index, "a stream must be the only entry and have no path");
  }
  if (!is_stream && !(is_root && entry.path.empty())) {
    const std::string_view wrong = wrong_part(entry.path);
    if (!wrong.empty()) return broken(manifest, index, wrong);
  }
  if (entry.path.find('\0') != std::string::npos) {
    return broken(manifest, index, "the path contains a zero byte");
  }
  const bool is_link = entry.type == EntryType::link;
  if (is_link == entry.target.empty()) {
    return broken(manifest, index, "a target of ", entry.target.size(), " bytes; expected ",
                  is_link ? "some" : "none");
  }
  if (entry.target.find('\0') != std::string::npos) {
    return broken(manifest, index, "the target contains a zero byte");
  }
  return Done{};
}

Status check_extents(const Manifest& manifest, std::size_t index, std::uint64_t data_bytes) {
  const Entry& entry = manifest.entries[index];
  const bool has_data = entry.type == EntryType::file || entry.type == EntryType::stream;
  if (entry.extents.size() > count_max) {
    return broken(manifest, index, entry.extents.size(), " extents; expected at most ", count_max);
  }
  if (!has_data && (entry.file_bytes != 0 || !entry.extents.empty())) {
    return broken(manifest, index, entry.file_bytes, " bytes in ", entry.extents.size(),
                  " extents, but it is not a file");
  }
  if (!has_data && entry.digest != 0)
    return broken(manifest, index, "a digest, but it is not a file");
  if (entry.file_bytes > file_bytes_max) {
    return broken(manifest, index, entry.file_bytes, " bytes; expected at most ", file_bytes_max);
  }
  std::uint64_t end = 0;
  for (const Extent& extent : entry.extents) {
    // Cannot overflow: the differences are of values compared above.
    if (extent.bytes == 0) return broken(manifest, index, "an extent of 0 bytes");
    if (extent.file_offset < end) {
      return broken(manifest, index, "an extent begins at ", extent.file_offset,
                    ", before the end of the last one at ", end);
    }
    if (extent.file_offset > entry.file_bytes ||
        extent.bytes > entry.file_bytes - extent.file_offset) {
      return broken(manifest, index, "an extent of ", extent.bytes, " bytes at ",
                    extent.file_offset, " in a file of ", entry.file_bytes);
    }
    if (extent.content_offset > data_bytes || extent.bytes > data_bytes - extent.content_offset) {
      return broken(manifest, index, "an extent of ", extent.bytes, " bytes at ",
                    extent.content_offset, " of the content, whose data ends at ", data_bytes);
    }
    end = extent.file_offset + extent.bytes;
  }
  return Done{};
}

// Orders paths component by component: "/" sorts before all other bytes, and paths contain no zero
// byte. Manifests written by Calpe are sorted this way, so checking a million entries needs no
// sort.
bool comes_before(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() || in_b == b.end()) return a.size() < b.size();
  const auto rank = [](char letter) {
    return letter == '/' ? 0U : unsigned{static_cast<unsigned char>(letter)};
  };
  return rank(*in_a) < rank(*in_b);
}

// Checks that no path occurs twice and that the directory of each entry precedes it.
Status check_order(const Manifest& manifest) {
  const std::vector<Entry>& entries = manifest.entries;
  std::vector<std::uint32_t> sorted(entries.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  const auto is_before = [&](std::uint32_t left, std::uint32_t right) {
    if (comes_before(entries[left].path, entries[right].path)) return true;
    return left < right && entries[left].path == entries[right].path;
  };
  if (!std::is_sorted(sorted.begin(), sorted.end(), is_before)) {
    std::sort(sorted.begin(), sorted.end(), is_before);
  }
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (entries[sorted[i]].path == entries[sorted[i - 1]].path) {
      return broken(manifest, sorted[i], "the same path as entry ", sorted[i - 1]);
    }
  }
  std::string_view known_folder;  // directory of the previous entry, usually the same
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t slash = entries[i].path.rfind('/');
    if (slash == std::string::npos) continue;
    const std::string_view folder = std::string_view(entries[i].path).substr(0, slash);
    if (folder == known_folder) continue;
    const auto found = std::lower_bound(sorted.begin(), sorted.end(), folder,
                                        [&](std::uint32_t index, std::string_view path) {
                                          return comes_before(entries[index].path, path);
                                        });
    if (found == sorted.end() || entries[*found].path != folder || *found > i) {
      return broken(manifest, i, "its directory does not come before it");
    }
    if (entries[*found].type != EntryType::folder) {
      return broken(manifest, i, "below entry ", *found, ", which is not a directory");
    }
    known_folder = folder;
  }
  return Done{};
}

Status check_overlaps(const Manifest& manifest) {
  struct Piece {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t index;
  };
  std::size_t count = 0;
  for (const Entry& entry : manifest.entries)
    count += entry.extents.size();
  std::vector<Piece> pieces;
  pieces.reserve(count);
  for (std::uint32_t i = 0; i < manifest.entries.size(); ++i) {
    for (const Extent& extent : manifest.entries[i].extents) {
      pieces.push_back({extent.content_offset, extent.content_offset + extent.bytes, i});
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].begin < pieces[i - 1].end) {
      return broken(manifest, std::max(pieces[i].index, pieces[i - 1].index),
                    "an extent overlaps one of entry ",
                    std::min(pieces[i].index, pieces[i - 1].index), " in the content");
    }
  }
  return Done{};
}

}  // namespace

Status check_manifest(const Manifest& manifest, std::uint64_t data_bytes) {
  if (manifest.entries.size() > count_max) {
    return make_error(ErrorCode::corrupt, "manifest has ", manifest.entries.size(),
                      " entries; expected at most ", count_max);
  }
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const Entry& entry = manifest.entries[i];
    CALPE_CHECK(check_texts(manifest, i));
    if (entry.mode > mode_max) {
      return broken(manifest, i, "mode is ", entry.mode, "; expected at most ", mode_max);
    }
    if (entry.nanoseconds >= second_nanoseconds) {
      return broken(manifest, i, entry.nanoseconds, " nanoseconds; expected less than ",
                    second_nanoseconds);
    }
    CALPE_CHECK(check_extents(manifest, i, data_bytes));
  }
  CALPE_CHECK(check_order(manifest));
  return check_overlaps(manifest);
}

std::string shown_path(std::string_view path) {
  constexpr std::size_t shown_max = 1000;
  return printable(path, shown_max);
}

}  // namespace calpe::store
