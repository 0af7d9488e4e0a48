// SPDX-License-Identifier: Apache-2.0
// An independent reader of logs, written from docs/array-format.md: lists the batches whose header
// a disk still holds. The tests of recovery thus do not depend on the code under test.
#pragma once
#include <compare>

#include "array/superblock_on_disk.hpp"

namespace calpe::tests {

// Position of a batch in the order of all batches.
struct BatchPosition {
  std::uint64_t generation = 0;
  std::uint64_t sequence = 0;
  auto operator<=>(const BatchPosition&) const = default;
};

struct HeaderOnDisk {
  BatchPosition position = {};
  std::uint64_t at = 0;  // offset on the disk
  std::uint64_t bytes = 0;
  std::uint64_t roles = 0;
};

inline constexpr std::uint64_t log_on_disk_at = 8192;

inline bool is_readable(const SimulatedMembers::Slot& slot, std::uint64_t at, std::uint64_t bytes) {
  const auto bad = slot.unreadable.lower_bound(at / sector_bytes);
  return bad == slot.unreadable.end() || *bad * sector_bytes >= at + bytes;
}

// All intact headers of an array in the log of a disk, by offset, even if the disk fails requests.
inline std::vector<HeaderOnDisk> headers_in(const SimulatedMembers::Slot& slot, const Uuid& array,
                                            std::uint64_t log_bytes) {
  constexpr std::uint64_t block = 4096;
  std::vector<HeaderOnDisk> all;
  const std::span<const std::byte> content = slot.disk.content();
  const std::uint64_t end = log_on_disk_at + log_bytes;
  const auto word = [&](std::uint64_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, content.data() + at, sizeof value);
    return value;
  };
  for (std::uint64_t at = log_on_disk_at; at < end; at += block) {
    if (std::memcmp(content.data() + at, "calpe-l1", 8) != 0) continue;
    const std::uint64_t bytes = word(at + 40) & 0xFFFFFFFF;
    if (bytes == 0 || bytes % block != 0 || bytes > end - at) continue;
    std::array<std::byte, 40> name = {};
    std::memcpy(name.data(), array.data(), array.size());
    std::memcpy(name.data() + 16, content.data() + at + 16, 8);
    std::memcpy(name.data() + 24, &bytes, 8);
    const std::uint64_t expected =
        store::plain_checksum(content.subspan(at + 16, bytes - 16)) ^ store::plain_checksum(name);
    if (word(at + 8) != expected) continue;
    all.push_back({{word(at + 16), word(at + 24)}, at, bytes, word(at + 32)});
  }
  return all;
}

// Headers on disks that can be read.
inline std::vector<HeaderOnDisk> headers_of(const SimulatedMembers::Slot& slot, const Uuid& array,
                                            std::uint64_t log_bytes) {
  if (!slot.is_there || slot.is_dead || slot.is_unreadable) return {};
  std::vector<HeaderOnDisk> all = headers_in(slot, array, log_bytes);
  std::erase_if(all,
                [&](const HeaderOnDisk& one) { return !is_readable(slot, one.at, one.bytes); });
  return all;
}

}  // namespace calpe::tests
