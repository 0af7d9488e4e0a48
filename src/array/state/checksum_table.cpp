// SPDX-License-Identifier: Apache-2.0
#include "array/state/checksum_table.hpp"

#include <algorithm>
#include <cstring>

#include "base/divide_up.hpp"

namespace calpe::array {

std::uint64_t page_digest(const Uuid& array, unsigned role, std::uint64_t page,
                          std::span<const std::byte> bytes) noexcept {
  return store::block_checksum({.uuid = array, .generation = 1, .stripe = page, .shard = role},
                               bytes) &
         ~std::uint64_t{1};
}

ChecksumTable::ChecksumTable(const MemberLayout& layout, Roster& roster, const Index& index,
                             Options options)
    : layout_(layout), roster_(roster), index_(index), options_(options), pages_(layout.roles()) {
  for (auto& pages : pages_) {
    pages.resize(layout.table_pages);
  }
}

ChecksumTable::PageRead ChecksumTable::read(unsigned role, std::uint64_t page, Page& to) {
  std::array<MemberRequest, 1> request = {};
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(to.checks));
  request[0].member = role;
  const std::uint64_t digest = index_.digest(role, page);
  to.place = static_cast<std::uint8_t>(digest & 1U);
  request[0].offset = layout_.page_at(page, to.place);
  request[0].bytes = bytes;
  if (roster_.run(request) != 0) return PageRead::failed;
  const bool is_sound =
      page_digest(options_.array, role, page, bytes) == (digest & ~std::uint64_t{1});
  return is_sound ? PageRead::sound : PageRead::unsound;
}

bool ChecksumTable::read_from_successor(unsigned role, std::uint64_t page, Page& to) {
  const SuccessorAt successor = roster_.successor();
  if (successor.role != role) return false;
  const std::uint64_t digest = index_.digest(role, page);
  std::array<MemberRequest, 1> request = {};
  request[0].member = successor.place;
  request[0].offset = layout_.page_at(page, to.place);
  request[0].bytes = std::as_writable_bytes(std::span(to.checks));
  roster_.run_on_successor(successor, request);
  return !request[0].error &&
         page_digest(options_.array, role, page, request[0].bytes) == (digest & ~std::uint64_t{1});
}

ChecksumTable::Page* ChecksumTable::page_in(unsigned role, std::uint64_t page, bool is_needed) {
  std::unique_ptr<Page>& place = pages_[role][page];
  if (place == nullptr) {
    auto fresh = std::make_unique<Page>();
    PageRead outcome = read(role, page, *fresh);
    // The member may be replaced because its sectors fail.
    if (outcome != PageRead::sound && read_from_successor(role, page, *fresh)) {
      outcome = PageRead::sound;
    }
    if (outcome == PageRead::failed && !is_needed) return nullptr;
    if (outcome != PageRead::sound) fresh->checks.fill(unknown_check);
    place = std::move(fresh);
    ++page_count_;
  }
  place->is_used = true;
  return place.get();
}

// Another thread may have changed the page since the read began. Then its digest differs, and the
// page is read again when it is needed.
void ChecksumTable::take_fetched(unsigned role, std::uint64_t page, std::uint64_t digest,
                                 std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_of(role, page));
  std::unique_ptr<Page>& place = pages_[role][page];
  if (place != nullptr || index_.digest(role, page) != digest) return;
  auto fresh = std::make_unique<Page>();
  fresh->place = static_cast<std::uint8_t>(digest & 1U);
  fresh->is_used = true;
  if (page_digest(options_.array, role, page, bytes) == (digest & ~std::uint64_t{1})) {
    std::memcpy(fresh->checks.data(), bytes.data(), bytes.size());
  } else if (!read_from_successor(role, page, *fresh)) {
    fresh->checks.fill(unknown_check);
  }
  place = std::move(fresh);
  ++page_count_;
}

void ChecksumTable::fetch(std::uint64_t roles, std::uint64_t first, std::uint64_t end) {
  while (first < end) {
    const std::uint64_t run_end = std::min(end, layout_.run_end(first));
    fetch_run(roles, first, run_end);
    first = run_end;
  }
}

// One request for a run of pages: both copies of a page are next to each other, and a disk reads
// the other copy faster than it skips it.
void ChecksumTable::fetch_run(std::uint64_t roles, std::uint64_t first, std::uint64_t end) {
  struct Run {
    unsigned role;
    std::uint64_t first;
    std::vector<std::uint64_t> digests{};
  };
  std::vector<Run> runs;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((roles >> role & 1U) == 0) continue;
    Run run{role, end};
    std::size_t used = 0;  // up to the last page that is lacking
    for (std::uint64_t page = first; page < end; ++page) {
      const std::lock_guard lock(mutex_of(role, page));
      const bool is_lacking = pages_[role][page] == nullptr;
      if (is_lacking) run.first = std::min(run.first, page);
      if (run.first == end) continue;
      // The digest of a page in memory may be changing.
      run.digests.push_back(is_lacking ? index_.digest(role, page) : 0);
      if (is_lacking) used = run.digests.size();
    }
    if (used == 0) continue;
    run.digests.resize(used);
    runs.push_back(std::move(run));
  }
  if (runs.empty()) return;
  std::size_t bytes = 0;
  for (const Run& run : runs)
    bytes += run.digests.size() * 2 * block_bytes;
  const AlignedBytes memory(bytes);
  std::vector<MemberRequest> requests;
  std::size_t used = 0;
  for (const Run& run : runs) {
    MemberRequest request;
    request.member = run.role;
    request.offset = layout_.page_at(run.first, 0);
    request.bytes = memory.span().subspan(used, run.digests.size() * 2 * block_bytes);
    used += request.bytes.size();
    requests.push_back(request);
  }
  roster_.run(requests);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (requests[i].error) continue;
    for (std::size_t page = 0; page < runs[i].digests.size(); ++page) {
      const std::uint64_t digest = runs[i].digests[page];
      take_fetched(
          runs[i].role, runs[i].first + page, digest,
          requests[i].bytes.subspan((2 * page + (digest & 1U)) * block_bytes, block_bytes));
    }
  }
}

void ChecksumTable::get(unsigned role, std::uint64_t first, std::span<std::uint64_t> checks) {
  while (!checks.empty()) {
    const std::uint64_t page = first / page_checksums;
    const std::uint64_t at = first % page_checksums;
    const std::size_t count = std::min<std::size_t>(checks.size(), page_checksums - at);
    {
      const std::lock_guard lock(mutex_of(role, page));
      const Page* from = page_in(role, page, false);
      if (from == nullptr) {
        std::fill_n(checks.begin(), count, unknown_check);
      } else {
        std::copy_n(from->checks.data() + at, count, checks.data());
      }
    }
    first += count;
    checks = checks.subspan(count);
  }
  if (page_count_ * block_bytes > options_.cache_bytes) drop_some();
}

void ChecksumTable::set(unsigned role, std::uint64_t first, std::span<const std::uint64_t> checks) {
  while (!checks.empty()) {
    const std::uint64_t page = first / page_checksums;
    const std::uint64_t at = first % page_checksums;
    const std::size_t count = std::min<std::size_t>(checks.size(), page_checksums - at);
    const std::lock_guard lock(mutex_of(role, page));
    Page& to = *page_in(role, page, true);
    std::copy_n(checks.data(), count, to.checks.data() + at);
    mark_dirty(role, page, to);
    first += count;
    checks = checks.subspan(count);
  }
}

void ChecksumTable::mark_dirty(unsigned role, std::uint64_t page, Page& changed) {
  if (changed.is_dirty) return;
  dirty_list_.emplace_back(role, page);
  changed.is_dirty = true;
  ++dirty_pages_;
}

void ChecksumTable::touch(unsigned role, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t end = divide_up(first + count, page_checksums);
  for (std::uint64_t page = first / page_checksums; page < end; ++page) {
    const std::lock_guard lock(mutex_of(role, page));
    mark_dirty(role, page, *page_in(role, page, true));
  }
}

void ChecksumTable::forget(unsigned role) {
  for (std::uint64_t page = 0; page < layout_.table_pages; ++page) {
    const std::lock_guard lock(mutex_of(role, page));
    std::unique_ptr<Page>& place = pages_[role][page];
    if (place == nullptr) continue;
    if (place->is_dirty) --dirty_pages_;
    place.reset();
    --page_count_;
  }
}

bool ChecksumTable::is_sound(unsigned role, std::uint64_t page) {
  Page scratch;
  return read(role, page, scratch) == PageRead::sound;
}

bool ChecksumTable::rewrite_unsound(unsigned role, std::uint64_t page, std::uint64_t digest) {
  const std::lock_guard lock(mutex_of(role, page));
  const std::unique_ptr<Page>& place = pages_[role][page];
  if (place == nullptr || place->is_dirty || index_.digest(role, page) != digest) return false;
  mark_dirty(role, page, *place);
  return true;
}

std::vector<ChecksumTable::Dirty> ChecksumTable::dirty() {
  std::vector<Dirty> all;
  // A page that was dropped and became dirty again is there twice.
  std::sort(dirty_list_.begin(), dirty_list_.end());
  dirty_list_.erase(std::unique(dirty_list_.begin(), dirty_list_.end()), dirty_list_.end());
  std::erase_if(dirty_list_, [&](const auto& one) {
    const auto [role, page] = one;
    const std::lock_guard lock(mutex_of(role, page));
    const std::unique_ptr<Page>& place = pages_[role][page];
    if (place == nullptr || !place->is_dirty) return true;
    all.push_back({role, page, std::uint64_t{1} - place->place,
                   std::as_writable_bytes(std::span(place->checks))});
    return false;
  });
  return all;
}

void ChecksumTable::set_written(const Dirty& page) {
  const std::lock_guard lock(mutex_of(page.role, page.page));
  const std::unique_ptr<Page>& place = pages_[page.role][page.page];
  if (place == nullptr || !place->is_dirty) return;
  place->is_dirty = false;
  place->place = static_cast<std::uint8_t>(page.place);
  --dirty_pages_;
}

void ChecksumTable::drop_some() {
  const std::unique_lock hand_lock(hand_mutex_, std::try_to_lock);
  if (!hand_lock) return;
  const std::uint64_t all = pages_.size() * layout_.table_pages;
  for (std::uint64_t steps = 0; steps < 2 * all; ++steps) {
    if (page_count_ * block_bytes <= options_.cache_bytes) return;
    hand_ = (hand_ + 1) % all;
    const auto role = static_cast<unsigned>(hand_ / layout_.table_pages);
    const std::uint64_t page = hand_ % layout_.table_pages;
    const std::lock_guard lock(mutex_of(role, page));
    std::unique_ptr<Page>& place = pages_[role][page];
    if (place == nullptr || place->is_dirty) continue;
    if (place->is_used) {
      place->is_used = false;
      continue;
    }
    place.reset();
    --page_count_;
  }
}

}  // namespace calpe::array
