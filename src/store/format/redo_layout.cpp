// SPDX-License-Identifier: Apache-2.0
#include "store/format/redo_layout.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::store {

namespace {

constexpr std::string_view redo_magic = "calpe-j1";
constexpr std::string_view undo_magic = "calpe-u1";
constexpr std::uint32_t version = 1;
constexpr std::size_t checksum_at = header_bytes - 8;
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 62U;

static_assert(sizeof(RedoWrite) == redo_entry_bytes, "the table is read directly into memory");

template <class Copy, class Header>
void copy_fields(const Copy& copy, Header& header) {
  copy(12, header.write_count);
  copy(16, header.uuid);
  copy(32, header.before);
  copy(40, header.after);
  copy(48, header.shard_index);
  copy(56, header.shard_file_bytes);
  copy(64, header.data_bytes);
  copy(72, header.table_checksum);
}

bool is_in_range(const RedoHeader& header) {
  return header.write_count >= 2 && header.write_count <= redo_writes_max && header.before >= 1 &&
         header.after > header.before && header.shard_index < byte_shard_count_max &&
         header.shard_file_bytes >= 2 * header_bytes && header.shard_file_bytes <= 2 * bytes_max &&
         header.data_bytes <= bytes_max;
}

// True if the range lies in [0, end).
bool is_within(std::uint64_t offset, std::uint64_t bytes, std::uint64_t end) {
  return bytes <= end && offset <= end - bytes;
}

bool is_ascending(const RedoHeader& header, std::span<const RedoWrite> writes) {
  std::uint64_t free_from = 0;
  for (const RedoWrite& write : writes) {
    if (write.bytes == 0 || write.bytes > redo_write_bytes_max) return false;
    if (write.offset < free_from) return false;
    if (!is_within(write.offset, write.bytes, header.shard_file_bytes)) return false;
    free_from = write.offset + write.bytes;
  }
  return true;
}

// The total length equals the space for the writes, so if none overlap there are no gaps either.
bool is_journal_filled(const RedoHeader& header, std::span<const RedoWrite> writes) {
  std::vector<std::uint32_t> order(writes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return writes[a].journal_offset < writes[b].journal_offset;
  });
  std::uint64_t at = header_bytes;
  for (const std::uint32_t i : order) {
    if (writes[i].journal_offset != at) return false;
    at += writes[i].bytes;  // at most 2^22 times 2^24
  }
  return at == header.table_offset();
}

}  // namespace

HeaderBytes to_bytes(const RedoHeader& header) {
  HeaderBytes bytes = {};
  const auto write = [&](std::size_t at, const auto& value) {
    store_little(bytes.data() + at, value);
  };
  const std::string_view magic = header.kind == JournalKind::redo ? redo_magic : undo_magic;
  std::memcpy(bytes.data(), magic.data(), magic.size());
  write(8, version);
  copy_fields(write, header);
  write(checksum_at, plain_checksum(std::span(bytes).first(checksum_at)));
  return bytes;
}

std::optional<RedoHeader> parse_redo_header(std::span<const std::byte> bytes, JournalKind kind) {
  if (bytes.size() != header_bytes) return std::nullopt;
  RedoHeader header;
  header.kind = kind;
  copy_fields([&](std::size_t at, auto& value) { load_little(bytes.data() + at, value); }, header);
  if (!is_in_range(header)) return std::nullopt;
  // Compares magic, version, checksum and the zero padding.
  const HeaderBytes expected = to_bytes(header);
  if (!std::equal(bytes.begin(), bytes.end(), expected.begin())) return std::nullopt;
  return header;
}

bool is_table_good(const RedoHeader& header, std::span<const RedoWrite> writes) {
  if (writes.size() != header.write_count || !is_ascending(header, writes)) return false;
  const RedoWrite& front = writes.front();
  const RedoWrite& back = writes.back();
  return front.offset == 0 && front.bytes == header_bytes && back.bytes == header_bytes &&
         back.offset == header.shard_file_bytes - header_bytes && is_journal_filled(header, writes);
}

}  // namespace calpe::store
