// SPDX-License-Identifier: Apache-2.0
#include "array/format/log_format.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include "base/assert.hpp"
#include "base/divide_up.hpp"
#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::array {

namespace {

constexpr std::string_view magic = "calpe-l1";

template <class T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  return load_little<T>(bytes.data() + at);
}

template <class T>
void put(std::span<std::byte> bytes, std::size_t at, T value) {
  store_little(bytes.data() + at, value);
}

// Checksum of the rest of the header and the array's uuid, so that logs of two arrays cannot be
// mixed.
std::uint64_t header_checksum(std::span<const std::byte> bytes, const BatchName& name) {
  return store::plain_checksum(bytes.subspan(16)) ^
         store::block_mask({.uuid = name.array,
                            .generation = name.generation,
                            .stripe = bytes.size(),
                            .shard = 0});
}

bool is_sound(const LogRecord& record, const MemberLayout& layout) {
  const auto kind = static_cast<unsigned>(record.kind);
  if (kind < 1 || kind > 6 || record.stripe >= layout.stripes) return false;
  if (layout.roles() < 64 && (record.roles >> layout.roles()) != 0) return false;
  if (record.kind == RecordKind::hole) return record.slot == no_slot && record.column == 0;
  const bool has_column = record.kind == RecordKind::blocks || record.kind == RecordKind::block;
  return record.slot < layout.slots && record.column < (has_column ? layout.columns : 1);
}

// Checks that the blocks of each part are numbered without gaps or duplicates.
bool has_sound_places(const BatchHeader& header, const MemberLayout& layout) {
  for (unsigned role = 0; role < layout.roles(); ++role) {
    const std::uint64_t count = header.blocks_of(role);
    if (count > layout.blocks_most) return false;
    std::vector<bool> is_taken(count);
    for (const LogRecord& record : header.records) {
      if (record.kind != RecordKind::blocks || !record.has(role)) continue;
      const std::uint64_t place = record.words_of(role)[1];
      if (place >= count || is_taken[place]) return false;
      is_taken[place] = true;
    }
  }
  return true;
}

// The blocks of a column form one record, until the stripe moves to another slot.
bool has_each_column_once(const BatchHeader& header, const MemberLayout& layout) {
  std::set<std::uint64_t> seen;
  for (const LogRecord& record : header.records) {
    const std::uint64_t first = record.stripe * layout.columns;
    if (record.kind == RecordKind::blocks) {
      if (!seen.insert(first + record.column).second) return false;
    } else if (record.kind != RecordKind::chunk && record.kind != RecordKind::block) {
      seen.erase(seen.lower_bound(first), seen.lower_bound(first + layout.columns));
    }
  }
  return true;
}

}  // namespace

std::uint64_t record_bytes(RecordKind kind, std::uint64_t roles, std::uint32_t columns) noexcept {
  return log_record_fixed +
         8 * checks_per_role(kind, columns) * static_cast<std::uint64_t>(std::popcount(roles));
}

std::uint64_t write_header(const BatchHeader& header, std::span<std::byte> to) {
  std::size_t at = log_header_fixed;
  std::memset(to.data(), 0, log_header_fixed);
  for (const LogRecord& record : header.records) {
    CALPE_ASSERT(at + log_record_fixed + record.checks.size_bytes() <= to.size());
    put(to, at, record.kind);
    put(to, at + 2, record.column);
    put(to, at + 4, record.slot);
    put(to, at + 8, record.stripe);
    put(to, at + 16, record.roles);
    at += log_record_fixed;
    for (const std::uint64_t check : record.checks) {
      put(to, at, check);
      at += sizeof check;
    }
  }
  const std::uint64_t bytes = divide_up(std::uint64_t{at}, block_bytes) * block_bytes;
  CALPE_ASSERT(bytes <= to.size());
  std::memset(to.data() + at, 0, bytes - at);
  std::memcpy(to.data(), magic.data(), magic.size());
  put(to, 16, header.name.generation);
  put(to, 24, header.name.sequence);
  put(to, 32, header.roles);
  put(to, 40, static_cast<std::uint32_t>(bytes));
  put(to, 44, static_cast<std::uint32_t>(header.records.size()));
  put(to, 8, header_checksum(to.first(bytes), header.name));
  return bytes;
}

std::optional<std::uint64_t> claimed_generation(std::span<const std::byte> block) noexcept {
  if (std::memcmp(block.data(), magic.data(), magic.size()) != 0) return std::nullopt;
  return get<std::uint64_t>(block, 16);
}

std::optional<std::uint64_t> claimed_bytes(std::span<const std::byte> block, const BatchName& name,
                                           const MemberLayout& layout) noexcept {
  if (claimed_generation(block) != name.generation) return std::nullopt;
  const std::uint64_t bytes = get<std::uint32_t>(block, 40);
  if (bytes == 0 || bytes % block_bytes != 0 || bytes > layout.header_most) return std::nullopt;
  return bytes;
}

std::optional<BatchHeader> parse_header(std::span<const std::byte> bytes, const BatchName& name,
                                        const MemberLayout& layout) {
  if (claimed_bytes(bytes, name, layout) != bytes.size()) return std::nullopt;
  if (get<std::uint64_t>(bytes, 8) != header_checksum(bytes, name)) return std::nullopt;
  BatchHeader header;
  header.name = name;
  header.name.sequence = get<std::uint64_t>(bytes, 24);
  header.roles = get<std::uint64_t>(bytes, 32);
  header.bytes = bytes.size();
  header.checks.resize(bytes.size() / 8);  // never reallocated, as spans point into it
  if (layout.roles() < 64 && (header.roles >> layout.roles()) != 0) return std::nullopt;
  const auto count = get<std::uint32_t>(bytes, 44);
  std::size_t at = log_header_fixed;
  std::size_t used = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (at + log_record_fixed > bytes.size()) return std::nullopt;
    LogRecord record;
    record.kind = get<RecordKind>(bytes, at);
    record.column = get<std::uint16_t>(bytes, at + 2);
    record.slot = get<std::uint32_t>(bytes, at + 4);
    record.stripe = get<std::uint64_t>(bytes, at + 8);
    record.roles = get<std::uint64_t>(bytes, at + 16);
    if (!is_sound(record, layout)) return std::nullopt;
    const std::uint64_t all = record_bytes(record.kind, record.roles, layout.columns);
    if (all > bytes.size() - at) return std::nullopt;
    const std::size_t checks = (all - log_record_fixed) / 8;
    for (std::size_t c = 0; c < checks; ++c) {
      header.checks[used + c] = get<std::uint64_t>(bytes, at + log_record_fixed + 8 * c);
    }
    record.checks = std::span<const std::uint64_t>(header.checks).subspan(used, checks);
    used += checks;
    at += all;
    header.records.push_back(record);
  }
  if (!has_sound_places(header, layout) || !has_each_column_once(header, layout)) {
    return std::nullopt;
  }
  return header;
}

}  // namespace calpe::array
