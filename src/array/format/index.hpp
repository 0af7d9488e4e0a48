// SPDX-License-Identifier: Apache-2.0
// The index, the same on every member: the slot of each stripe, the stripes that a member missed,
// and a digest of each page of each member's checksums. There are two copies. The superblock names
// the valid copy and its root hash, so a torn, stale or foreign copy is detected.
//
// Counters and lists of changed pages are kept with each change, so that status and checkpoints
// cost no more in a large array. Only root() reads 8 bytes of each page, as the format demands.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "array/format/layout.hpp"
#include "base/little_endian.hpp"

namespace calpe::array {

class Index {
 public:
  explicit Index(const MemberLayout& layout);  // all stripes are holes

  std::uint32_t slot_of(std::uint64_t stripe) const noexcept;
  void set_slot(std::uint64_t stripe, std::uint32_t slot) noexcept;
  bool is_missed(std::uint64_t stripe) const noexcept;
  void set_missed(std::uint64_t stripe) noexcept;
  void clear_missed() noexcept;
  std::uint64_t missed_count() const noexcept { return missed_; }
  std::uint64_t mapped_count() const noexcept { return mapped_; }  // stripes that are not holes
  std::uint64_t digest(unsigned role, std::uint64_t page) const noexcept;
  void set_digest(unsigned role, std::uint64_t page, std::uint64_t digest) noexcept;

  // The bytes of a copy. Call check_root() after filling them.
  std::span<std::byte> bytes() noexcept { return bytes_; }
  // Recomputes the hash of every page, compares the root, and counts.
  bool check_root(std::uint64_t root);
  // True if every stripe is a hole or has its own existing slot.
  bool has_sound_slots() const;
  // The root of the current content.
  std::uint64_t root();

  // Calls write(page number, bytes) for each page that may differ in the copy.
  template <class Write>
  void for_each_changed(unsigned copy, const Write& write) {
    std::vector<std::uint64_t>& pages = changed_pages_[copy];
    if (!std::is_sorted(pages.begin(), pages.end())) std::sort(pages.begin(), pages.end());
    for (const std::uint64_t page : pages) {
      write(page, std::span(bytes_).subspan(page * block_bytes, block_bytes));
    }
  }
  bool is_written(unsigned copy, std::uint64_t page) const noexcept {
    return (changed_[page] >> copy & 1U) == 0;
  }
  void set_written(unsigned copy) noexcept;
  void set_changed(std::uint64_t page) noexcept;
  void set_all_changed() noexcept;

 private:
  template <class T>
  T get(std::uint64_t at) const noexcept;
  template <class T>
  void set(std::uint64_t at, T value) noexcept;
  void mark(std::uint64_t page, std::uint8_t bits) noexcept;
  void count() noexcept;

  MemberLayout layout_;
  std::vector<std::byte> bytes_;
  std::vector<LittleU64> hashes_;
  std::vector<std::uint8_t> changed_;  // bits 0, 1: differs in copy 0, 1; bit 2: hash is stale
  // The pages with each bit. Their capacity is reserved, so that adding one cannot fail.
  std::array<std::vector<std::uint64_t>, 2> changed_pages_;
  std::vector<std::uint64_t> unhashed_pages_;
  std::uint64_t mapped_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace calpe::array
