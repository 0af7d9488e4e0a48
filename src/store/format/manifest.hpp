// SPDX-License-Identifier: Apache-2.0
// Serialises and parses manifests (docs/format.md). The parser accepts untrusted input.
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
  // Relative, parts separated by "/"; empty: a stream, or the protected directory.
  std::string path;
  std::string target;  // symbolic link target
  std::uint32_t mode = 0;
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;
  std::uint64_t file_bytes = 0;
  std::vector<Extent> extents = {};
  std::uint64_t digest = 0;  // of the bytes of a file (file_digest.hpp); 0 without digests
  bool operator==(const Entry&) const = default;
};

struct Manifest {
  std::vector<Entry> entries;
  bool has_digests = false;  // version 2, of kept originals only
  bool operator==(const Manifest&) const = default;
};

// True for a single file, false for a directory or a stream.
bool is_single_file(const Manifest& manifest) noexcept;
bool is_stream(const Manifest& manifest) noexcept;

std::uint64_t manifest_size(const Manifest& manifest) noexcept;  // of to_bytes()
// Requires a manifest that check_manifest() accepts, so that lengths and counts fit their fields.
std::vector<std::byte> to_bytes(const Manifest& manifest);
// Fails with corrupt and names the entry and the rule it breaks. data_bytes: the end of the data,
// which no extent may exceed. with_digests: the version that is expected. Memory use is bounded by
// a small multiple of bytes.size().
Result<Manifest> parse_manifest(std::span<const std::byte> bytes, std::uint64_t data_bytes,
                                bool with_digests = false);

// Reads the bytes of a manifest in pieces. Memory grows only as plausible data arrives, so a header
// that claims a huge manifest costs nothing. Fails as `read` does, and with corrupt at the first
// piece that contains a page of zeros, which no valid manifest has.
using ReadPiece = std::function<Status(std::span<std::byte> piece, std::uint64_t offset)>;
Result<std::vector<std::byte>> read_manifest(std::uint64_t bytes, const ReadPiece& read);

// Checks all rules that do not concern the encoding: paths, their order, extents. Fails as
// parse_manifest(), which calls it. Takes O(n log n) steps for any paths, as it uses no hash table
// that an attacker could fill with collisions.
Status check_manifest(const Manifest& manifest, std::uint64_t data_bytes);

// Path for messages: printable, cut after 1,000 bytes.
std::string shown_path(std::string_view path);

}  // namespace calpe::store
