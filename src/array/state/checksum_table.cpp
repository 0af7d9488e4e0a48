// SPDX-License-Identifier: Apache-2.0
#include "array/state/checksum_table.hpp"

#include <algorithm>

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
    if (!to.is_dirty) {
      dirty_list_.emplace_back(role, page);
      to.is_dirty = true;
      ++dirty_pages_;
    }
    first += count;
    checks = checks.subspan(count);
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

bool ChecksumTable::rewrite_if_unsound(unsigned role, std::uint64_t page) {
  const std::lock_guard lock(mutex_of(role, page));
  const std::unique_ptr<Page>& place = pages_[role][page];
  if (place == nullptr || place->is_dirty || is_sound(role, page)) return false;
  dirty_list_.emplace_back(role, page);
  place->is_dirty = true;
  ++dirty_pages_;
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
