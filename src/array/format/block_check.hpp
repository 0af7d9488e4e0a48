// SPDX-License-Identifier: Apache-2.0
// The checksum of a block: XXH3 xor a mask of its member, slot, stripe and column, so that a
// misplaced block or one of another stripe does not match.
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
  // The checksum of a block of zeros. A block with this checksum need not be read.
  std::uint64_t of_zeros(const BlockPlace& place) const noexcept {
    return finish(zeros_ ^ mask(place));
  }
  // The plain_checksum() of a block with checksum `check`, and of zeros. For verifying many blocks.
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
