// SPDX-License-Identifier: Apache-2.0
#include "ceph/export.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "ceph/decoder.hpp"
#include "ceph/pool_flags.hpp"

namespace calpe::ceph {

namespace {

// A file is a super header followed by sections. A section has a header with its type and length,
// and a footer with a magic number. Nothing has a checksum.
constexpr std::uint32_t super_magic = 0xFFCEFFCE;
constexpr std::uint32_t section_magic = 0xFFCE;
constexpr std::size_t super_bytes = 16;
constexpr std::uint64_t record_header_bytes = 18;
constexpr std::uint64_t footer_bytes = 10;
constexpr std::uint64_t version_bytes = Decoder::structure_header_bytes;
constexpr std::uint64_t client_bytes = 9;  // type and number
constexpr std::uint64_t generation_none = ~std::uint64_t{0};
constexpr std::uint64_t flag_manifest = 1U << 7U;
constexpr std::uint64_t info_version_shards = 18;  // of Ceph 20
// Limit for sections that are read whole; only data sections are larger.
constexpr std::uint64_t read_bytes_max = std::uint64_t{64} << 20U;

enum class Section : std::uint32_t {
  group_begin = 1,
  group_end = 2,
  object_begin = 3,
  object_end = 4,
  data = 5,
  metadata = 9,
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
  Decoder decoder(bytes);
  decoder.skip(version_bytes);
  const std::uint64_t type = decoder.number(4);
  const std::uint64_t repeated = type >> 24U;
  if ((type & 0xFFFFU) != section_magic || (type >> 16U & 0xFFU) != repeated)
    return broken(file, offset, "no section header");
  return Header{static_cast<Section>(repeated), decoder.number(8)};
}

bool read_name(Decoder decoder, CephObjectName& name) {
  name.key = decoder.string();
  name.name = decoder.string();
  name.snapshot = static_cast<std::int64_t>(decoder.number(8));
  name.hash = static_cast<std::uint32_t>(decoder.number(4));
  decoder.skip(1);
  name.space = decoder.string();
  name.pool = static_cast<std::int64_t>(decoder.number(8));
  return decoder.is_good();
}

void read_version(Decoder& decoder, CephVersion& version) {
  version.number = decoder.number(8);
  version.epoch = static_cast<std::uint32_t>(decoder.number(4));
}

// Reads what follows the size: the versions of shards that changes left out.
void read_shard_versions(Decoder& info, ExportedShard& shard) {
  info.skip(8);  // time
  if (shard.object.snapshot == CephObjectName::head) {
    info.structure();  // a client that locks the object
  } else {
    info.each([&] { info.skip(8); });  // snapshots
  }
  info.skip(17);  // truncation, is lost
  info.each([&] {
    info.skip(client_bytes);
    info.structure();  // a watcher
  });
  info.skip(13);  // version for clients, omap format
  info.each([&] {
    info.skip(8 + client_bytes);
    info.structure();  // a watcher, again
  });
  const std::uint64_t flags = info.number(4);
  info.skip(36);  // time, digests, hints of the client
  if ((flags & flag_manifest) != 0) info.structure();
  info.each([&] {
    const auto index = static_cast<ShardIndex>(info.number(1));
    read_version(info, shard.shard_versions[index]);
  });
}

bool read_info(Decoder info, ExportedShard& shard) {
  info.structure();  // the name, repeated
  info.structure();  // its locator
  info.skip(4);
  read_version(info, shard.version);
  info.skip(12);     // the previous version
  info.structure();  // the client of the last change
  shard.object_bytes = info.number(8);
  if (info.version() >= info_version_shards) read_shard_versions(info, shard);
  return info.is_good();
}

struct Begun {
  ExportedShard shard;
  ShardIndex index = 0;
  bool is_present = true;  // false: kept only to undo a change
};

Result<Begun> read_object_begin(store::File& file, std::uint64_t offset, std::uint64_t bytes) {
  CALPE_TRY(const std::vector<std::byte> payload, read_bytes(file, offset, bytes));
  Decoder outer(payload);
  Decoder decoder = outer.structure();
  Begun begun;
  bool is_good = read_name(decoder.structure(), begun.shard.object);
  begun.is_present = decoder.number(8) == generation_none;
  begun.index = static_cast<ShardIndex>(decoder.number(1));
  is_good = is_good && read_info(decoder.structure(), begun.shard) && decoder.is_good();
  if (!is_good) return broken(file, offset, "object without name, size or version");
  return begun;
}

Status read_data(store::File& file, std::uint64_t offset, std::uint64_t bytes,
                 ExportedShard& shard) {
  // Two numbers and the length of the data.
  constexpr std::uint64_t before = version_bytes + 20;
  if (bytes < before) return broken(file, offset, "data section too short");
  CALPE_TRY(const std::vector<std::byte> payload, read_bytes(file, offset, before));
  Decoder decoder(payload);
  decoder.skip(version_bytes);
  const std::uint64_t at = decoder.number(8);
  const std::uint64_t asked = decoder.number(8);
  const std::uint64_t held = decoder.number(4);
  // The tool writes a short section if it could not read all data. Sections have no gaps.
  if (held != bytes - before || asked != held || at != shard.shard_bytes)
    return broken(file, offset, "data section with wrong position or length");
  shard.pieces.push_back({offset + before, at, held});
  shard.shard_bytes += held;
  return Done{};
}

Status read_group(store::File& file, std::uint64_t offset, std::uint64_t bytes, CephExport& out) {
  CALPE_TRY(const std::vector<std::byte> payload, read_bytes(file, offset, bytes));
  Decoder outer(payload);
  Decoder decoder = outer.structure();
  decoder.skip(1);
  out.pool = decoder.number(8);
  out.seed = static_cast<std::uint32_t>(decoder.number(4));
  decoder.skip(4);
  decoder.structure();  // the OSD's superblock
  const std::uint64_t shard = decoder.number(1);
  if (!decoder.is_good()) return broken(file, offset, "no placement group");
  if (shard > 0x7F) {
    return make_error(ErrorCode::corrupt, file.path(),
                      ": export of a replicated pool; expected an erasure-coded pool");
  }
  out.shard = static_cast<ShardIndex>(shard);
  return Done{};
}

// Fails only if the file cannot be read: the flags are not needed to read the shards.
Status read_metadata(store::File& file, std::uint64_t offset, std::uint64_t bytes,
                     CephExport& out) {
  if (bytes > read_bytes_max) return Done{};
  CALPE_TRY(const std::vector<std::byte> payload, read_bytes(file, offset, bytes));
  const std::optional<std::uint64_t> flags = pool_flags(payload, out.pool);
  if (flags) out.is_optimised = (*flags & pool_flag_optimised) != 0;
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
    case Section::metadata:
      return read_metadata(file, offset, header.bytes, walk.found);
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
  Decoder decoder(super);
  if (decoder.number(4) != super_magic) return broken(file, 0, "no magic number");
  decoder.skip(4);
  if (decoder.number(4) != record_header_bytes || decoder.number(4) != footer_bytes)
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
  return got == magic.size() && Decoder(magic).number(4) == super_magic;
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
