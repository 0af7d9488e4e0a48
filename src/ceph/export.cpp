// SPDX-License-Identifier: Apache-2.0
#include "ceph/export.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::ceph {

namespace {

// All numbers are little-endian. A file is a super header followed by sections. A section has a
// header with its type and length, and a footer with a magic number. Nothing has a checksum.
constexpr std::uint32_t super_magic = 0xFFCEFFCE;
constexpr std::uint32_t section_magic = 0xFFCE;
constexpr std::size_t super_bytes = 16;
constexpr std::uint64_t record_header_bytes = 18;
constexpr std::uint64_t footer_bytes = 10;
constexpr std::uint64_t version_bytes = 6;  // precede every structure: version, compat, length
constexpr std::uint64_t generation_none = ~std::uint64_t{0};
// Limit for sections that are read whole; only data sections are larger.
constexpr std::uint64_t read_bytes_max = std::uint64_t{64} << 20U;

enum class Section : std::uint32_t {
  group_begin = 1,
  group_end = 2,
  object_begin = 3,
  object_end = 4,
  data = 5,
};

// Reads a structure. After a read past the end, all further values are zero.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool is_good() const noexcept { return is_good_; }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::span<const std::byte> from = take(bytes);
    for (std::size_t i = from.size(); i-- > 0;)
      value = value << 8U | std::to_integer<std::uint64_t>(from[i]);
    return value;
  }
  std::string string() {
    const std::span<const std::byte> from = take(number(4));
    std::string out;
    std::ranges::transform(from, std::back_inserter(out),
                           [](std::byte byte) { return static_cast<char>(byte); });
    return out;
  }
  // Returns the content of a structure that starts with its length.
  Cursor structure() {
    number(2);
    Cursor inside(take(number(4)));
    inside.is_good_ = is_good_;
    return inside;
  }
  void skip(std::uint64_t bytes) { take(bytes); }
  std::span<const std::byte> rest() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> take(std::uint64_t bytes) {
    is_good_ = is_good_ && bytes <= bytes_.size();
    if (!is_good_) return {};
    const auto taken = bytes_.first(static_cast<std::size_t>(bytes));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(bytes));
    return taken;
  }

  std::span<const std::byte> bytes_;
  bool is_good_ = true;
};

Error broken(const store::File& file, std::uint64_t offset, std::string_view what) {
  return make_error(ErrorCode::corrupt, file.path(), ": not a complete export: ", what, " at byte ",
                    offset);
}

Result<std::vector<std::byte>> read_bytes(store::File& file, std::uint64_t offset,
                                          std::uint64_t bytes) {
  if (bytes > read_bytes_max) return broken(file, offset, "section too long");
  std::vector<std::byte> out(static_cast<std::size_t>(bytes));
  CALPE_TRY(const std::size_t got, file.read_at(out, offset));
  if (got != out.size()) return broken(file, offset + got, "unexpected end");
  return out;
}

struct Header {
  Section section = {};
  std::uint64_t bytes = 0;
};

Result<Header> read_header(store::File& file, std::uint64_t offset) {
  CALPE_TRY(const std::vector<std::byte> bytes, read_bytes(file, offset, record_header_bytes));
  Cursor cursor(bytes);
  cursor.skip(version_bytes);
  const std::uint64_t type = cursor.number(4);
  const std::uint64_t repeated = type >> 24U;
  if ((type & 0xFFFFU) != section_magic || (type >> 16U & 0xFFU) != repeated)
    return broken(file, offset, "no section header");
  return Header{static_cast<Section>(repeated), cursor.number(8)};
}

bool read_name(Cursor cursor, CephObjectName& name) {
  name.key = cursor.string();
  name.name = cursor.string();
  name.snapshot = static_cast<std::int64_t>(cursor.number(8));
  name.hash = static_cast<std::uint32_t>(cursor.number(4));
  cursor.skip(1);
  name.space = cursor.string();
  name.pool = static_cast<std::int64_t>(cursor.number(8));
  return cursor.is_good();
}

// Reads up to the size; times, flags and watchers follow.
bool read_info(Cursor cursor, ExportedShard& shard) {
  cursor.structure();  // the name, repeated
  cursor.structure();  // its locator
  cursor.skip(4);
  shard.version.number = cursor.number(8);
  shard.version.epoch = static_cast<std::uint32_t>(cursor.number(4));
  cursor.skip(12);     // the previous version
  cursor.structure();  // the client of the last change
  shard.object_bytes = cursor.number(8);
  return cursor.is_good();
}

struct Begun {
  ExportedShard shard;
  ShardIndex index = 0;
  bool is_present = true;  // false: kept only to undo a change
};

Result<Begun> read_object_begin(store::File& file, std::uint64_t offset, std::uint64_t bytes) {
  CALPE_TRY(const std::vector<std::byte> payload, read_bytes(file, offset, bytes));
  Cursor outer(payload);
  Cursor cursor = outer.structure();
  Begun begun;
  bool is_good = read_name(cursor.structure(), begun.shard.object);
  begun.is_present = cursor.number(8) == generation_none;
  begun.index = static_cast<ShardIndex>(cursor.number(1));
  is_good = is_good && read_info(cursor.structure(), begun.shard) && cursor.is_good();
  if (!is_good) return broken(file, offset, "object without name or size");
  return begun;
}

Status read_data(store::File& file, std::uint64_t offset, std::uint64_t bytes,
                 ExportedShard& shard) {
  // Two numbers and the length of the data.
  constexpr std::uint64_t before = version_bytes + 20;
  if (bytes < before) return broken(file, offset, "data section too short");
  CALPE_TRY(const std::vector<std::byte> payload, read_bytes(file, offset, before));
  Cursor cursor(payload);
  cursor.skip(version_bytes);
  const std::uint64_t at = cursor.number(8);
  const std::uint64_t asked = cursor.number(8);
  const std::uint64_t held = cursor.number(4);
  // The tool writes a short section if it could not read all data. Sections have no gaps.
  if (held != bytes - before || asked != held || at != shard.shard_bytes)
    return broken(file, offset, "data section with wrong position or length");
  shard.pieces.push_back({offset + before, at, held});
  shard.shard_bytes += held;
  return Done{};
}

Status read_group(store::File& file, std::uint64_t offset, std::uint64_t bytes, CephExport& out) {
  CALPE_TRY(const std::vector<std::byte> payload, read_bytes(file, offset, bytes));
  Cursor outer(payload);
  Cursor cursor = outer.structure();
  cursor.skip(1);
  out.pool = cursor.number(8);
  out.seed = static_cast<std::uint32_t>(cursor.number(4));
  cursor.skip(4);
  cursor.structure();  // the OSD's superblock
  const std::uint64_t shard = cursor.number(1);
  if (!cursor.is_good()) return broken(file, offset, "no placement group");
  if (shard > 0x7F) {
    return make_error(ErrorCode::corrupt, file.path(),
                      ": export of a replicated pool; expected an erasure-coded pool");
  }
  out.shard = static_cast<ShardIndex>(shard);
  return Done{};
}

struct Walk {
  CephExport found;
  std::optional<Begun> object;
  bool has_group = false;
  bool is_complete = false;
};

Status read_section(store::File& file, const Header& header, std::uint64_t offset, Walk& walk) {
  switch (header.section) {
    case Section::group_begin:
      walk.has_group = true;
      return read_group(file, offset, header.bytes, walk.found);
    case Section::object_begin: {
      CALPE_TRY(walk.object, read_object_begin(file, offset, header.bytes));
      return Done{};
    }
    case Section::data:
      if (!walk.object) return broken(file, offset, "data outside of an object");
      return read_data(file, offset, header.bytes, walk.object->shard);
    case Section::object_end:
      if (walk.object && walk.object->is_present)
        walk.found.shards.push_back(std::move(walk.object->shard));
      walk.object.reset();
      return Done{};
    case Section::group_end:
      walk.is_complete = true;
      return Done{};
  }
  return Done{};  // ignore attributes, omap and unknown sections
}

Result<CephExport> read_all(store::File& file) {
  CALPE_TRY(const std::uint64_t size, file.size());
  CALPE_TRY(const std::vector<std::byte> super, read_bytes(file, 0, super_bytes));
  Cursor cursor(super);
  if (cursor.number(4) != super_magic) return broken(file, 0, "no magic number");
  cursor.skip(4);
  if (cursor.number(4) != record_header_bytes || cursor.number(4) != footer_bytes)
    return broken(file, 0, "unknown section format");
  Walk walk;
  for (std::uint64_t offset = super_bytes; !walk.is_complete;) {
    CALPE_TRY(const Header header, read_header(file, offset));
    offset += record_header_bytes;
    if (header.bytes > size || offset > size - header.bytes)
      return broken(file, size, "unexpected end");
    CALPE_CHECK(read_section(file, header, offset, walk));
    // The end of an object or group is a header only.
    if (header.bytes != 0) offset += header.bytes + footer_bytes;
  }
  if (!walk.has_group) return broken(file, super_bytes, "no placement group");
  return std::move(walk.found);
}

std::string hexadecimal(std::uint32_t number) {
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return {digits.data(), end.ptr};
}

}  // namespace

std::string to_text(const CephVersion& version) {
  return text(version.epoch, "'", version.number);
}

std::string CephExport::group() const {
  return text(pool, ".", hexadecimal(seed));
}

std::string CephExport::group_id() const {
  return text(group(), "s", shard);
}

Result<bool> is_ceph_export(store::File& file) {
  std::array<std::byte, 4> magic{};
  CALPE_TRY(const std::size_t got, file.read_at(magic, 0));
  return got == magic.size() && Cursor(magic).number(4) == super_magic;
}

Result<CephExport> read_ceph_export(store::File& file) {
  return guarded([&] { return read_all(file); });
}

Result<std::vector<std::byte>> read_exported_shard(store::File& file, const ExportedShard& shard) {
  return guarded([&]() -> Result<std::vector<std::byte>> {
    std::vector<std::byte> out(static_cast<std::size_t>(shard.shard_bytes));
    for (const ExportedShard::Piece& piece : shard.pieces) {
      const auto part = std::span(out).subspan(static_cast<std::size_t>(piece.shard_offset),
                                               static_cast<std::size_t>(piece.bytes));
      CALPE_TRY(const std::size_t got, file.read_at(part, piece.file_offset));
      if (got != part.size()) return broken(file, piece.file_offset + got, "unexpected end");
    }
    return out;
  });
}

}  // namespace calpe::ceph
