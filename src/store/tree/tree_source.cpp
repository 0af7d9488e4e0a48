// SPDX-License-Identifier: Apache-2.0
// Reads a tree as a content: data of its files in the order of the manifest, then the manifest.
#include <algorithm>
#include <cstring>

#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/shard_header.hpp"
#include "store/tree/tree.hpp"
#include "store/tree/tree_files.hpp"

namespace calpe::store {

namespace {

class ScannedSource final : public TreeSource {
 public:
  ScannedSource(ScannedTree tree, std::vector<std::byte> manifest)
      : tree_(std::move(tree)), manifest_bytes_(std::move(manifest)) {}

  const Manifest& manifest() const override { return tree_.manifest; }
  const std::vector<std::string>& skipped() const override { return tree_.skipped; }
  std::optional<std::uint64_t> bytes_expected() const override {
    return tree_.data_bytes + manifest_bytes_.size();
  }
  std::uint64_t manifest_offset() const override { return tree_.data_bytes; }
  std::uint64_t manifest_bytes() const override { return manifest_bytes_.size(); }

  // The manifest has sizes and modification times. This adds change times, which users cannot set.
  std::vector<std::byte> identity() const override {
    std::vector<std::byte> bytes = manifest_bytes_;
    for (const FileIdentity& file : tree_.identities) {
      for (const Little<std::int64_t> part :
           {static_cast<std::int64_t>(file.number), file.change_seconds, file.change_nanoseconds}) {
        const auto raw = std::as_bytes(std::span(&part, 1));
        bytes.insert(bytes.end(), raw.begin(), raw.end());
      }
    }
    return bytes;
  }

  // Called before any read: skipped files are not opened.
  Status skip(std::uint64_t bytes) override {
    for (; entry_ < tree_.manifest.entries.size(); ++entry_, extent_ = 0) {
      const std::vector<Extent>& extents = entry().extents;
      for (; extent_ < extents.size(); ++extent_, extent_done_ = 0) {
        const std::uint64_t now = std::min(bytes, extents[extent_].bytes - extent_done_);
        extent_done_ += now;
        bytes -= now;
        if (extent_done_ < extents[extent_].bytes) return Done{};
      }
    }
    if (bytes > manifest_bytes_.size() - manifest_done_) return invalid("skipped past the end");
    manifest_done_ += static_cast<std::size_t>(bytes);
    return Done{};
  }

  Result<std::size_t> read(std::span<std::byte> bytes) override {
    std::size_t filled = 0;
    while (filled < bytes.size() && entry_ < tree_.manifest.entries.size()) {
      CALPE_TRY(const std::size_t got, read_entry(bytes.subspan(filled)));
      filled += got;
    }
    const std::size_t rest =
        std::min(bytes.size() - filled, manifest_bytes_.size() - manifest_done_);
    if (rest != 0) std::memcpy(&bytes[filled], &manifest_bytes_[manifest_done_], rest);
    manifest_done_ += rest;
    return filled + rest;
  }

 private:
  const Entry& entry() const { return tree_.manifest.entries[entry_]; }

  // Reads from the current entry and advances at its end.
  Result<std::size_t> read_entry(std::span<std::byte> bytes) {
    std::size_t got = 0;
    if (entry().type == EntryType::file) {
      CALPE_CHECK(files_.open(entry_));
      if (extent_ < entry().extents.size()) {
        CALPE_TRY(got, read_extent(bytes));
      }
      if (extent_ < entry().extents.size()) return got;
      CALPE_CHECK(files_.close());
    }
    extent_ = 0;
    ++entry_;
    return got;
  }

  Result<std::size_t> read_extent(std::span<std::byte> bytes) {
    const Extent& extent = entry().extents[extent_];
    const std::size_t asked = static_cast<std::size_t>(
        std::min<std::uint64_t>(bytes.size(), extent.bytes - extent_done_));
    CALPE_TRY(const std::size_t got,
              files_.read_some(bytes.first(asked), extent.file_offset + extent_done_));
    extent_done_ += got;
    if (extent_done_ == extent.bytes) {
      extent_done_ = 0;
      ++extent_;
    }
    return got;
  }

  ScannedTree tree_;
  TreeFiles files_{tree_};
  std::vector<std::byte> manifest_bytes_;
  std::size_t entry_ = 0;  // next to be read
  std::size_t extent_ = 0;
  std::uint64_t extent_done_ = 0;
  std::size_t manifest_done_ = 0;
};

}  // namespace

Result<std::unique_ptr<TreeSource>> TreeSource::open(const std::string& path) {
  CALPE_TRY(auto tree, scan_tree(path));
  const Status kept = check_manifest(tree.manifest, tree.data_bytes);
  if (!kept) {
    // Paths or links that are too long, or a name that the file system listed twice.
    return make_error(ErrorCode::io, shown_path(path), ": ", kept.error().message);
  }
  std::vector<std::byte> bytes = to_bytes(tree.manifest);
  if (bytes.size() > manifest_bytes_max) {
    return make_error(ErrorCode::io, shown_path(path), ": the manifest has ", bytes.size(),
                      " bytes; expected at most ", manifest_bytes_max);
  }
  return std::unique_ptr<TreeSource>(
      std::make_unique<ScannedSource>(std::move(tree), std::move(bytes)));
}

}  // namespace calpe::store
