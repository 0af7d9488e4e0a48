// SPDX-License-Identifier: Apache-2.0
// The content for parity over files that stay where they are. It is read stripe by stripe, where
// block i of a stripe is the next block of the i-th part of the data. A file that is lost as a
// whole then costs a few blocks of each stripe instead of all blocks of a few stripes.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/tree/content.hpp"
#include "store/tree/file_digest.hpp"
#include "store/tree/in_place_content.hpp"
#include "store/tree/placement.hpp"
#include "store/tree/tree_scan.hpp"

namespace calpe::store {

class OriginalSource final : public ContentSource {
 public:
  // See TreeSource::open().
  static Result<std::unique_ptr<OriginalSource>> open(const std::string& path);

  const Manifest& manifest() const noexcept { return tree_.manifest; }
  Manifest& manifest() noexcept { return tree_.manifest; }
  const std::vector<std::string>& skipped() const noexcept { return tree_.skipped; }
  std::uint64_t data_bytes() const noexcept { return tree_.data_bytes; }

  // Moves the files of the manifest to other offsets of the content, for an update that keeps the
  // offsets of unchanged files.
  Status place(Placement placement);

  // Whether the manifest has digests; they are all 0 then. True after open().
  Status set_digests(bool has_digests);
  // From now on, read_data() and read() collect what the digests of these entries need (empty:
  // all). Call after place(). Without digests in the manifest, does nothing, like the next
  // function.
  void collect_digests(const std::vector<bool>& is_wanted = {});
  // Puts the digests of these entries into the manifest.
  Status finish_digests();
  // Reads the file as it is now, once. Fails as read().
  Result<std::uint64_t> digest_of(std::size_t entry);

  // Fills `bytes` from any offset, with zeros where no file is. Fails as read() does.
  Status read_data(std::span<std::byte> bytes, std::uint64_t offset);
  // Fails with io if a file is not as it was listed.
  Status check_all();
  // Pieces of files that overlap [offset, offset + bytes).
  std::span<const OriginalPiece> pieces_in(std::uint64_t offset, std::uint64_t bytes) const;
  std::string shown(std::size_t entry) const;
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }  // of all files

  // Call before the first read().
  void begin(std::uint64_t data_shards, std::uint64_t block_bytes) noexcept;

  std::optional<std::uint64_t> bytes_expected() const override { return tree_.data_bytes; }
  // Returns whole stripes, padded with zeros after the data. Fails with io when a file changed
  // since it was listed. At the end, checks all files once more.
  Result<std::size_t> read(std::span<std::byte> bytes) override;
  std::uint64_t manifest_offset() const override { return tree_.data_bytes; }
  std::uint64_t manifest_bytes() const override { return manifest_bytes_; }

 private:
  struct OpenFile {
    std::size_t entry = 0;
    Descriptor file = {};
  };
  OriginalSource(ScannedTree tree, std::uint64_t manifest_bytes);
  Error changed(std::size_t entry) const;
  Status check_same(std::size_t entry, const struct stat& about) const;
  Result<int> file_of(std::size_t entry);
  Status read_file(std::size_t entry, std::span<std::byte> bytes, std::uint64_t offset);
  // `data_offset`: in the extents of the entry, one after another.
  Status read_entry(std::size_t entry, std::uint64_t data_offset, std::span<std::byte> bytes);

  ScannedTree tree_;
  std::uint64_t manifest_bytes_;
  std::vector<OriginalPiece> pieces_;  // in the order of the content
  std::optional<FileDigests> digests_;
  std::map<std::size_t, std::uint64_t> known_digests_;  // of digest_of()
  std::vector<OpenFile> open_;
  std::size_t next_open_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t data_shards_ = 1;
  std::uint64_t block_bytes_ = 1;
  std::uint64_t stripe_count_ = 0;
  std::uint64_t done_ = 0;
  bool is_checked_ = false;
};

}  // namespace calpe::store
