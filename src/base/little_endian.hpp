// SPDX-License-Identifier: Apache-2.0
// Converts between numbers and the little-endian bytes of files. On a little-endian machine this is
// a copy.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace calpe {

template <class T>
concept Number = std::is_integral_v<T> || std::is_enum_v<T>;

// Returns the number whose bytes in memory are `value` in little-endian order, and back.
template <Number T>
constexpr T swap_unless_little(T value) noexcept {
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<T>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  } else {
    static_assert(sizeof(T) == 8);
    return static_cast<T>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
  }
}

// A number stored in file order, so that arrays of it can be read and written as a whole.
template <Number T>
class Little {
 public:
  constexpr Little() noexcept = default;
  // Implicit conversions, because it behaves like a number.
  constexpr Little(T value) noexcept : raw_(swap_unless_little(value)) {}
  constexpr operator T() const noexcept { return swap_unless_little(raw_); }

 private:
  T raw_ = {};
};

using LittleU64 = Little<std::uint64_t>;

// Takes a number, or bytes without an order (a UUID, a digest), at any alignment.
template <class T>
void store_little(std::byte* to, const T& value) noexcept {
  if constexpr (Number<T>) {
    const T raw = swap_unless_little(value);
    std::memcpy(to, &raw, sizeof raw);
  } else {
    static_assert(alignof(T) == 1 && std::is_trivially_copyable_v<T>, "no number inside");
    std::memcpy(to, &value, sizeof value);
  }
}

template <class T>
void load_little(const std::byte* from, T& value) noexcept {
  std::memcpy(&value, from, sizeof value);
  if constexpr (Number<T>) {
    value = swap_unless_little(value);
  } else {
    static_assert(alignof(T) == 1 && std::is_trivially_copyable_v<T>, "no number inside");
  }
}

template <class T>
T load_little(const std::byte* from) noexcept {
  T value = {};
  load_little(from, value);
  return value;
}

}  // namespace calpe
