// SPDX-License-Identifier: Apache-2.0
// Serialises and parses the header and table of a redo or undo journal (docs/format.md).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/little_endian.hpp"
#include "store/format/shard_header.hpp"

namespace calpe::store {

inline constexpr std::size_t redo_entry_bytes = 32;
// Limits the memory for one journal to less than 192 MiB.
inline constexpr std::uint64_t redo_writes_max = std::uint64_t{1} << 22U;
inline constexpr std::uint64_t redo_write_bytes_max = std::uint64_t{1} << 24U;

enum class JournalKind : std::uint8_t {
  redo,  // turns a shard of the generation before into one of the generation after
  undo,  // the reverse
};

// One write, as stored in the journal.
struct RedoWrite {
  LittleU64 offset = 0;  // in the shard file
  LittleU64 bytes = 0;
  LittleU64 journal_offset = 0;
  LittleU64 checksum = 0;
};

struct RedoJournal {
  Uuid uuid = {};
  std::uint64_t before = 0;  // generations
  std::uint64_t after = 0;
  ShardIndex shard_index = 0;
  std::uint64_t shard_file_bytes = 0;  // of the generation that the writes produce
  std::vector<RedoWrite> writes;       // ascending
};

struct RedoHeader {
  JournalKind kind = JournalKind::redo;
  std::uint32_t write_count = 0;
  Uuid uuid = {};
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  ShardIndex shard_index = 0;
  std::uint64_t shard_file_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t table_checksum = 0;

  std::uint64_t table_offset() const noexcept { return header_bytes + data_bytes; }
  std::uint64_t journal_bytes() const noexcept {
    return table_offset() + std::uint64_t{write_count} * redo_entry_bytes;
  }
};

HeaderBytes to_bytes(const RedoHeader& header);
// Returns nullopt unless every field is in range (so that no sum above overflows) and the size
// matches exactly. The other kind is refused.
std::optional<RedoHeader> parse_redo_header(std::span<const std::byte> bytes,
                                            JournalKind kind = JournalKind::redo);

// True if writes ascend, do not overlap in the shard or the journal, and the first and last one are
// the shard's headers.
bool is_table_good(const RedoHeader& header, std::span<const RedoWrite> writes);

}  // namespace calpe::store
