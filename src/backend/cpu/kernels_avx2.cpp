// SPDX-License-Identifier: Apache-2.0
// AVX2: a product is two vpshufb, one for each half of the byte.
#include <immintrin.h>

#include "backend/cpu/transform_pass.hpp"

namespace calpe::backend::cpu {
namespace {

struct Avx2 {
  using Register = __m256i;
  struct Operand {
    Register low;   // x & 0x0F, byte by byte
    Register high;  // x >> 4
  };
  static constexpr TableKind table_kind = TableKind::nibbles;
  static constexpr std::size_t bytes = 32;
  static constexpr std::size_t registers = 16;
  static constexpr bool three_input_xor = false;
  static constexpr bool pairs = false;
  static constexpr std::size_t rows_max = 10;
  static constexpr unsigned log_in_registers = 3;
  static constexpr unsigned wide_log_radix = 2;
  static constexpr std::size_t unroll(std::size_t rows) {
    return rows <= 2 ? 3 : rows <= 4 ? 2 : 1;
  }

  static CALPE_INLINE Register zero() { return _mm256_setzero_si256(); }
  static CALPE_INLINE Register load(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static CALPE_INLINE void store(std::byte* to, Register v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
  }
  static CALPE_INLINE void stream(std::byte* to, Register v) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), v);
  }
  static void fence() { _mm_sfence(); }
  static CALPE_INLINE Register load_part(const std::byte* from, std::size_t count) {
    return load_staged<Avx2>(from, count);
  }
  static CALPE_INLINE void store_part(std::byte* to, Register v, std::size_t count) {
    store_staged<Avx2>(to, v, count);
  }
  static CALPE_INLINE Register add(Register a, Register b) { return _mm256_xor_si256(a, b); }
  static CALPE_INLINE Register add(Register a, Register b, Register c) { return add(a, add(b, c)); }
  static CALPE_INLINE Register note(Register noted, Register a, Register b) {
    return _mm256_or_si256(noted, add(a, b));
  }
  static CALPE_INLINE bool is_zero(Register v) { return _mm256_testz_si256(v, v) != 0; }

  static CALPE_INLINE Operand prepare(Register v) {
    const Register mask = _mm256_set1_epi8(0x0F);
    return {_mm256_and_si256(v, mask), _mm256_and_si256(_mm256_srli_epi64(v, 4), mask)};
  }
  static CALPE_INLINE Register load_table(const std::byte* table) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  }
  static CALPE_INLINE Register look_up(Register table, Register index) {
    return _mm256_shuffle_epi8(table, index);
  }
  static CALPE_INLINE void keep_order(Register& v) { asm("" : "+x"(v)); }
  static CALPE_INLINE Register times(const std::byte* table, Register x) {
    return times_nibbles<Avx2>(table, x);
  }
  template <bool First, std::size_t Unroll>
  static CALPE_INLINE void multiply(Register (&sums)[Unroll], const std::byte* table,
                                    const Operand (&x)[Unroll]) {
    multiply_nibbles<Avx2, First>(sums, table, x);
  }
};

}  // namespace

constinit const CpuKernels kernels_avx2 = make_kernels<Avx2>("avx2", "AVX2");

}  // namespace calpe::backend::cpu
