// SPDX-License-Identifier: Apache-2.0
// How many pieces of a size hold a length, and how long these are together.
#pragma once
#include <concepts>
#include <type_traits>

namespace calpe {

// a / b, rounded up; never overflows.
template <std::unsigned_integral T>
constexpr T divide_up(T a, std::type_identity_t<T> b) noexcept {
  return static_cast<T>(a / b + (a % b != 0 ? 1U : 0U));
}

// The next multiple of `step`.
template <std::unsigned_integral T>
constexpr T round_up(T value, std::type_identity_t<T> step) noexcept {
  return static_cast<T>(divide_up(value, step) * step);
}

}  // namespace calpe
