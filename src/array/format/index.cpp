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
      changed_(layout.index_pages, both_copies | hash_is_old) {
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
  changed_[at / block_bytes] = both_copies | hash_is_old;
}

std::uint32_t Index::slot_of(std::uint64_t stripe) const noexcept {
  return get<std::uint32_t>(stripe * 4);
}

void Index::set_slot(std::uint64_t stripe, std::uint32_t slot) noexcept {
  set(stripe * 4, slot);
}

bool Index::is_missed(std::uint64_t stripe) const noexcept {
  return (get<std::uint8_t>(layout_.missed_at + stripe / 8) >> (stripe % 8) & 1U) != 0;
}

void Index::set_missed(std::uint64_t stripe) noexcept {
  const std::uint64_t at = layout_.missed_at + stripe / 8;
  set(at, static_cast<std::uint8_t>(get<std::uint8_t>(at) | (1U << (stripe % 8))));
}

void Index::clear_missed() noexcept {
  for (std::uint64_t at = layout_.missed_at; at < layout_.digests_at; ++at) {
    set(at, std::uint8_t{0});
  }
}

std::uint64_t Index::missed_count() const noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t at = layout_.missed_at; at < layout_.digests_at; at += 8) {
    count += static_cast<std::uint64_t>(std::popcount(get<std::uint64_t>(at)));
  }
  return count;
}

std::uint64_t Index::digest(unsigned role, std::uint64_t page) const noexcept {
  return get<std::uint64_t>(layout_.digests_at + (page * layout_.members_max + role) * 8);
}

void Index::set_digest(unsigned role, std::uint64_t page, std::uint64_t digest) noexcept {
  set(layout_.digests_at + (page * layout_.members_max + role) * 8, digest);
}

std::uint64_t Index::root() {
  for (std::uint64_t page = 0; page < hashes_.size(); ++page) {
    if ((changed_[page] & hash_is_old) == 0) continue;
    hashes_[page] =
        store::plain_checksum(std::span(bytes_).subspan(page * block_bytes, block_bytes));
    changed_[page] &= static_cast<std::uint8_t>(~hash_is_old);
  }
  return store::plain_checksum(std::as_bytes(std::span(hashes_)));
}

bool Index::check_root(std::uint64_t root_expected) {
  set_all_changed();
  return root() == root_expected;
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
  std::fill(changed_.begin(), changed_.end(), static_cast<std::uint8_t>(both_copies | hash_is_old));
}

void Index::set_changed(std::uint64_t page) noexcept {
  changed_[page] |= both_copies;
}

void Index::set_written(unsigned copy) noexcept {
  for (std::uint8_t& page : changed_) {
    page &= static_cast<std::uint8_t>(~(1U << copy));
  }
}

}  // namespace calpe::array
