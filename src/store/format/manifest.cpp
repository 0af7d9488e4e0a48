// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes manifests. manifest_check.cpp checks their meaning.
#include "store/format/manifest.hpp"

#include <algorithm>

#include "base/all_zero.hpp"
#include "base/assert.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::store {

namespace {

constexpr std::string_view magic = "calpe-m1";
constexpr std::string_view magic_with_digests = "calpe-m2";
constexpr std::size_t begin_bytes = 12;  // magic and number of entries
constexpr std::size_t checksum_bytes = 8;
constexpr std::size_t entry_bytes = 48;  // without extents, path and target
constexpr std::size_t extent_bytes = 24;
constexpr std::size_t digest_bytes = 8;
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20U;  // read at a time
// Longer than any run of zeros in an entry: its numbers are shorter, and names contain none.
constexpr std::size_t zeros_bytes = 4096;

template <class T>
void put(std::vector<std::byte>& out, T number) {
  const std::size_t at = out.size();
  out.resize(at + sizeof number);
  store_little(out.data() + at, number);
}

void put_text(std::vector<std::byte>& out, std::string_view bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  out.insert(out.end(), begin, begin + bytes.size());
}

template <class T>
T narrowed(std::size_t number) {
  CALPE_ASSERT(std::in_range<T>(number));
  return static_cast<T>(number);
}

void put_entry(std::vector<std::byte>& out, const Entry& entry, bool with_digests) {
  put(out, static_cast<std::uint8_t>(entry.type));
  put(out, std::uint8_t{0});
  put(out, narrowed<std::uint16_t>(entry.path.size()));
  put(out, narrowed<std::uint16_t>(entry.target.size()));
  put(out, std::uint16_t{0});
  put(out, entry.mode);
  put(out, entry.user);
  put(out, entry.group);
  put(out, entry.nanoseconds);
  put(out, entry.seconds);
  put(out, entry.file_bytes);
  put(out, narrowed<std::uint32_t>(entry.extents.size()));
  put(out, std::uint32_t{0});
  if (with_digests) put(out, entry.digest);
  for (const Extent& extent : entry.extents) {
    put(out, extent.file_offset);
    put(out, extent.content_offset);
    put(out, extent.bytes);
  }
  put_text(out, entry.path);
  put_text(out, entry.target);
}

// Callers check left() before they take bytes.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t left() const { return bytes_.size(); }
  template <class T>
  T take() {
    return load_little<T>(take_span(sizeof(T)).data());
  }
  std::string_view take_text(std::size_t count) {
    return {reinterpret_cast<const char*>(take_span(count).data()), count};
  }

 private:
  std::span<const std::byte> take_span(std::size_t count) {
    CALPE_ASSERT(count <= bytes_.size());
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  std::span<const std::byte> bytes_;
};

template <class... Parts>
Error corrupt(const Parts&... parts) {
  return make_error(ErrorCode::corrupt, parts...);
}

Result<Entry> take_entry(Bytes& bytes, std::size_t index, bool with_digests) {
  const std::size_t least = entry_bytes + (with_digests ? digest_bytes : 0);
  if (bytes.left() < least) {
    return corrupt("manifest entry ", index, ": ", bytes.left(), " bytes left; expected at least ",
                   least);
  }
  Entry entry;
  const auto type = bytes.take<std::uint8_t>();
  const auto zero_byte = bytes.take<std::uint8_t>();
  const auto path_bytes = bytes.take<std::uint16_t>();
  const auto target_bytes = bytes.take<std::uint16_t>();
  const auto zero_half = bytes.take<std::uint16_t>();
  entry.mode = bytes.take<std::uint32_t>();
  entry.user = bytes.take<std::uint32_t>();
  entry.group = bytes.take<std::uint32_t>();
  entry.nanoseconds = bytes.take<std::uint32_t>();
  entry.seconds = bytes.take<std::int64_t>();
  entry.file_bytes = bytes.take<std::uint64_t>();
  const auto extent_count = bytes.take<std::uint32_t>();
  const auto zero_word = bytes.take<std::uint32_t>();
  if (with_digests) entry.digest = bytes.take<std::uint64_t>();
  if (type > static_cast<std::uint8_t>(EntryType::stream)) {
    return corrupt("manifest entry ", index, ": type is ", type, "; expected 0 to 3");
  }
  entry.type = static_cast<EntryType>(type);
  if (zero_byte != 0 || zero_half != 0 || zero_word != 0) {
    return corrupt("manifest entry ", index, ": an unused field is not 0");
  }
  if (extent_count > bytes.left() / extent_bytes) {
    return corrupt("manifest entry ", index, ": ", extent_count, " extents in ", bytes.left(),
                   " bytes");
  }
  entry.extents.reserve(extent_count);
  for (std::uint32_t i = 0; i < extent_count; ++i) {
    Extent extent;
    extent.file_offset = bytes.take<std::uint64_t>();
    extent.content_offset = bytes.take<std::uint64_t>();
    extent.bytes = bytes.take<std::uint64_t>();
    entry.extents.push_back(extent);
  }
  if (std::size_t{path_bytes} + target_bytes > bytes.left()) {
    return corrupt("manifest entry ", index, ": path and target have ", path_bytes, " + ",
                   target_bytes, " bytes, ", bytes.left(), " are left");
  }
  entry.path = bytes.take_text(path_bytes);
  entry.target = bytes.take_text(target_bytes);
  return entry;
}

}  // namespace

bool is_single_file(const Manifest& manifest) noexcept {
  return manifest.entries.size() == 1 && manifest.entries[0].type == EntryType::file;
}

bool is_stream(const Manifest& manifest) noexcept {
  return manifest.entries.size() == 1 && manifest.entries[0].type == EntryType::stream;
}

std::uint64_t manifest_size(const Manifest& manifest) noexcept {
  std::uint64_t all = begin_bytes + checksum_bytes;
  for (const Entry& entry : manifest.entries) {
    all += entry_bytes + (manifest.has_digests ? digest_bytes : 0) +
           entry.extents.size() * extent_bytes + entry.path.size() + entry.target.size();
  }
  return all;
}

std::vector<std::byte> to_bytes(const Manifest& manifest) {
  std::vector<std::byte> out;
  out.reserve(manifest_size(manifest));
  put_text(out, manifest.has_digests ? magic_with_digests : magic);
  put(out, narrowed<std::uint32_t>(manifest.entries.size()));
  for (const Entry& entry : manifest.entries)
    put_entry(out, entry, manifest.has_digests);
  put(out, plain_checksum(out));
  return out;
}

Result<std::vector<std::byte>> read_manifest(std::uint64_t bytes, const ReadPiece& read) {
  std::vector<std::byte> all;
  while (all.size() < bytes) {
    const std::size_t done = all.size();
    all.resize(done + static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, piece_bytes)));
    CALPE_CHECK(read(std::span(all).subspan(done), done));
    for (auto left = std::span(all).subspan(done); left.size() >= zeros_bytes;
         left = left.subspan(zeros_bytes)) {
      if (!is_all_zero(left.first(zeros_bytes))) continue;
      return corrupt("manifest has ", zeros_bytes, " zero bytes in a row");
    }
  }
  return all;
}

Result<Manifest> parse_manifest(std::span<const std::byte> bytes, std::uint64_t data_bytes,
                                bool with_digests) {
  if (bytes.size() < begin_bytes + checksum_bytes) {
    return corrupt("manifest has ", bytes.size(), " bytes; expected at least ",
                   begin_bytes + checksum_bytes);
  }
  Bytes left(bytes.first(bytes.size() - checksum_bytes));
  Bytes end(bytes.last(checksum_bytes));
  const std::string_view expected = with_digests ? magic_with_digests : magic;
  if (left.take_text(expected.size()) != expected) {
    return corrupt("manifest does not begin with ", expected);
  }
  if (end.take<std::uint64_t>() != plain_checksum(bytes.first(bytes.size() - checksum_bytes))) {
    return corrupt("manifest does not match its checksum");
  }
  const auto count = left.take<std::uint32_t>();
  if (count > left.left() / entry_bytes) {
    return corrupt("manifest has ", count, " entries in ", left.left(), " bytes");
  }
  Manifest manifest;
  manifest.has_digests = with_digests;
  manifest.entries.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    CALPE_TRY(auto entry, take_entry(left, i, with_digests));
    manifest.entries.push_back(std::move(entry));
  }
  if (left.left() != 0) {
    return corrupt("manifest has ", left.left(), " bytes after its ", count, " entries");
  }
  CALPE_CHECK(check_manifest(manifest, data_bytes));
  return manifest;
}

}  // namespace calpe::store
