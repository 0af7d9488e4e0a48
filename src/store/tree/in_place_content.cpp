// SPDX-License-Identifier: Apache-2.0
#include "store/tree/in_place_content.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "base/try.hpp"

namespace calpe::store {

namespace {

// Room for many threads that read blocks of neighbouring files.
constexpr std::size_t open_files_max = 64;

}  // namespace

OriginalContent::OriginalContent(const Manifest& manifest, OriginalPlace place,
                                 std::span<const MovedPiece> moved)
    : manifest_(manifest), place_(std::move(place)) {
  for (const OriginalPiece& piece : pieces_of(manifest))
    add_pieces(piece, moved);
}

// Cuts out of `piece`, an extent, what has moved.
void OriginalContent::add_pieces(OriginalPiece piece, std::span<const MovedPiece> moved) {
  auto next = std::partition_point(moved.begin(), moved.end(), [&](const MovedPiece& one) {
    return one.end() <= piece.content_offset;
  });
  const auto take = [&](std::uint64_t bytes) {
    OriginalPiece part = piece;
    part.bytes = bytes;
    piece.content_offset += bytes;
    piece.file_offset += bytes;
    piece.data_offset += bytes;
    piece.bytes -= bytes;
    return part;
  };
  for (; next != moved.end() && next->content_offset < piece.end(); ++next) {
    if (next->content_offset > piece.content_offset)
      pieces_.push_back(take(next->content_offset - piece.content_offset));
    const std::uint64_t skipped = piece.content_offset - next->content_offset;
    OriginalPiece part = take(std::min(piece.end(), next->end()) - piece.content_offset);
    part.file_offset = next->file_offset + skipped;
    if (moved_paths_.empty() || moved_paths_.back() != next->path)
      moved_paths_.push_back(next->path);
    part.moved_file = moved_paths_.size();
    pieces_.push_back(part);
  }
  if (piece.bytes != 0) pieces_.push_back(piece);
}

const std::string& OriginalContent::path_of(const OriginalPiece& piece) const {
  if (piece.moved_file != 0) return moved_paths_[piece.moved_file - 1];
  return place_.path_of(manifest_.entries[piece.entry]);
}

std::vector<OriginalPiece> pieces_of(const Manifest& manifest) {
  std::vector<OriginalPiece> pieces;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    std::uint64_t data_offset = 0;
    for (const Extent& extent : manifest.entries[i].extents) {
      pieces.push_back({.content_offset = extent.content_offset,
                        .bytes = extent.bytes,
                        .file_offset = extent.file_offset,
                        .entry = i,
                        .data_offset = data_offset});
      data_offset += extent.bytes;
    }
  }
  // A scan yields them in this order, but an update places new files in gaps.
  std::sort(pieces.begin(), pieces.end(), [](const OriginalPiece& a, const OriginalPiece& b) {
    return a.content_offset < b.content_offset;
  });
  return pieces;
}

std::span<const OriginalPiece> pieces_in(std::span<const OriginalPiece> pieces,
                                         std::uint64_t offset, std::uint64_t bytes) {
  // Pieces do not overlap, so their ends ascend as well.
  const auto begin =
      std::partition_point(pieces.begin(), pieces.end(),
                           [&](const OriginalPiece& piece) { return piece.end() <= offset; });
  const auto end = std::partition_point(begin, pieces.end(), [&](const OriginalPiece& piece) {
    return piece.content_offset < offset + bytes;
  });
  return {begin, end};
}

std::span<const OriginalPiece> OriginalContent::pieces_in(std::uint64_t offset,
                                                          std::uint64_t bytes) const {
  return store::pieces_in(pieces_, offset, bytes);
}

Result<std::shared_ptr<const Descriptor>> OriginalContent::file_of(
    const OriginalPiece& piece) const {
  const std::scoped_lock lock(mutex_);
  const auto known = std::find_if(open_.begin(), open_.end(), [&](const OpenFile& open) {
    return open.entry == piece.entry && open.moved_file == piece.moved_file;
  });
  if (known != open_.end()) return known->file;
  CALPE_TRY(Descriptor opened, place_.open_path(path_of(piece)));
  auto file = std::make_shared<const Descriptor>(std::move(opened));
  if (open_.size() < open_files_max) {
    open_.push_back({piece.entry, piece.moved_file, file});
  } else {
    open_[next_++ % open_files_max] = {piece.entry, piece.moved_file, file};
  }
  return file;
}

Status OriginalContent::read_piece(const OriginalPiece& piece, std::span<std::byte> bytes,
                                   std::uint64_t offset) const {
  CALPE_TRY(const auto file, file_of(piece));
  while (*file && !bytes.empty()) {
    const ssize_t got =
        ::pread(file->get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int number = errno;
      const std::scoped_lock lock(mutex_);
      const std::string name = place_.full_path(path_of(piece));
      errno = number;
      return system_error("read", name);
    }
    if (got == 0) break;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return Done{};
}

Status OriginalContent::read(std::span<std::byte> bytes, std::uint64_t offset) const {
  std::memset(bytes.data(), 0, bytes.size());
  for (const OriginalPiece& piece : pieces_in(offset, bytes.size())) {
    const std::uint64_t begin = std::max(offset, piece.content_offset);
    const std::uint64_t end = std::min(offset + bytes.size(), piece.end());
    CALPE_CHECK(read_piece(piece, bytes.subspan(begin - offset, end - begin),
                           piece.file_offset + (begin - piece.content_offset)));
  }
  return Done{};
}

}  // namespace calpe::store
