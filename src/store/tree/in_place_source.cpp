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
  // The scan yields offsets in the order of entries.
  for (std::size_t i = 0; i < tree_.manifest.entries.size(); ++i) {
    for (const Extent& extent : tree_.manifest.entries[i].extents) {
      pieces_.push_back({extent.content_offset, extent.bytes, extent.file_offset, i});
    }
  }
}

Result<std::unique_ptr<OriginalSource>> OriginalSource::open(const std::string& path) {
  CALPE_TRY(ScannedTree tree, scan_tree(path));
  if (const Status kept = check_manifest(tree.manifest, tree.data_bytes); !kept) {
    return make_error(ErrorCode::io, shown_path(path), ": ", kept.error().message);
  }
  std::vector<std::byte> bytes = to_bytes(tree.manifest);
  if (bytes.size() > manifest_bytes_max) {
    return make_error(ErrorCode::io, shown_path(path), ": the manifest has ", bytes.size(),
                      " bytes; expected at most ", manifest_bytes_max);
  }
  return std::unique_ptr<OriginalSource>(new OriginalSource(std::move(tree), std::move(bytes)));
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

Status OriginalSource::read_piece(const Piece& piece, std::span<std::byte> bytes,
                                  std::uint64_t offset) {
  CALPE_TRY(const int file, file_of(piece.entry));
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", shown(piece.entry));
    if (got == 0) return changed(piece.entry);  // file was truncated
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return Done{};
}

Status OriginalSource::read_data(std::span<std::byte> bytes, std::uint64_t offset) {
  auto piece = std::partition_point(pieces_.begin(), pieces_.end(), [&](const Piece& one) {
    return one.content_offset + one.bytes <= offset;
  });
  for (; piece != pieces_.end() && !bytes.empty(); ++piece) {
    const std::uint64_t skip = offset - piece->content_offset;
    const std::size_t part = std::min<std::uint64_t>(bytes.size(), piece->bytes - skip);
    CALPE_CHECK(read_piece(*piece, bytes.first(part), piece->file_offset + skip));
    bytes = bytes.subspan(part);
    offset += part;
  }
  if (!bytes.empty()) std::memset(bytes.data(), 0, bytes.size());
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
