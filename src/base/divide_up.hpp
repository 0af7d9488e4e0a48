// SPDX-License-Identifier: Apache-2.0
// Integer division and multiples, rounded up.
#pragma once
#include <concepts>
#include <type_traits>

namespace calpe {

// Returns a / b, rounded up; never overflows.
template <std::unsigned_integral T>
constexpr T divide_up(T a, std::type_identity_t<T> b) noexcept {
  return static_cast<T>(a / b + (a % b != 0 ? 1U : 0U));
}

// Returns the next multiple of `step`.
template <std::unsigned_integral T>
constexpr T round_up(T value, std::type_identity_t<T> step) noexcept {
  return static_cast<T>(divide_up(value, step) * step);
}

}  // namespace calpe
