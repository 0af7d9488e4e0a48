// SPDX-License-Identifier: Apache-2.0
#include "store/tree/file_digest.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <optional>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/assert.hpp"
#include "base/divide_up.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/block_checksum.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

namespace {

// Each data shard of a set is read in order by itself, so more are not needed.
constexpr std::size_t begun_max = 512;

std::uint64_t digest_of(std::span<const std::uint64_t> checksums) {
  std::vector<LittleU64> stored(checksums.begin(), checksums.end());
  return plain_checksum(std::as_bytes(std::span(stored)));
}

}  // namespace

// A piece of which the beginning was seen.
struct FileDigests::Begun {
  std::size_t piece = 0;
  std::uint64_t done = 0;
  XXH3_state_t state;
};

FileDigests::FileDigests(const Manifest& manifest, const std::vector<bool>& is_wanted) {
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const Entry& entry = manifest.entries[i];
    if (entry.type != EntryType::file || (!is_wanted.empty() && !is_wanted[i])) continue;
    const std::uint64_t bytes = data_bytes_of(entry);
    files_.push_back({i, bytes, pieces});
    pieces += divide_up(bytes, digest_piece_bytes);
  }
  checksums_.resize(pieces);
  is_done_.resize(pieces);
}

FileDigests::~FileDigests() = default;
FileDigests::FileDigests(FileDigests&&) noexcept = default;
FileDigests& FileDigests::operator=(FileDigests&&) noexcept = default;

const FileDigests::File* FileDigests::find(std::size_t entry) const {
  const auto found =
      std::lower_bound(files_.begin(), files_.end(), entry,
                       [](const File& file, std::size_t wanted) { return file.entry < wanted; });
  return found != files_.end() && found->entry == entry ? &*found : nullptr;
}

void FileDigests::add(std::size_t entry, std::uint64_t data_offset,
                      std::span<const std::byte> bytes) {
  const File* const file = find(entry);
  if (file == nullptr) return;
  while (!bytes.empty()) {
    const std::uint64_t number = data_offset / digest_piece_bytes;
    const std::uint64_t begin = number * digest_piece_bytes;
    const std::uint64_t piece_bytes = std::min(digest_piece_bytes, file->data_bytes - begin);
    const std::uint64_t within = data_offset - begin;
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), piece_bytes - within));
    add_part(file->first_piece + number, piece_bytes, within, part);
    data_offset += part.size();
    bytes = bytes.subspan(part.size());
  }
}

void FileDigests::add_part(std::size_t piece, std::uint64_t piece_bytes, std::uint64_t within,
                           std::span<const std::byte> bytes) {
  if (is_done_[piece]) return;
  if (bytes.size() == piece_bytes) {
    checksums_[piece] = plain_checksum(bytes);
    is_done_[piece] = true;
    return;
  }
  auto found = std::find_if(begun_.begin(), begun_.end(), [&](const auto& one) {
    return one->piece == piece && one->done == within;
  });
  if (found == begun_.end()) {
    if (within != 0) return;
    if (begun_.size() == begun_max) begun_.erase(begun_.begin());
    found = begun_.insert(begun_.end(), std::make_unique<Begun>());
    (*found)->piece = piece;
    XXH3_64bits_reset(&(*found)->state);
  }
  Begun& begun = **found;
  XXH3_64bits_update(&begun.state, bytes.data(), bytes.size());
  begun.done += bytes.size();
  if (begun.done < piece_bytes) return;
  checksums_[piece] = XXH3_64bits_digest(&begun.state);
  is_done_[piece] = true;
  std::erase_if(begun_, [&](const auto& one) { return one->piece == piece; });
}

Status FileDigests::finish(const ReadData& read, Manifest& manifest) {
  std::vector<std::byte> buffer;
  for (const File& file : files_) {
    const std::size_t pieces = divide_up(file.data_bytes, digest_piece_bytes);
    for (std::size_t i = 0; i < pieces; ++i) {
      if (is_done_[file.first_piece + i]) continue;
      const std::uint64_t begin = i * digest_piece_bytes;
      buffer.resize(std::min(digest_piece_bytes, file.data_bytes - begin));
      CALPE_CHECK(read(file.entry, begin, buffer));
      checksums_[file.first_piece + i] = plain_checksum(buffer);
      is_done_[file.first_piece + i] = true;
    }
    manifest.entries[file.entry].digest =
        digest_of(std::span(checksums_).subspan(file.first_piece, pieces));
  }
  begun_.clear();
  return Done{};
}

std::uint64_t data_bytes_of(const Entry& entry) noexcept {
  return std::accumulate(
      entry.extents.begin(), entry.extents.end(), std::uint64_t{0},
      [](std::uint64_t sum, const Extent& extent) { return sum + extent.bytes; });
}

Result<std::optional<std::uint64_t>> digest_of_file(int file, const Entry& entry,
                                                    const std::string& shown) {
  std::vector<std::uint64_t> checksums;
  std::vector<std::byte> piece(std::min(digest_piece_bytes, data_bytes_of(entry)));
  std::size_t filled = 0;
  const auto end_piece = [&] {
    checksums.push_back(plain_checksum(std::span(piece).first(filled)));
    filled = 0;
  };
  for (const Extent& extent : entry.extents) {
    for (std::uint64_t done = 0; done < extent.bytes;) {
      const std::size_t wanted =
          std::min<std::uint64_t>(piece.size() - filled, extent.bytes - done);
      const ssize_t got = ::pread(file, piece.data() + filled, wanted,
                                  static_cast<off_t>(extent.file_offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error("read", shown);
      if (got == 0) return std::optional<std::uint64_t>();
      done += static_cast<std::uint64_t>(got);
      filled += static_cast<std::size_t>(got);
      if (filled == piece.size()) end_piece();
    }
  }
  if (filled != 0) end_piece();
  return std::optional(digest_of(checksums));
}

}  // namespace calpe::store
