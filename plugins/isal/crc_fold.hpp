// SPDX-License-Identifier: Apache-2.0
// The loop of all CrcFold kernels. Included once by each of their files, which are compiled with
// different flags, so it has internal linkage and uses nothing of the standard library.
#pragma once
#include <immintrin.h>

#include "isal/checksum_kernels.hpp"

namespace calpe_isal {
namespace {

// 16 bytes of a message. Unless reflected, the bytes are reversed: the highest power is in the top
// bit of the register.
template <bool is_reflected>
struct Vector16 {
  static constexpr std::size_t bytes = 16;
  __m128i value;

  static Vector16 load(const Byte* from) {
    const __m128i loaded = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if constexpr (is_reflected) return {loaded};
    return {_mm_shuffle_epi8(loaded,
                             _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))};
  }
  void add_register(std::uint64_t reg) {
    const auto word = static_cast<long long>(reg);
    value = _mm_xor_si128(value, is_reflected ? _mm_set_epi64x(0, word) : _mm_set_epi64x(word, 0));
  }
  static __m128i constants(const FoldConstants& fold) {
    return _mm_set_epi64x(static_cast<long long>(fold.high), static_cast<long long>(fold.low));
  }
  // Moves this vector by a distance and adds the one that is there.
  Vector16 onto(Vector16 next, __m128i fold) const {
    return {_mm_xor_si128(next.value, _mm_xor_si128(_mm_clmulepi64_si128(value, fold, 0x00),
                                                    _mm_clmulepi64_si128(value, fold, 0x11)))};
  }
};

// Folds `bytes` bytes, at least one vector, into one vector; counts them in `done`. `count` vectors
// at once hide the latency of the multiplication. `far` is a distance of `count` vectors, `near` of
// one.
template <class Vector, std::size_t count>
Vector fold_all(const FoldConstants& far, const FoldConstants& near, std::uint64_t reg,
                const Byte* data, std::size_t bytes, std::size_t& done) {
  constexpr std::size_t step = count * Vector::bytes;
  const auto one_further = Vector::constants(near);
  Vector first = Vector::load(data);
  first.add_register(reg);
  done = Vector::bytes;
  if (bytes >= step) {
    const auto all_further = Vector::constants(far);
    Vector vectors[count];
    vectors[0] = first;
    for (std::size_t i = 1; i < count; ++i)
      vectors[i] = Vector::load(data + i * Vector::bytes);
    for (done = step; bytes - done >= step; done += step) {
      for (std::size_t i = 0; i < count; ++i)
        vectors[i] = vectors[i].onto(Vector::load(data + done + i * Vector::bytes), all_further);
    }
    first = vectors[0];
    for (std::size_t i = 1; i < count; ++i)
      first = first.onto(vectors[i], one_further);
  }
  for (; bytes - done >= Vector::bytes; done += Vector::bytes)
    first = first.onto(Vector::load(data + done), one_further);
  return first;
}

inline std::uint64_t low_word(__m128i value) {
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(value));
}
inline std::uint64_t high_word(__m128i value) {
  return low_word(_mm_srli_si128(value, 8));
}
inline __m128i product(std::uint64_t a, std::uint64_t b) {
  return _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(a)),
                              _mm_cvtsi64_si128(static_cast<long long>(b)), 0);
}

// The register after a message of 16 bytes, A * x^64 + B: A * x^128 + B * x^64 modulo P.
// A * (x^128 mod P) + B * x^64 is S * x^64 + T. With Q = x^128 / P rounded down, S * Q / x^64
// rounded down is the quotient of S * x^64 and P (Barrett), and the remainder is in the 64 low bits
// of T - quotient * P. Products of reflected numbers have one factor x too many, so their words
// begin one bit further.
template <bool is_reflected>
std::uint64_t remainder_of(const CrcFolds& folds, __m128i value) {
  if constexpr (is_reflected) {
    const __m128i sum =
        _mm_xor_si128(product(low_word(value), folds.by_8), _mm_srli_si128(value, 8));
    const std::uint64_t quotient = low_word(sum) ^ low_word(product(low_word(sum), folds.quotient))
                                                       << 1;
    const __m128i whole = product(quotient, folds.polynomial);
    return high_word(sum) ^ (high_word(whole) << 1 | low_word(whole) >> 63);
  } else {
    const __m128i sum =
        _mm_xor_si128(product(high_word(value), folds.by_8), _mm_slli_si128(value, 8));
    const std::uint64_t quotient =
        high_word(sum) ^ high_word(product(high_word(sum), folds.quotient));
    return low_word(sum) ^ low_word(product(quotient, folds.polynomial));
  }
}

}  // namespace
}  // namespace calpe_isal
