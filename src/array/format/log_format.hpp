// SPDX-License-Identifier: Apache-2.0
// The header of a batch in the log (docs/array-format.md). It lists the changes and is the same on
// every member that has a part of the batch.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "array/format/layout.hpp"

namespace calpe::array {

enum class RecordKind : std::uint16_t {
  blocks = 1,  // new blocks of one column; they follow the header
  whole = 2,   // the stripe moves to another slot, where its blocks were written
  zeros = 3,   // the stripe moves to another slot, and all its blocks are zeros
  hole = 4,    // the stripe becomes a hole
  chunk = 5,   // checksums of rebuilt chunks
  block = 6,   // checksums of repaired blocks of one column
};

// Position of a role in a mask, counted from the lowest bit.
constexpr std::size_t number_of_role(std::uint64_t roles, unsigned role) noexcept {
  return static_cast<std::size_t>(std::popcount(roles & ((std::uint64_t{1} << role) - 1)));
}

struct LogRecord {
  RecordKind kind = RecordKind::blocks;
  std::uint16_t column = 0;  // blocks, block
  std::uint32_t slot = no_slot;
  std::uint64_t stripe = 0;
  std::uint64_t roles = 0;                     // bit set of roles with checksums
  std::span<const std::uint64_t> checks = {};  // by role, ascending

  bool has(unsigned role) const noexcept { return (roles >> role & 1U) != 0; }
  // The words of a role in the mask.
  std::span<const std::uint64_t> words_of(unsigned role) const noexcept {
    const auto all = static_cast<std::size_t>(std::popcount(roles));
    return checks.subspan(number_of_role(roles, role) * (checks.size() / all), checks.size() / all);
  }
};

inline constexpr std::size_t log_header_fixed = 64;
inline constexpr std::size_t log_record_fixed = 24;

// Words of a record per role: checksums. `blocks` has the checksum, and the number of the block
// after the header.
constexpr std::uint64_t checks_per_role(RecordKind kind, std::uint32_t columns) {
  switch (kind) {
    case RecordKind::blocks:
      return 2;
    case RecordKind::block:
      return 1;
    case RecordKind::whole:
    case RecordKind::chunk:
      return columns;
    case RecordKind::zeros:
    case RecordKind::hole:
      return 0;
  }
  return 0;
}

struct BatchName {
  Uuid array = {};
  std::uint64_t generation = 0;
  std::uint64_t sequence = 0;  // from 1 in each generation
};

struct BatchHeader {
  BatchName name = {};
  std::uint64_t roles = 0;  // roles with a part in their log
  std::vector<LogRecord> records = {};
  std::vector<std::uint64_t> checks = {};  // memory of the records' spans, when parsed
  std::uint64_t bytes = 0;                 // a multiple of 4096

  std::uint64_t blocks_of(unsigned role) const noexcept {
    std::uint64_t count = 0;
    for (const LogRecord& record : records) {
      if (record.kind == RecordKind::blocks) count += (record.roles >> role) & 1U;
    }
    return count;
  }
  std::uint64_t part_bytes(unsigned role) const noexcept {
    return bytes + blocks_of(role) * block_bytes;
  }
};

// Bytes of the records, without the padding at the end.
std::uint64_t record_bytes(RecordKind kind, std::uint64_t roles, std::uint32_t columns) noexcept;

// Writes the header to the start of `to`, padded with zeros; returns its size.
std::uint64_t write_header(const BatchHeader& header, std::span<std::byte> to);

// The generation of the header that a block starts, of any array.
std::optional<std::uint64_t> claimed_generation(std::span<const std::byte> block) noexcept;
// The size in the header that `block` starts, if it is of that array and generation.
std::optional<std::uint64_t> claimed_bytes(std::span<const std::byte> block, const BatchName& name,
                                           const MemberLayout& layout) noexcept;
// Returns nullopt if the bytes are not a valid header of that array and generation, or do not fit
// the layout.
std::optional<BatchHeader> parse_header(std::span<const std::byte> bytes, const BatchName& name,
                                        const MemberLayout& layout);

}  // namespace calpe::array
