// SPDX-License-Identifier: Apache-2.0
// What is in a content (docs/format.md), to bytes and back. Reading trusts nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::store {

enum class EntryType : std::uint8_t { file = 0, folder = 1, link = 2, stream = 3 };

struct Extent {
  std::uint64_t file_offset = 0;
  std::uint64_t content_offset = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Extent&) const = default;
};

struct Entry {
  EntryType type = EntryType::file;
  std::string path;    // relative, "/" between parts; empty: a stream, or the protected folder
  std::string target;  // of a link
  std::uint32_t mode = 0;
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;
  std::uint64_t file_bytes = 0;
  std::vector<Extent> extents = {};
  bool operator==(const Entry&) const = default;
};

struct Manifest {
  std::vector<Entry> entries;
  bool operator==(const Manifest&) const = default;
};

// A content of one file, and not of a folder or a stream.
bool is_single_file(const Manifest& manifest) noexcept;
bool is_stream(const Manifest& manifest) noexcept;

// Of a manifest that check_manifest() accepts: lengths and counts fit their fields.
std::vector<std::byte> to_bytes(const Manifest& manifest);
// Fails with corrupt and names the entry and the rule that it breaks. data_bytes: where the data
// ends, which no extent may pass. Memory is bounded by a small multiple of bytes.size().
Result<Manifest> parse_manifest(std::span<const std::byte> bytes, std::uint64_t data_bytes);

// The bytes of a manifest, little by little: memory grows with what was read and looks like one, so
// that a header that claims much takes none. Fails as `read` does, and with corrupt at the first
// piece with a page of zeros, which no manifest has.
using ReadPiece = std::function<Status(std::span<std::byte> piece, std::uint64_t offset)>;
Result<std::vector<std::byte>> read_manifest(std::uint64_t bytes, const ReadPiece& read);

// All rules that are not about bytes: paths, their order, extents. Fails as parse_manifest(), which
// calls it. Takes n log n steps, whatever the paths are: no hash that could be made to collide.
Status check_manifest(const Manifest& manifest, std::uint64_t data_bytes);

// For messages: printable, and no more than 1,000 bytes of it.
std::string shown_path(std::string_view path);

}  // namespace calpe::store
