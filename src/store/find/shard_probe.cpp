// SPDX-License-Identifier: Apache-2.0
#include "store/find/shard_probe.hpp"

#include "base/try.hpp"
#include "store/format/geometry.hpp"

namespace calpe::store {

namespace {

std::optional<ShardHeader> header_at(File& file, std::uint64_t offset,
                                     std::optional<Error>& error) {
  HeaderBytes bytes = {};
  const Result<std::size_t> got = file.read_at(bytes, offset);
  if (!got) error = got.error();
  if (!got || *got != bytes.size()) return std::nullopt;
  Result<ShardHeader> header = parse_header(bytes);
  if (header) return *std::move(header);
  if (const auto version = newer_version(bytes)) {
    error = make_error(ErrorCode::io, file.path(), " has version ", *version,
                       " of the shard format, which needs a newer calpe");
  }
  return std::nullopt;
}

// Chooses between two good headers that differ, so that the file still counts as one shard and
// repair does not write it twice. Within a set the newer one wins, because an update may have been
// interrupted between the two; else the front one. Checksums decide which blocks are usable.
bool is_back_meant(const ShardHeader& front, const ShardHeader& back) {
  return front.uuid == back.uuid && back.generation > front.generation;
}

}  // namespace

Result<std::optional<FoundFile>> look_at_file(FileSystem& files, const std::string& path) {
  CALPE_TRY(const std::unique_ptr<File> file, files.open(path));
  return look_at_open_file(*file);
}

Result<std::optional<FoundFile>> look_at_open_file(File& file) {
  CALPE_TRY(const std::uint64_t file_bytes, file.size());
  std::optional<FoundFile> none;
  if (file_bytes < header_bytes) return none;

  std::optional<Error> error;
  const std::optional<ShardHeader> front = header_at(file, 0, error);
  std::optional<ShardHeader> back = header_at(file, file_bytes - header_bytes, error);
  const bool is_back_at_end = back.has_value();
  if (!back && front && shard_file_bytes(*front) < file_bytes) {
    back = header_at(file, shard_file_bytes(*front) - header_bytes, error);
  }
  if (!front && !back && error) return *std::move(error);
  if (!front && !back) return none;

  const bool is_back = !front || (back && is_back_meant(*front, *back));
  FoundFile found = {.header = is_back ? *back : *front, .shard = {}};
  found.shard.path = file.path();
  found.shard.file_bytes = file_bytes;
  found.shard.root = found.header.shard_root;
  found.shard.root_path = found.header.root_path;
  found.shard.front_header_good = front && *front == found.header;
  found.shard.back_header_good = back && *back == found.header;
  const std::uint64_t expected = shard_file_bytes(found.header);
  // Not if most of the file is missing: a forged header could otherwise claim any size and keep its
  // reader searching.
  if (is_back_at_end && found.shard.back_header_good && expected / 2 <= file_bytes) {
    // Both are below 2^63: a file size, and a value that parse_header checked.
    found.shard.shift = static_cast<std::int64_t>(file_bytes) - static_cast<std::int64_t>(expected);
  }
  return std::optional<FoundFile>(std::move(found));
}

}  // namespace calpe::store
