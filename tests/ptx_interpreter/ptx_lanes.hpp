// SPDX-License-Identifier: Apache-2.0
// Applies a formula to all lanes of a block. Inactive lanes keep their value.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ptx_interpreter/ptx_step.hpp"

// A target may be a source: lane i depends on lane i only, which the compiler cannot know.
#if defined(__clang__)
#define CALPE_PTX_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define CALPE_PTX_LANES _Pragma("GCC ivdep")
#endif

namespace calpe::ptx {

template <class T>
using Signed = std::make_signed_t<T>;
// Twice the bits, if such a type exists.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint64_t>;
template <class T>
inline constexpr unsigned bits_of = 8 * sizeof(T);

template <class T, class Formula>
void for_lanes(T* target, const Lanes& lanes, Formula formula) {
  if (lanes.are_all_active) {
    CALPE_PTX_LANES
    for (std::size_t i = 0; i < lanes.count; ++i)
      target[i] = formula(i);
  } else {
    CALPE_PTX_LANES
    for (std::size_t i = 0; i < lanes.count; ++i) {
      const T value = formula(i);
      target[i] = lanes.active[i] != 0 ? value : target[i];
    }
  }
}

template <class F, class T>
void unary(const Step& step, const Lanes& lanes) {
  const T* a = step.source<T>(0);
  for_lanes(step.target<T>(), lanes, [=](std::size_t i) { return F::of(a[i]); });
}
template <class F, class T>
void binary(const Step& step, const Lanes& lanes) {
  const T* a = step.source<T>(0);
  const T* b = step.source<T>(1);
  for_lanes(step.target<T>(), lanes, [=](std::size_t i) { return F::of(a[i], b[i]); });
}
template <class F, class T>
void ternary(const Step& step, const Lanes& lanes) {
  const T* a = step.source<T>(0);
  const T* b = step.source<T>(1);
  const T* c = step.source<T>(2);
  for_lanes(step.target<T>(), lanes, [=](std::size_t i) { return F::of(a[i], b[i], c[i]); });
}
// b counts bits. It is usually a constant, which allows one vector shift.
template <class F, class T>
void shift(const Step& step, const Lanes& lanes) {
  const T* a = step.source<T>(0);
  const std::uint32_t* b = step.source<std::uint32_t>(1);
  const std::uint32_t first = b[0];
  if (step.is_number[1]) {
    for_lanes(step.target<T>(), lanes, [=](std::size_t i) { return F::of(a[i], first); });
  } else {
    for_lanes(step.target<T>(), lanes, [=](std::size_t i) { return F::of(a[i], b[i]); });
  }
}

}  // namespace calpe::ptx
