// SPDX-License-Identifier: Apache-2.0
#include "store/tree/in_place_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/shard_header.hpp"

namespace calpe::store {

namespace {

// Each of the k parts of the data may be in a different file.
constexpr std::size_t open_files_max = 300;

}  // namespace

OriginalSource::OriginalSource(ScannedTree tree, std::vector<std::byte> manifest)
    : tree_(std::move(tree)), manifest_bytes_(std::move(manifest)) {
  list_pieces();
}

void OriginalSource::list_pieces() {
  pieces_.clear();
  for (std::size_t i = 0; i < tree_.manifest.entries.size(); ++i) {
    for (const Extent& extent : tree_.manifest.entries[i].extents) {
      pieces_.push_back({extent.content_offset, extent.bytes, extent.file_offset, i});
    }
  }
  // The scan yields them in this order, but an update places new files in gaps.
  std::sort(pieces_.begin(), pieces_.end(), [](const OriginalPiece& a, const OriginalPiece& b) {
    return a.content_offset < b.content_offset;
  });
}

namespace {

Result<std::vector<std::byte>> bytes_of(const Manifest& manifest, const std::string& path) {
  std::vector<std::byte> bytes = to_bytes(manifest);
  if (bytes.size() <= manifest_bytes_max) return bytes;
  return make_error(ErrorCode::io, shown_path(path), ": the manifest has ", bytes.size(),
                    " bytes; expected at most ", manifest_bytes_max);
}

}  // namespace

Result<std::unique_ptr<OriginalSource>> OriginalSource::open(const std::string& path) {
  CALPE_TRY(ScannedTree tree, scan_tree(path));
  if (const Status kept = check_manifest(tree.manifest, tree.data_bytes); !kept) {
    return make_error(ErrorCode::io, shown_path(path), ": ", kept.error().message);
  }
  CALPE_TRY(std::vector<std::byte> bytes, bytes_of(tree.manifest, path));
  return std::unique_ptr<OriginalSource>(new OriginalSource(std::move(tree), std::move(bytes)));
}

Status OriginalSource::place(Placement placement) {
  CALPE_TRY(manifest_bytes_, bytes_of(placement.manifest, tree_.walk.full_name("")));
  tree_.manifest = std::move(placement.manifest);
  tree_.data_bytes = placement.data_bytes;
  list_pieces();
  return Done{};
}

void OriginalSource::begin(std::uint64_t data_shards, std::uint64_t block_bytes) noexcept {
  data_shards_ = data_shards;
  block_bytes_ = block_bytes;
  stripe_count_ = divide_up(data_bytes(), data_shards * block_bytes);
}

std::string OriginalSource::shown(std::size_t entry) const {
  return shown_path(tree_.walk.full_name(tree_.file ? "" : tree_.manifest.entries[entry].path));
}

Error OriginalSource::changed(std::size_t entry) const {
  return make_error(ErrorCode::io, shown(entry), " changed while it was read");
}

Status OriginalSource::check_same(std::size_t entry, const struct stat& about) const {
  const Entry& listed = tree_.manifest.entries[entry];
  const FileIdentity& identity = tree_.identities[entry];
  const bool is_same = about.st_dev == identity.device && about.st_ino == identity.number &&
                       static_cast<std::uint64_t>(about.st_size) == listed.file_bytes &&
                       about.st_mtim.tv_sec == listed.seconds &&
                       static_cast<std::uint64_t>(about.st_mtim.tv_nsec) == listed.nanoseconds;
  if (!is_same) return changed(entry);
  return Done{};
}

Status OriginalSource::check_all() {
  for (std::size_t i = 0; i < tree_.manifest.entries.size(); ++i) {
    const Entry& entry = tree_.manifest.entries[i];
    if (entry.type != EntryType::file) continue;
    struct stat about = {};
    if (tree_.file) {
      if (::fstat(tree_.file.get(), &about) != 0) return system_error("access", shown(i));
    } else {
      const SplitPath parts = split_path(entry.path);
      const std::string name(parts.name);
      CALPE_TRY(const int folder, tree_.walk.folder(parts.folder));
      if (::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return system_error("access", shown(i));
      }
    }
    CALPE_CHECK(check_same(i, about));
  }
  return Done{};
}

Result<int> OriginalSource::file_of(std::size_t entry) {
  if (tree_.file) return tree_.file.get();
  const auto known = std::find_if(open_.begin(), open_.end(),
                                  [&](const OpenFile& open) { return open.entry == entry; });
  if (known != open_.end()) return known->file.get();
  const SplitPath parts = split_path(tree_.manifest.entries[entry].path);
  const std::string name(parts.name);
  CALPE_TRY(const int folder, tree_.walk.folder(parts.folder));
  // O_NONBLOCK, as the file may have been replaced by a pipe.
  Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return system_error("open", shown(entry));
  struct stat about = {};
  if (::fstat(file.get(), &about) != 0) return system_error("access", shown(entry));
  CALPE_CHECK(check_same(entry, about));
  const int number = file.get();
  if (open_.size() < open_files_max) {
    open_.push_back({entry, std::move(file)});
  } else {
    open_[next_open_++ % open_files_max] = {entry, std::move(file)};
  }
  return number;
}

Status OriginalSource::read_piece(const OriginalPiece& piece, std::span<std::byte> bytes,
                                  std::uint64_t offset) {
  CALPE_TRY(const int file, file_of(piece.entry));
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", shown(piece.entry));
    if (got == 0) return changed(piece.entry);  // file was truncated
    bytes_read_ += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return Done{};
}

std::span<const OriginalPiece> OriginalSource::pieces_in(std::uint64_t offset,
                                                         std::uint64_t bytes) const {
  return store::pieces_in(pieces_, offset, bytes);
}

Status OriginalSource::read_data(std::span<std::byte> bytes, std::uint64_t offset) {
  std::uint64_t at = offset;
  const std::uint64_t end = offset + bytes.size();
  const auto zero_until = [&](std::uint64_t next) {
    std::memset(bytes.data() + (at - offset), 0, next - at);
    at = next;
  };
  for (const OriginalPiece& piece : pieces_in(offset, bytes.size())) {
    zero_until(std::max(at, piece.content_offset));
    const std::uint64_t next = std::min(end, piece.end());
    CALPE_CHECK(read_piece(piece, bytes.subspan(at - offset, next - at),
                           piece.file_offset + (at - piece.content_offset)));
    at = next;
  }
  zero_until(end);
  return Done{};
}

Result<std::size_t> OriginalSource::read(std::span<std::byte> bytes) {
  const std::uint64_t all = stripe_count_ * data_shards_ * block_bytes_;
  std::size_t filled = 0;
  while (filled < bytes.size() && done_ < all) {
    const std::uint64_t block = done_ / block_bytes_;
    const std::uint64_t within = done_ % block_bytes_;
    const std::size_t part = std::min<std::uint64_t>(bytes.size() - filled, block_bytes_ - within);
    const std::uint64_t stripe = block / data_shards_;
    const std::uint64_t shard = block % data_shards_;
    CALPE_CHECK(read_data(bytes.subspan(filled, part),
                          (shard * stripe_count_ + stripe) * block_bytes_ + within));
    filled += part;
    done_ += part;
  }
  if (done_ == all && !is_checked_) {
    CALPE_CHECK(check_all());
    is_checked_ = true;
  }
  return filled;
}

}  // namespace calpe::store
