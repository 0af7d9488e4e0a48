// SPDX-License-Identifier: Apache-2.0
// Hostile superblocks and log headers of arrays: an accepted one keeps to its layout, computed here
// independently with wider numbers, and is written and read back unchanged. The input is flags,
// then the first bytes of a superblock or of a log header. Checksums are corrected.
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "array/format/superblock.hpp"
#include "fuzz/array_checksums.hpp"
#include "fuzz/property.hpp"

namespace calpe::fuzz {

namespace {

using array::block_bytes;
__extension__ using Wide = unsigned __int128;

constexpr std::uint8_t flag_log_header = 1;
constexpr std::uint8_t flag_checksum_as_it_is = 2;

// Computes offsets as in docs/array-format.md, with 128 bits.
void check_layout(const array::Superblock& read) {
  const array::Settings& settings = read.settings;
  const array::MemberLayout layout = array::layout_of(settings, read.shape);
  const Wide stripe = Wide{settings.chunk_bytes} * settings.spec.data_shards;
  const auto pages = [](Wide bytes) { return (bytes + block_bytes - 1) / block_bytes; };
  Wide all = 2 * block_bytes + Wide{settings.log_bytes};
  Wide stripes = 0;
  Wide slots = 0;
  Wide table = 0;
  std::size_t growths = 0;
  for (bool is_last = false; !is_last; ++growths) {
    const Wide slots_before = slots;
    const Wide table_before = table;
    is_last = growths == array::growths_max || read.shape.grown_from[growths].stripes == 0;
    stripes = is_last ? (settings.bytes + stripe - 1) / stripe
                      : Wide{read.shape.grown_from[growths].stripes};
    slots = stripes + (is_last ? settings.spare_slots : read.shape.grown_from[growths].spare_slots);
    table = pages(slots * (settings.chunk_bytes / block_bytes) * 8);
    require(slots > slots_before && table >= table_before, "each size is larger");
    const Wide index =
        pages(stripes * 4) + pages((stripes + 7) / 8) + pages(table * read.shape.members_max * 8);
    const Wide before = all + 2 * index * block_bytes + 2 * (table - table_before) * block_bytes;
    const Wide slots_at =
        (before + settings.chunk_bytes - 1) / settings.chunk_bytes * settings.chunk_bytes;
    require(layout.segments[growths].slots_at == slots_at, "slots of a segment");
    require(!is_last || layout.index_at == all, "the index is in the last segment");
    all = slots_at + (slots - slots_before) * settings.chunk_bytes;
  }
  require(layout.growths + 1 == growths, "segments");
  require(all >> 63U == 0, "a member has less than 2^63 bytes");
  require(layout.member_bytes == all, "bytes of a member");
  require(layout.stripes == stripes && layout.slots == slots && layout.table_pages == table,
          "stripes and slots");
  require(layout.header_most + 2 * Wide{settings.chunk_bytes} <= settings.log_bytes,
          "the log has room for a header and two chunks");
  require(layout.blocks_most >= settings.chunk_bytes / block_bytes,
          "the log has room for a chunk's blocks");
}

void check_superblock(std::span<const std::uint8_t> input, bool is_raw) {
  array::SuperblockBytes bytes = {};
  std::memcpy(bytes.data(), input.data(), std::min(input.size(), bytes.size()));
  if (!is_raw) put_right_superblock(bytes);
  const auto read = array::parse_superblock(bytes);
  if (!read) {
    require(read.error().code == ErrorCode::corrupt, "a bad superblock is corrupt");
    return;
  }
  check_layout(*read);
  const unsigned roles = read->settings.spec.data_shards + read->settings.spec.parity_shards;
  require(roles >= 2 && roles <= array::members_most && read->roles.size() == roles, "members");
  std::set<Uuid> names;
  for (const array::RoleRecord& role : read->roles)
    require(names.insert(role.uuid).second, "no member has two roles");
  const array::SuperblockBytes written = array::to_bytes(*read);
  const auto again = array::parse_superblock(written);
  require(again && array::to_bytes(*again) == written, "it is written and read back unchanged");
}

void check_log_header(std::span<const std::uint8_t> input, bool is_raw) {
  static const array::MemberLayout layout =
      array::layout_of({.spec = {.data_shards = 2, .parity_shards = 2},
                        .bytes = 4 * 16384,
                        .chunk_bytes = 8192,
                        .log_bytes = 40960,
                        .spare_slots = 2},
                       {.rotated = 4, .members_max = 8});
  constexpr array::BatchName name = {.generation = 7};
  std::vector<std::byte> bytes(input.size() > block_bytes ? 2 * block_bytes : block_bytes);
  std::memcpy(bytes.data(), input.data(), std::min(input.size(), bytes.size()));
  if (!is_raw) put_right_log_header(bytes, name.array);
  const auto header = array::parse_header(bytes, name, layout);
  if (!header) return;
  std::set<std::pair<unsigned, std::uint64_t>> places;
  for (const array::LogRecord& record : header->records) {
    require(record.stripe < layout.stripes, "stripes exist");
    require(record.kind == array::RecordKind::hole || record.slot < layout.slots, "slots exist");
    require(record.column < layout.columns, "columns exist");
    const bool is_chunk =
        record.kind == array::RecordKind::whole || record.kind == array::RecordKind::chunk;
    require(!is_chunk || record.column == 0, "a chunk begins at its first column");
    for (unsigned role = 0; role < 64; ++role) {
      if (!record.has(role)) continue;
      require(role < layout.roles(), "roles exist");
      if (record.kind != array::RecordKind::blocks) continue;
      const std::uint64_t place = record.words_of(role)[1];
      require(place < header->blocks_of(role), "a block is in its member's part");
      require(places.emplace(role, place).second, "no two blocks have one place");
    }
  }
  std::vector<std::byte> written(2 * block_bytes);
  const std::uint64_t count = array::write_header(*header, written);
  require(count <= bytes.size(), "it takes no more space when written");
  array::BatchName same = name;
  const auto again = array::parse_header(std::span(written).first(count), same, layout);
  require(again && again->records.size() == header->records.size() &&
              again->roles == header->roles && again->name.sequence == header->name.sequence,
          "it is written and read back unchanged");
}

void run(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  const bool is_raw = (input[0] & flag_checksum_as_it_is) != 0;
  if ((input[0] & flag_log_header) != 0) {
    check_log_header(input.subspan(1), is_raw);
  } else {
    check_superblock(input.subspan(1), is_raw);
  }
}

}  // namespace

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::run({data, size});
  return 0;
}
