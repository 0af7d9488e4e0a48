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

OriginalSource::OriginalSource(ScannedTree tree, std::uint64_t manifest_bytes)
    : tree_(std::move(tree)), manifest_bytes_(manifest_bytes), pieces_(pieces_of(tree_.manifest)) {}

namespace {

Result<std::uint64_t> bytes_of(const Manifest& manifest, const std::string& path) {
  const std::uint64_t bytes = manifest_size(manifest);
  if (bytes <= manifest_bytes_max) return bytes;
  return make_error(ErrorCode::io, shown_path(path), ": the manifest has ", bytes,
                    " bytes; expected at most ", manifest_bytes_max);
}

}  // namespace

Result<std::unique_ptr<OriginalSource>> OriginalSource::open(const std::string& path) {
  CALPE_TRY(ScannedTree tree, scan_tree(path));
  if (const Status kept = check_manifest(tree.manifest, tree.data_bytes); !kept) {
    return make_error(ErrorCode::io, shown_path(path), ": ", kept.error().message);
  }
  tree.manifest.has_digests = true;
  CALPE_TRY(const std::uint64_t bytes, bytes_of(tree.manifest, path));
  return std::unique_ptr<OriginalSource>(new OriginalSource(std::move(tree), bytes));
}

Status OriginalSource::place(Placement placement) {
  CALPE_TRY(manifest_bytes_, bytes_of(placement.manifest, tree_.walk.full_name("")));
  tree_.manifest = std::move(placement.manifest);
  tree_.data_bytes = placement.data_bytes;
  pieces_ = pieces_of(tree_.manifest);
  return Done{};
}

Status OriginalSource::set_digests(bool has_digests) {
  tree_.manifest.has_digests = has_digests;
  for (Entry& entry : tree_.manifest.entries)
    entry.digest = 0;
  CALPE_TRY(manifest_bytes_, bytes_of(tree_.manifest, tree_.walk.full_name("")));
  return Done{};
}

void OriginalSource::collect_digests(const std::vector<bool>& is_wanted) {
  if (tree_.manifest.has_digests) digests_.emplace(tree_.manifest, is_wanted);
}

Status OriginalSource::finish_digests() {
  if (!digests_) return Done{};
  std::optional<FileDigests> digests;
  digests_.swap(digests);  // what is read below is not added
  return digests->finish(
      [&](std::size_t entry, std::uint64_t data_offset, std::span<std::byte> bytes) {
        return read_entry(entry, data_offset, bytes);
      },
      tree_.manifest);
}

Status OriginalSource::read_entry(std::size_t entry, std::uint64_t data_offset,
                                  std::span<std::byte> bytes) {
  std::uint64_t begin = 0;  // of the extent, in the data of the entry
  for (const Extent& extent : tree_.manifest.entries[entry].extents) {
    const std::uint64_t within = data_offset - std::min(data_offset, begin);
    if (begin <= data_offset && within < extent.bytes && !bytes.empty()) {
      const std::uint64_t count = std::min<std::uint64_t>(bytes.size(), extent.bytes - within);
      CALPE_CHECK(read_file(entry, bytes.first(count), extent.file_offset + within));
      bytes = bytes.subspan(count);
      data_offset += count;
    }
    begin += extent.bytes;
  }
  return Done{};
}

Result<std::uint64_t> OriginalSource::digest_of(std::size_t entry) {
  if (const auto known = known_digests_.find(entry); known != known_digests_.end())
    return known->second;
  CALPE_TRY(const int file, file_of(entry));
  const Entry& listed = tree_.manifest.entries[entry];
  CALPE_TRY(const std::optional<std::uint64_t> digest, digest_of_file(file, listed, shown(entry)));
  if (!digest) return changed(entry);
  bytes_read_ += data_bytes_of(listed);
  known_digests_.emplace(entry, *digest);
  return *digest;
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

Status OriginalSource::read_file(std::size_t entry, std::span<std::byte> bytes,
                                 std::uint64_t offset) {
  CALPE_TRY(const int file, file_of(entry));
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", shown(entry));
    if (got == 0) return changed(entry);  // file was truncated
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
    const auto part = bytes.subspan(at - offset, next - at);
    const std::uint64_t within = at - piece.content_offset;
    CALPE_CHECK(read_file(piece.entry, part, piece.file_offset + within));
    if (digests_) digests_->add(piece.entry, piece.data_offset + within, part);
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
