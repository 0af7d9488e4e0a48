// SPDX-License-Identifier: Apache-2.0
#include "array/format/index.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::array {

namespace {

constexpr std::uint8_t both_copies = 3;
constexpr std::uint8_t hash_is_old = 4;

}  // namespace

Index::Index(const MemberLayout& layout)
    : layout_(layout),
      bytes_(layout.index_pages * block_bytes),
      hashes_(layout.index_pages),
      changed_(layout.index_pages) {
  for (std::vector<std::uint64_t>* pages :
       {&changed_pages_[0], &changed_pages_[1], &unhashed_pages_}) {
    pages->reserve(layout.index_pages);
  }
  set_all_changed();
  std::memset(bytes_.data(), 0xFF, layout.stripes * 4);
}

template <class T>
T Index::get(std::uint64_t at) const noexcept {
  return load_little<T>(bytes_.data() + at);
}

template <class T>
void Index::set(std::uint64_t at, T value) noexcept {
  if (get<T>(at) == value) return;
  store_little(bytes_.data() + at, value);
  mark(at / block_bytes, both_copies | hash_is_old);
}

void Index::mark(std::uint64_t page, std::uint8_t bits) noexcept {
  const auto added = static_cast<std::uint8_t>(bits & ~changed_[page]);
  if (added == 0) return;
  changed_[page] |= added;
  for (unsigned copy = 0; copy < 2; ++copy) {
    if ((added >> copy & 1U) != 0) changed_pages_[copy].push_back(page);
  }
  if ((added & hash_is_old) != 0) unhashed_pages_.push_back(page);
}

void Index::count() noexcept {
  mapped_ = 0;
  missed_ = 0;
  for (std::uint64_t stripe = 0; stripe < layout_.stripes; ++stripe) {
    if (slot_of(stripe) != no_slot) ++mapped_;
  }
  for (std::uint64_t at = layout_.missed_at; at < layout_.digests_at; at += 8) {
    missed_ += static_cast<std::uint64_t>(std::popcount(get<std::uint64_t>(at)));
  }
}

std::uint32_t Index::slot_of(std::uint64_t stripe) const noexcept {
  return get<std::uint32_t>(stripe * 4);
}

void Index::set_slot(std::uint64_t stripe, std::uint32_t slot) noexcept {
  if (slot_of(stripe) != no_slot) --mapped_;
  if (slot != no_slot) ++mapped_;
  set(stripe * 4, slot);
}

bool Index::is_missed(std::uint64_t stripe) const noexcept {
  return (get<std::uint8_t>(layout_.missed_at + stripe / 8) >> (stripe % 8) & 1U) != 0;
}

void Index::set_missed(std::uint64_t stripe) noexcept {
  if (is_missed(stripe)) return;
  ++missed_;
  const std::uint64_t at = layout_.missed_at + stripe / 8;
  set(at, static_cast<std::uint8_t>(get<std::uint8_t>(at) | (1U << (stripe % 8))));
}

void Index::clear_missed() noexcept {
  if (missed_ == 0) return;
  for (std::uint64_t at = layout_.missed_at; at < layout_.digests_at; at += 8) {
    set(at, std::uint64_t{0});
  }
  missed_ = 0;
}

std::uint64_t Index::digest(unsigned role, std::uint64_t page) const noexcept {
  return get<std::uint64_t>(layout_.digests_at + (page * layout_.members_max + role) * 8);
}

void Index::set_digest(unsigned role, std::uint64_t page, std::uint64_t digest) noexcept {
  set(layout_.digests_at + (page * layout_.members_max + role) * 8, digest);
}

std::uint64_t Index::root() {
  for (const std::uint64_t page : unhashed_pages_) {
    hashes_[page] =
        store::plain_checksum(std::span(bytes_).subspan(page * block_bytes, block_bytes));
    changed_[page] &= static_cast<std::uint8_t>(~hash_is_old);
  }
  unhashed_pages_.clear();
  return store::plain_checksum(std::as_bytes(std::span(hashes_)));
}

bool Index::check_root(std::uint64_t root_expected) {
  set_all_changed();
  if (root() != root_expected) return false;
  count();
  return true;
}

bool Index::has_sound_slots() const {
  std::vector<bool> is_taken(layout_.slots);
  for (std::uint64_t stripe = 0; stripe < layout_.stripes; ++stripe) {
    const std::uint32_t slot = slot_of(stripe);
    if (slot == no_slot) continue;
    if (slot >= is_taken.size() || is_taken[slot]) return false;
    is_taken[slot] = true;
  }
  return true;
}

void Index::set_all_changed() noexcept {
  for (std::uint64_t page = 0; page < changed_.size(); ++page) {
    mark(page, both_copies | hash_is_old);
  }
}

void Index::set_changed(std::uint64_t page) noexcept {
  mark(page, both_copies);
}

void Index::set_written(unsigned copy) noexcept {
  for (const std::uint64_t page : changed_pages_[copy]) {
    changed_[page] &= static_cast<std::uint8_t>(~(1U << copy));
  }
  changed_pages_[copy].clear();
}

}  // namespace calpe::array
