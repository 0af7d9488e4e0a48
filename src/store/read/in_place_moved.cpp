// SPDX-License-Identifier: Apache-2.0
#include "store/read/in_place_moved.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <sys/stat.h>

#include "base/try.hpp"
#include "store/read/block_search.hpp"
#include "store/read/in_place_shards.hpp"
#include "store/tree/file_digest.hpp"
#include "store/tree/folder_files.hpp"

namespace calpe::store {

namespace {

// A missing file is compared with others this many times in all: each time reads a few blocks.
constexpr std::uint64_t comparisons_max = 20'000;

constexpr std::size_t same_size_max = 1000;  // files of one size to consider
constexpr int unlikely = 3;                  // rank of a file with another name and another time

bool is_time_of(const Entry& entry, const FolderFile& file) {
  return file.seconds == entry.seconds && file.nanoseconds == entry.nanoseconds;
}

class MovedSearch {
 public:
  MovedSearch(const OriginalShards& originals, OriginalPlace place)
      : manifest_(originals.manifest()), place_(std::move(place)), blocks_(originals) {}

  MovedFiles run() {
    look_at_files();
    if (suspects_.empty()) return std::move(found_);
    list_others();
    for (const std::size_t entry : suspects_)
      find(entry);
    std::sort(found_.pieces.begin(), found_.pieces.end(),
              [](const MovedPiece& a, const MovedPiece& b) {
                return a.content_offset < b.content_offset;
              });
    return std::move(found_);
  }

 private:
  // Files that were neither lost nor changed keep their bytes.
  void look_at_files() {
    for (std::size_t i = 0; i < manifest_.entries.size(); ++i) {
      const Entry& entry = manifest_.entries[i];
      if (entry.type != EntryType::file || entry.extents.empty()) continue;
      struct stat about = {};
      const Result<bool> is_there = place_.look_at(entry, about);
      if (is_there && *is_there && S_ISREG(about.st_mode)) {
        const bool is_same = static_cast<std::uint64_t>(about.st_size) == entry.file_bytes &&
                             about.st_mtim.tv_sec == entry.seconds &&
                             static_cast<std::uint64_t>(about.st_mtim.tv_nsec) == entry.nanoseconds;
        if (is_same) {
          intact_.insert(place_.path_of(entry));
          continue;
        }
      }
      suspects_.push_back(i);
    }
  }

  void list_others() {
    others_ = files_below(place_.walk(), place_.is_single() ? Depth::top : Depth::all);
    std::erase_if(others_, [&](const FolderFile& file) { return intact_.contains(file.path); });
    std::stable_sort(others_.begin(), others_.end(),
                     [](const FolderFile& a, const FolderFile& b) { return a.bytes < b.bytes; });
  }

  void find(std::size_t number) {
    const Entry& entry = manifest_.entries[number];
    if (take_own(entry)) return;
    const FolderFile* const other = other_of(entry);
    if (other == nullptr) return;
    found_.names.emplace(number, other->path);
    if (other->bytes == entry.file_bytes) {
      for (const Extent& extent : entry.extents)
        add({extent.content_offset, extent.bytes, extent.file_offset, other->path});
      return;
    }
    const Result<Descriptor> file = place_.open_path(other->path);
    if (!file || !*file) return;
    for (MovedPiece& piece : blocks_.find_all(entry, {file->get(), other->bytes}))
      add(std::move(piece), other->path);
  }

  // Looks in the file of the entry itself, where bytes may have been inserted or removed.
  bool take_own(const Entry& entry) {
    const Result<Descriptor> file = place_.open_file(entry);
    struct stat about = {};
    if (!file || !*file || ::fstat(file->get(), &about) != 0) return false;
    bool is_any = false;
    for (MovedPiece& piece :
         blocks_.find_all(entry, {file->get(), static_cast<std::uint64_t>(about.st_size)})) {
      is_any = true;
      const bool is_in_place =
          std::any_of(entry.extents.begin(), entry.extents.end(), [&](const Extent& extent) {
            return piece.content_offset >= extent.content_offset &&
                   piece.content_offset - extent.content_offset ==
                       piece.file_offset - extent.file_offset &&
                   piece.content_offset < extent.content_offset + extent.bytes;
          });
      if (!is_in_place) add(std::move(piece), place_.path_of(entry));
    }
    return is_any;
  }

  // Another file that seems to be the one of the entry. nullptr: none.
  const FolderFile* other_of(const Entry& entry) {
    const auto [begin, end] = std::equal_range(
        others_.begin(), others_.end(), FolderFile{.path = {}, .bytes = entry.file_bytes},
        [](const FolderFile& a, const FolderFile& b) { return a.bytes < b.bytes; });
    const std::string& path = place_.path_of(entry);
    // Likely ones first: renaming keeps the time, and copying the name. Neither proves anything.
    Ranked same_size;
    for (auto file = begin; file != end && same_size.size() < same_size_max; ++file) {
      if (file->path == path) continue;
      const bool is_same_name = split_path(file->path).name == split_path(path).name;
      same_size.emplace_back((is_time_of(entry, *file) ? 0 : 2) + (is_same_name ? 0 : 1), &*file);
    }
    std::stable_sort(same_size.begin(), same_size.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (!blocks_.has_whole_block(entry)) {
      if (manifest_.has_digests) return with_digest(entry, same_size);
      const bool is_any_likely = !same_size.empty() && same_size.front().first < unlikely;
      return is_any_likely ? same_size.front().second : nullptr;
    }
    for (const auto& [rank, file] : same_size) {
      if (looks_like(entry, *file)) return file;
    }
    for (const FolderFile& file : others_) {
      if (file.bytes == entry.file_bytes || file.path == path) continue;
      if (comparisons_ >= comparisons_max) break;
      if (looks_like(entry, file)) return &file;
    }
    return nullptr;
  }

  using Ranked = std::vector<std::pair<int, const FolderFile*>>;

  const FolderFile* with_digest(const Entry& entry, const Ranked& same_size) {
    for (const auto& [rank, file] : same_size) {
      if (++comparisons_ > comparisons_max) break;
      const Result<Descriptor> opened = place_.open_path(file->path);
      if (!opened || !*opened) continue;
      const auto digest = digest_of_file(opened->get(), entry, file->path);
      if (digest && *digest == entry.digest) return file;
    }
    return nullptr;
  }

  bool looks_like(const Entry& entry, const FolderFile& file) {
    ++comparisons_;
    if (comparisons_ > comparisons_max) return false;
    const Result<Descriptor> opened = place_.open_path(file.path);
    return opened && *opened && blocks_.has_some(entry, {opened->get(), file.bytes});
  }

  void add(MovedPiece piece, const std::string& path) {
    piece.path = path;
    found_.pieces.push_back(std::move(piece));
  }
  void add(MovedPiece piece) { found_.pieces.push_back(std::move(piece)); }

  const Manifest& manifest_;
  OriginalPlace place_;
  BlockSearch blocks_;
  std::vector<std::size_t> suspects_;  // entries
  std::set<std::string> intact_;       // paths
  std::vector<FolderFile> others_;     // ascending by size
  std::uint64_t comparisons_ = 0;
  MovedFiles found_;
};

}  // namespace

Result<MovedFiles> find_moved(const OriginalShards& originals) {
  CALPE_TRY(OriginalPlace place, OriginalPlace::open(originals.manifest(), originals.original()));
  if (!place.is_there()) return MovedFiles{};
  return MovedSearch(originals, std::move(place)).run();
}

}  // namespace calpe::store
