// SPDX-License-Identifier: Apache-2.0
// The checksum of a block of an array: XXH3 with a mask that says which block of which member, slot
// and stripe it is, so that a block that landed elsewhere or is another stripe's does not match.
#pragma once
#include <cstdint>
#include <span>

#include "store/format/block_checksum.hpp"

namespace calpe::array {

inline constexpr std::uint64_t unknown_check = 0;  // matches nothing

struct BlockPlace {
  unsigned role = 0;
  std::uint64_t stripe = 0;
  std::uint32_t slot = 0;
  std::uint32_t column = 0;
};

class BlockCheck {
 public:
  explicit BlockCheck(const Uuid& array);

  std::uint64_t of(const BlockPlace& place, std::span<const std::byte> block) const noexcept {
    return finish(store::plain_checksum(block) ^ mask(place));
  }
  // Of a block of zeros: one whose checksum is this need not be read.
  std::uint64_t of_zeros(const BlockPlace& place) const noexcept {
    return finish(zeros_ ^ mask(place));
  }
  // What plain_checksum() of the block must be, and is for zeros: for those who verify many.
  std::uint64_t plain(const BlockPlace& place, std::uint64_t check) const noexcept {
    return check ^ mask(place);
  }
  std::uint64_t plain_zeros() const noexcept { return zeros_; }

 private:
  std::uint64_t mask(const BlockPlace& place) const noexcept {
    return store::block_mask({.uuid = array_,
                              .generation = place.slot,
                              .stripe = place.stripe,
                              .shard = (std::uint64_t{place.role} << 32U) | place.column});
  }
  static std::uint64_t finish(std::uint64_t check) noexcept {
    return check == unknown_check ? 1 : check;
  }

  Uuid array_;
  std::uint64_t zeros_;
};

}  // namespace calpe::array
