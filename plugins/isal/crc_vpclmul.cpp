// SPDX-License-Identifier: Apache-2.0
// CRCs with carry-less multiplication of 64 bytes, four times 16.
#include "isal/crc_fold.hpp"

namespace calpe_isal {

namespace {

// These use the forms with a mask, because g++ 12 warns of an uninitialised value in its header for
// the others.
__m512i four_times(__m128i part) {
  return _mm512_maskz_broadcast_i32x4(0xFFFF, part);
}
template <int number>
__m128i part_of(__m512i value) {
  return _mm512_maskz_extracti32x4_epi32(0xF, value, number);
}

template <bool is_reflected>
struct Vector64 {
  static constexpr std::size_t bytes = 64;
  using Part = Vector16<is_reflected>;
  __m512i value;

  static Vector64 load(const Byte* from) {
    const __m512i loaded = _mm512_loadu_si512(from);
    if constexpr (is_reflected) return {loaded};
    const __m512i order =
        four_times(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    return {_mm512_shuffle_epi8(loaded, order)};
  }
  void add_register(std::uint64_t reg) {
    Part start{_mm_setzero_si128()};
    start.add_register(reg);
    value = _mm512_xor_si512(value, _mm512_zextsi128_si512(start.value));
  }
  static __m512i constants(const FoldConstants& fold) { return four_times(Part::constants(fold)); }
  Vector64 onto(Vector64 next, __m512i fold) const {
    constexpr int sum_of_three = 0x96;
    return {_mm512_ternarylogic_epi64(next.value, _mm512_clmulepi64_epi128(value, fold, 0x00),
                                      _mm512_clmulepi64_epi128(value, fold, 0x11), sum_of_three)};
  }
  Part sum_of_parts(__m128i one_further) const {
    return Part{part_of<0>(value)}
        .onto({part_of<1>(value)}, one_further)
        .onto({part_of<2>(value)}, one_further)
        .onto({part_of<3>(value)}, one_further);
  }
};

template <bool is_reflected>
std::uint64_t fold(const CrcFolds& folds, std::uint64_t reg, const Byte* data, std::size_t bytes,
                   std::size_t& done) {
  using Part = Vector16<is_reflected>;
  const auto wide =
      fold_all<Vector64<is_reflected>, 4>(folds.by_256, folds.by_64, reg, data, bytes, done);
  const __m128i one_further = Part::constants(folds.by_16);
  Part sum = wide.sum_of_parts(one_further);
  for (; bytes - done >= Part::bytes; done += Part::bytes)
    sum = sum.onto(Part::load(data + done), one_further);
  return remainder_of<is_reflected>(folds, sum.value);
}

}  // namespace

std::uint64_t fold_vpclmul(const CrcFolds& folds, std::uint64_t reg, const Byte* data,
                           std::size_t bytes, std::size_t& done) {
  return folds.is_reflected ? fold<true>(folds, reg, data, bytes, done)
                            : fold<false>(folds, reg, data, bytes, done);
}

}  // namespace calpe_isal
