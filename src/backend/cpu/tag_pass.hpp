// SPDX-License-Identifier: Apache-2.0
// The loops of tags (docs/tags.md), templates over a Vector class as in matrix_pass.hpp.
//
//   take    a segment of a shard, digits x(t) of 64 bytes:   q(t) = x(t) + q(t-14) + q(t-15)
//   absorb  the last 15 q of each segment, digits w(t):      y(t) = w(t) + y(t-4) + y(t-5) + y(t-6)
//                                                                    + c^64 * y(t-8)
//   fold    the last 8 y to a tag
//
// Only `absorb` and `fold` multiply, so a long shard costs two XORs per vector.
#pragma once
#include "backend/cpu/matrix_pass.hpp"

namespace calpe::backend::cpu {

// One digit in memory. q(t) is digit t mod 15 of the state, where q(t-15) was; the next digit is
// q(t-14).
template <class V>
CALPE_INLINE void tag_step(std::byte* state, std::size_t phase, const std::byte* digit) {
  std::byte* const oldest = state + phase * tag_digit_bytes;
  const std::byte* const next =
      state + (phase + 1 == tag_state_digits ? 0 : phase + 1) * tag_digit_bytes;
  for (std::size_t at = 0; at < tag_digit_bytes; at += V::bytes) {
    V::store(oldest + at, V::add(V::load(digit + at), V::load(next + at), V::load(oldest + at)));
  }
}

// Digits in groups of 15, with the state in registers.
template <class V>
CALPE_INLINE void tag_groups(std::byte* state, const std::byte* from, std::size_t groups) {
  constexpr std::size_t group_bytes = tag_state_digits * tag_digit_bytes;
  for (std::size_t lane = 0; lane < tag_digit_bytes; lane += V::bytes) {
    typename V::Register q[tag_state_digits];
    CALPE_UNROLL
    for (std::size_t j = 0; j < tag_state_digits; ++j)
      q[j] = V::load(state + lane + j * tag_digit_bytes);
    const std::byte* digit = from + lane;
    for (std::size_t group = 0; group < groups; ++group, digit += group_bytes) {
      CALPE_UNROLL
      for (std::size_t j = 0; j < tag_state_digits; ++j) {
        q[j] = V::add(q[j], q[(j + 1) % tag_state_digits], V::load(digit + j * tag_digit_bytes));
      }
    }
    CALPE_UNROLL
    for (std::size_t j = 0; j < tag_state_digits; ++j)
      V::store(state + lane + j * tag_digit_bytes, q[j]);
  }
}

template <class V>
void tag_take(std::byte* state, std::size_t first_digit, const std::byte* from, std::size_t bytes) {
  std::size_t phase = first_digit % tag_state_digits;
  const auto step = [&](const std::byte* digit) CALPE_INLINE_LAMBDA {
    tag_step<V>(state, phase, digit);
    phase = phase + 1 == tag_state_digits ? 0 : phase + 1;
  };
  for (; phase != 0 && bytes >= tag_digit_bytes; bytes -= tag_digit_bytes, from += tag_digit_bytes)
    step(from);
  if (phase == 0) {
    constexpr std::size_t group_bytes = tag_state_digits * tag_digit_bytes;
    const std::size_t groups = bytes / group_bytes;
    tag_groups<V>(state, from, groups);
    from += groups * group_bytes;
    bytes -= groups * group_bytes;
  }
  for (; bytes >= tag_digit_bytes; bytes -= tag_digit_bytes, from += tag_digit_bytes)
    step(from);
  if (bytes > 0) {
    alignas(tag_digit_bytes) std::byte last[tag_digit_bytes] = {};
    std::memcpy(last, from, bytes);
    step(last);
  }
}

// All 15 digits of the state, oldest first: digit `phase` is the oldest.
template <class V>
void tag_absorb(std::byte* sums, const std::byte* state, std::size_t phase,
                const std::byte* tables) {
  const std::byte* digits[tag_state_digits];
  for (std::size_t j = 0; j < tag_state_digits; ++j) {
    const std::size_t slot = phase + j;
    digits[j] =
        state + (slot < tag_state_digits ? slot : slot - tag_state_digits) * tag_digit_bytes;
  }
  for (std::size_t lane = 0; lane < tag_digit_bytes; lane += V::bytes) {
    typename V::Register y[tag_bytes];  // y(t) is y[t mod 8]; oldest first at the start
    CALPE_UNROLL
    for (std::size_t j = 0; j < tag_bytes; ++j)
      y[j] = V::load(sums + lane + j * tag_digit_bytes);
    CALPE_UNROLL
    for (std::size_t t = 0; t < tag_state_digits; ++t) {
      const typename V::Register near = V::add(y[(t + 4) % 8], y[(t + 3) % 8], y[(t + 2) % 8]);
      y[t % 8] = V::add(V::load(digits[t] + lane), V::times(tables, y[t % 8]), near);
    }
    CALPE_UNROLL
    for (std::size_t j = 0; j < tag_bytes; ++j)
      V::store(sums + lane + j * tag_digit_bytes, y[(tag_state_digits + j) % 8]);
  }
}

// Memory of the steps of tag_fold, which starts as zeros. A step with digits of s bytes has its
// quotient, 8 digits with 4 zeros behind them, and its remainder, 8 digits with 6 zeros of half the
// size before them. A vector may reach beyond the last.
inline constexpr std::size_t tag_fold_bytes = (8 + 4 + 3 + 8) * 2 * tag_digit_bytes + 64;
inline constexpr std::size_t tag_fold_quotient = 15;  // from a quotient to its remainder, in digits
inline constexpr std::size_t tag_fold_remainder = 8;  // from there to the next quotient

template <class V>
CALPE_INLINE void tag_store(std::byte* to, typename V::Register v, std::size_t bytes) {
  if constexpr (V::bytes > 1) {
    if (bytes < V::bytes) return V::store_part(to, v, bytes);
  }
  V::store(to, v);
}

// One division of 16 digits of s bytes, or of 8 followed by 8 of zeros if there is no step before.
// `before` is the remainder of that.
template <class V>
CALPE_INLINE void tag_divide(std::byte* quotient, const std::byte* before, std::size_t s,
                             const std::byte* table) {
  const std::size_t bytes = tag_bytes * s;
  for (std::size_t at = 0; before != nullptr && at < bytes; at += V::bytes) {
    const std::byte* const h = before + at;
    const auto far = V::add(V::load(h - 4 * s), V::load(h - 5 * s), V::load(h - 6 * s));
    tag_store<V>(quotient + at, V::add(V::load(h), far), bytes);
  }
  std::byte* const remainder = quotient + tag_fold_quotient * s;
  for (std::size_t at = 0; at < bytes; at += V::bytes) {
    const std::byte* const q = quotient + at;
    const auto far = V::add(V::load(q + 2 * s), V::load(q + 3 * s), V::load(q + 4 * s));
    auto r = V::add(far, V::times(table, V::load(q)));
    if (before != nullptr) r = V::add(r, V::load(before + bytes + at));
    tag_store<V>(remainder + at, r, bytes);
  }
}

// Divides, with digits of s bytes, s from 64 to 1: z^8s + z^4s + z^3s + z^2s + c^s is the s-th
// power of z^8 + z^4 + z^3 + z^2 + c. Each division leaves half of the bytes. Example for s = 32:
// the remainder of the step before has 16 digits; the first 8 make the quotient, digit i of it is
// h(i) + h(i-4) + h(i-5) + h(i-6). A few tags at a time, as each step waits for the one before.
template <class V>
void tag_fold(std::byte* tags, const std::byte* sums, std::size_t stride, std::size_t count,
              const std::byte* tables) {
  alignas(64) std::byte memory[tag_fold_max][tag_fold_bytes];
  std::memset(memory, 0, count * tag_fold_bytes);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(memory[i], sums + i * stride, tag_bytes * tag_digit_bytes);
  std::size_t quotient = 0;
  std::size_t before = 0;
  for (std::size_t s = tag_digit_bytes; s > 0; s /= 2, tables += table_bytes<V>) {
    for (std::size_t i = 0; i < count; ++i) {
      tag_divide<V>(memory[i] + quotient, s == tag_digit_bytes ? nullptr : memory[i] + before, s,
                    tables);
    }
    before = quotient + tag_fold_quotient * s;
    quotient = before + tag_fold_remainder * s;
  }
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(tags + i * tag_bytes, memory[i] + before, tag_bytes);
}

template <class Multiply, class Xor>
constexpr TagKernels tag_kernels() {
  return {&tag_take<Xor>, &tag_absorb<Multiply>, &tag_fold<Multiply>};
}

}  // namespace calpe::backend::cpu
