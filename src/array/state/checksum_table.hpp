// SPDX-License-Identifier: Apache-2.0
// The checksums of all blocks of all members, in pages of 512 as the members have them, of which
// some are in memory. A page whose digest is not the index's counts as not known at all.
//
// Locks: 64, shared by all pages. A thread holds one of them at a time, takes it after the log's
// commit lock if it has that, and sends requests through the roster with it. The clock's hand has a
// lock that is only tried, before that of a page.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "array/format/block_check.hpp"
#include "array/format/index.hpp"
#include "array/state/roster.hpp"
#include "base/little_endian.hpp"

namespace calpe::array {

// What a page of a member is in the index, but for the lowest bit, which is 0.
std::uint64_t page_digest(const Uuid& array, unsigned role, std::uint64_t page,
                          std::span<const std::byte> bytes) noexcept;

class ChecksumTable {
 public:
  struct Options {
    Uuid array = {};
    std::size_t cache_bytes = 0;
  };
  ChecksumTable(const MemberLayout& layout, Roster& roster, const Index& index, Options options);

  // Any thread. `first` is MemberLayout::table_index(); reads pages that are not in memory.
  void get(unsigned role, std::uint64_t first, std::span<std::uint64_t> checks);
  // Only for checksums that the log holds durably.
  void set(unsigned role, std::uint64_t first, std::span<const std::uint64_t> checks);
  // All pages of a role are read anew when they are needed.
  void forget(unsigned role);
  // True when the member has the page as the index has its digest.
  bool is_sound(unsigned role, std::uint64_t page);
  // A page in memory that the member does not have as the index has its digest is dirty from now
  // on. True: it was not. With the commit lock held.
  bool rewrite_if_unsound(unsigned role, std::uint64_t page);

  // Pages that were set since they were written, and where they go: never to the place that is
  // valid, so a page is on its member whole, whatever is interrupted. With the commit lock held.
  struct Dirty {
    unsigned role = 0;
    std::uint64_t page = 0;
    std::uint64_t place = 0;  // 0 or 1
    std::span<std::byte> bytes{};
  };
  std::vector<Dirty> dirty();
  void set_written(const Dirty& page);
  // More of them than should be in memory; a few are always fine.
  bool has_too_many_dirty() const noexcept {
    return dirty_pages_ > std::max<std::uint64_t>(options_.cache_bytes / block_bytes, 1024);
  }

 private:
  struct alignas(64) Page {
    std::array<LittleU64, page_checksums> checks = {};
    std::uint8_t place = 0;  // that is valid
    bool is_dirty = false;
    bool is_used = false;  // since the clock's hand passed
  };
  std::mutex& mutex_of(unsigned role, std::uint64_t page) noexcept {
    return mutexes_[(role * 31 + page) % mutexes_.size()];
  }
  enum class PageRead : std::uint8_t { sound, unsound, failed };
  // nullptr: it cannot be read just now, and is tried again the next time.
  Page* page_in(unsigned role, std::uint64_t page, bool is_needed);
  PageRead read(unsigned role, std::uint64_t page, Page& to);
  void drop_some();

  const MemberLayout& layout_;
  Roster& roster_;
  const Index& index_;
  Options options_;
  std::vector<std::vector<std::unique_ptr<Page>>> pages_;  // [role][page]
  std::array<std::mutex, 64> mutexes_;
  std::atomic<std::uint64_t> page_count_ = 0;
  std::atomic<std::uint64_t> dirty_pages_ = 0;
  std::mutex hand_mutex_;
  std::uint64_t hand_ = 0;
};

}  // namespace calpe::array
