// SPDX-License-Identifier: Apache-2.0
// Sums of Adler-32 over blocks of 32 bytes.
#include <immintrin.h>

#include "isal/checksum_kernels.hpp"

namespace calpe_isal {

namespace {

std::uint64_t sum_of_words(__m256i v) {
  alignas(32) std::uint32_t words[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(words), v);
  std::uint64_t sum = 0;
  for (const std::uint32_t word : words)
    sum += word;
  return sum;
}

}  // namespace

// Byte i of a block counts 32 - i times in b at the end of the block, and 32 times more in each
// later block. 32-bit words are enough for 1024 blocks: `earlier` is largest, with at most
// 1024 * 1023 / 2 * 8 * 255 < 2^30 in a word.
AdlerSums adler_avx2(const Byte* data, std::size_t blocks) {
  const __m256i weights =
      _mm256_setr_epi8(32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14,
                       13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i plain = _mm256_setzero_si256();     // sum of all bytes
  __m256i earlier = _mm256_setzero_si256();   // sum of `plain` before each block
  __m256i weighted = _mm256_setzero_si256();  // sums within blocks
  for (std::size_t i = 0; i < blocks; ++i) {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + 32 * i));
    earlier = _mm256_add_epi32(earlier, plain);
    plain = _mm256_add_epi32(plain, _mm256_sad_epu8(block, _mm256_setzero_si256()));
    // At most 255 * (32 + 31) < 2^15.
    weighted =
        _mm256_add_epi32(weighted, _mm256_madd_epi16(_mm256_maddubs_epi16(block, weights), ones));
  }
  return {sum_of_words(plain), 32 * sum_of_words(earlier) + sum_of_words(weighted)};
}

}  // namespace calpe_isal
