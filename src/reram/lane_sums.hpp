// SPDX-License-Identifier: Apache-2.0
// 64 sums updated at once: bit t of a word adds 0 or 1 to sum t. Stored as bit planes, so that the
// sums of a bit-line over 64 activations cost a few instructions per active row.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace calpe::reram {

class LaneSums {
 public:
  void add(std::uint64_t bits) noexcept { add_from(0, bits); }
  // Adds both words; cheaper than two calls for one.
  void add(std::uint64_t a, std::uint64_t b) noexcept {
    const std::uint64_t either = a ^ b;
    const std::uint64_t carry = (a & b) | (either & planes_[0]);
    planes_[0] ^= either;
    add_from(1, carry);
  }
  void keep(std::uint64_t lanes) noexcept {
    for (std::uint64_t& plane : planes_)
      plane &= lanes;
  }

  std::uint64_t lowest_bits() const noexcept { return planes_[0]; }
  // Lanes whose sum is at least 2^bits.
  std::uint64_t beyond(unsigned bits) const noexcept {
    std::uint64_t lanes = 0;
    for (std::size_t p = bits; p < planes_.size(); ++p)
      lanes |= planes_[p];
    return lanes;
  }
  std::uint64_t largest() const noexcept {
    std::uint64_t candidates = ~std::uint64_t{0};
    std::uint64_t sum = 0;
    for (std::size_t p = planes_.size(); p-- != 0;) {
      const std::uint64_t higher = candidates & planes_[p];
      if (higher == 0) continue;
      candidates = higher;
      sum |= std::uint64_t{1} << p;
    }
    return sum;
  }

 private:
  void add_from(std::size_t plane, std::uint64_t carry) noexcept {
    for (; carry != 0; ++plane) {
      const std::uint64_t next = planes_[plane] & carry;
      planes_[plane] ^= carry;
      carry = next;
    }
  }

  std::array<std::uint64_t, 14> planes_ = {};  // up to 16,383, more than the rows of any crossbar
};

}  // namespace calpe::reram
