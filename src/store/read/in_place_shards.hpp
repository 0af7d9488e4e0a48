// SPDX-License-Identifier: Apache-2.0
// Presents the data of kept originals as data shards. Each has the geometry of the parity files,
// blocks from the originals, and checksums from any parity file that has them. Code that reads
// shards can read these as well.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/little_endian.hpp"
#include "store/find/set_discovery.hpp"
#include "store/format/content_ranges.hpp"
#include "store/format/geometry.hpp"
#include "store/read/in_place_moved.hpp"
#include "store/tree/in_place_content.hpp"

namespace calpe::store {

// Whether to look for bytes that are no longer where the file list says.
enum class MovedBytes : std::uint8_t { found, ignored };

class OriginalShards : public std::enable_shared_from_this<OriginalShards> {
 public:
  // Reads the manifest, which every parity file contains. Fails with io, and with unrecoverable
  // when no copy of it is good.
  static Result<std::shared_ptr<OriginalShards>> open(FileSystem& files, const FoundSet& set,
                                                      MovedBytes moved = MovedBytes::found);

  const Manifest& manifest() const noexcept { return manifest_; }
  const std::vector<std::byte>& manifest_bytes() const noexcept { return manifest_bytes_; }
  const OriginalContent& content() const noexcept { return *content_; }
  const std::string& original() const noexcept { return original_; }
  const ShardHeader& header() const noexcept { return header_; }
  // What is not where the manifest says, but was found at another place.
  const MovedFiles& moved() const noexcept { return moved_; }
  bool has_moved() const noexcept { return moved_content_ != nullptr; }

  // Returns a read-only file that contains only blocks and page 0 of the checksums. Checksums that
  // no parity file has are missing.
  std::unique_ptr<File> shard(ShardIndex index);
  // The same with what has moved taken from where it is now. Requires has_moved().
  std::unique_ptr<File> moved_shard(ShardIndex index);

  // True if the file of the entry is where the manifest says and has its digest. Reads it once.
  // False without digests, and if it cannot be read. Thread-safe.
  bool is_intact(std::size_t entry) const;
  // Fills those of `lost`, ranges of the content in [offset, offset + bytes.size()), that belong to
  // intact files. Returns the others.
  std::vector<ContentRange> fill_intact(std::span<std::byte> bytes, std::uint64_t offset,
                                        std::span<const ContentRange> lost) const;

  using Page = std::vector<LittleU64>;
  // The checksums of data shard `index` in a group. If no parity file has a good page, those of
  // blocks whose files are all intact are computed.
  std::optional<Page> page_of(ShardIndex index, std::uint64_t group) const;

  // True if all pages and the manifest of a parity file are good.
  bool is_rest_good(const FoundShard& found, File& file) const;

 private:
  friend class OriginalShardFile;
  struct Parity {
    FoundShard found;
    std::unique_ptr<File> file;
  };
  OriginalShards(const ShardHeader& header, std::string original)
      : header_(header), geometry_(geometry_of(header)), original_(std::move(original)) {}
  Status read_manifest();
  Result<bool> read_manifest_at(File& file, std::uint64_t file_bytes, std::uint64_t offset);
  std::optional<Page> voted_page(const std::vector<Page>& pages) const;
  std::optional<Page> computed_page(ShardIndex index, std::uint64_t group,
                                    std::optional<Page> voted) const;

  ShardHeader header_;
  Geometry geometry_;
  std::string original_;
  std::vector<Parity> parity_;
  std::vector<std::byte> manifest_bytes_;
  Manifest manifest_;
  std::unique_ptr<OriginalContent> content_;
  MovedFiles moved_;
  std::unique_ptr<OriginalContent> moved_content_;  // nullptr: nothing has moved
  mutable std::mutex intact_mutex_;                 // guards the next two
  mutable std::optional<OriginalPlace> place_;
  mutable std::map<std::size_t, bool> intact_;  // by entry
  mutable std::mutex pages_mutex_;              // guards the next one
  mutable std::map<std::pair<ShardIndex, std::uint64_t>, std::optional<Page>> computed_;
};

}  // namespace calpe::store
