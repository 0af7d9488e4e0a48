// SPDX-License-Identifier: Apache-2.0
// The checksums of all blocks of all members, in pages of 512 as on the members; a cache. A page
// that does not match its digest in the index counts as unknown.
//
// Locks: 64, shared by all pages. A thread holds one of them at a time, takes it after the commit
// lock of the log, and may send requests through the roster while holding it. The hand of the clock
// (cache eviction) has a lock that is only tried, before the lock of a page.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "array/format/block_check.hpp"
#include "array/format/index.hpp"
#include "array/state/buffers.hpp"
#include "array/state/roster.hpp"
#include "base/little_endian.hpp"

namespace calpe::array {

// The digest of a page in the index, with the lowest bit 0.
std::uint64_t page_digest(const Uuid& array, unsigned role, std::uint64_t page,
                          std::span<const std::byte> bytes) noexcept;

class ChecksumTable {
 public:
  struct Options {
    Uuid array = {};
    std::size_t cache_bytes = 0;
  };
  ChecksumTable(const MemberLayout& layout, Roster& roster, const Index& index, Options options);

  // Thread-safe. `first` is MemberLayout::table_index(). Reads pages that are not in memory.
  void get(unsigned role, std::uint64_t first, std::span<std::uint64_t> checks);
  // Reads the pages [first, end) of all these roles that are not in memory, all members at once.
  void fetch(std::uint64_t roles, std::uint64_t first, std::uint64_t end);
  // The most pages of each role that fetch() should read ahead.
  std::uint64_t fetch_most() const noexcept {
    const std::uint64_t cached = options_.cache_bytes / block_bytes / (2 * layout_.roles());
    return std::clamp<std::uint64_t>(cached, 1, 128);
  }
  // Only for checksums that are durable in the log, or of stripes that a rebuild repeats after a
  // crash. Needs the commit lock.
  void set(unsigned role, std::uint64_t first, std::span<const std::uint64_t> checks);
  // Makes pages dirty without a change, so that the next checkpoint writes them. Needs the commit
  // lock.
  void touch(unsigned role, std::uint64_t first, std::uint64_t count);
  // Drops all pages of a role, so that they are read again when needed.
  void forget(unsigned role);
  // True if the page on the member matches its digest in the index.
  bool is_sound(unsigned role, std::uint64_t page);
  // True if these bytes match the digest of the page.
  bool matches(unsigned role, std::uint64_t page, std::uint64_t digest,
               std::span<const std::byte> bytes) const noexcept {
    return page_digest(options_.array, role, page, bytes) == (digest & ~std::uint64_t{1});
  }
  // The page on the member does not match: marks it as dirty if it is in memory. Returns false if
  // it was dirty, or has another digest now. Needs the commit lock.
  bool rewrite_unsound(unsigned role, std::uint64_t page, std::uint64_t digest);

  // Dirty pages and where they go. They never overwrite the valid copy, so an interrupted write
  // leaves a whole page. Needs the commit lock.
  struct Dirty {
    unsigned role = 0;
    std::uint64_t page = 0;
    std::uint64_t place = 0;  // 0 or 1
    std::span<std::byte> bytes{};
  };
  std::vector<Dirty> dirty();
  void set_written(const Dirty& page);
  // True if more pages are dirty than should be in memory.
  bool has_too_many_dirty() const noexcept {
    return dirty_pages_ > std::max<std::uint64_t>(options_.cache_bytes / block_bytes, 1024);
  }

 private:
  struct alignas(64) Page {
    std::array<LittleU64, page_checksums> checks = {};
    std::uint8_t place = 0;  // the valid copy
    bool is_dirty = false;
    bool is_used = false;  // since the clock hand last passed
  };
  std::mutex& mutex_of(unsigned role, std::uint64_t page) noexcept {
    return mutexes_[(role * 31 + page) % mutexes_.size()];
  }
  enum class PageRead : std::uint8_t { sound, unsound, failed };
  // Returns nullptr if the page cannot be read now; the next call tries again.
  Page* page_in(unsigned role, std::uint64_t page, bool is_needed);
  PageRead read(unsigned role, std::uint64_t page, Page& to);
  void fetch_run(std::uint64_t roles, std::uint64_t first, std::uint64_t end);
  bool read_from_successor(unsigned role, std::uint64_t page, Page& to);
  void drop_some();
  void mark_dirty(unsigned role, std::uint64_t page, Page& changed);
  void take_fetched(unsigned role, std::uint64_t page, std::uint64_t digest,
                    std::span<const std::byte> bytes);

  const MemberLayout& layout_;
  Roster& roster_;
  const Index& index_;
  Options options_;
  std::vector<std::vector<std::unique_ptr<Page>>> pages_;  // [role][page]
  std::array<std::mutex, 64> mutexes_;
  std::atomic<std::uint64_t> page_count_ = 0;
  std::atomic<std::uint64_t> dirty_pages_ = 0;
  // Pages that became dirty since dirty() was called, and those it returned: role, page. Some may
  // be written or dropped by now. Guarded by the commit lock.
  std::vector<std::pair<unsigned, std::uint64_t>> dirty_list_;
  std::mutex hand_mutex_;
  std::uint64_t hand_ = 0;
};

}  // namespace calpe::array
