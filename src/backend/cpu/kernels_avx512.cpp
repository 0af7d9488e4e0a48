// SPDX-License-Identifier: Apache-2.0
// AVX-512 without GFNI: a product is two vpshufb, added to the sum by one vpternlogq.
#include <immintrin.h>

#include "backend/cpu/transform_pass.hpp"

namespace calpe::backend::cpu {
namespace {

struct Avx512 {
  using Register = __m512i;
  struct Operand {
    Register low;   // x & 0x0F, byte by byte
    Register high;  // x >> 4
  };
  static constexpr TableKind table_kind = TableKind::nibbles;
  static constexpr std::size_t bytes = 64;
  static constexpr std::size_t registers = 32;
  static constexpr bool three_input_xor = true;
  static constexpr bool pairs = false;
  static constexpr std::size_t rows_max = 10;
  static constexpr unsigned log_in_registers = 4;
  static constexpr unsigned wide_log_radix = 2;
  static constexpr std::size_t unroll(std::size_t rows) { return rows <= 4 ? 4 : 2; }

  static CALPE_INLINE Register zero() { return _mm512_setzero_si512(); }
  static CALPE_INLINE Register load(const std::byte* from) { return _mm512_loadu_si512(from); }
  static CALPE_INLINE void store(std::byte* to, Register v) { _mm512_storeu_si512(to, v); }
  static CALPE_INLINE void stream(std::byte* to, Register v) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), v);
  }
  static void fence() { _mm_sfence(); }
  // Masked-out bytes are not accessed and cannot fault.
  static CALPE_INLINE __mmask64 first_bytes(std::size_t count) {
    return ~__mmask64{0} >> (64 - count);
  }
  static CALPE_INLINE Register load_part(const std::byte* from, std::size_t count) {
    return _mm512_maskz_loadu_epi8(first_bytes(count), from);
  }
  static CALPE_INLINE void store_part(std::byte* to, Register v, std::size_t count) {
    _mm512_mask_storeu_epi8(to, first_bytes(count), v);
  }
  static CALPE_INLINE Register add(Register a, Register b) { return _mm512_xor_si512(a, b); }
  static CALPE_INLINE Register add(Register a, Register b, Register c) {
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
  }
  static CALPE_INLINE Register note(Register noted, Register a, Register b) {
    return _mm512_ternarylogic_epi64(noted, a, b, 0xF6);  // noted | (a ^ b)
  }
  static CALPE_INLINE bool is_zero(Register v) { return _mm512_test_epi64_mask(v, v) == 0; }

  // Uses the masked forms (with a mask of all ones, at no cost), because g++ 12 warns about its own
  // unmasked ones: GCC bug 105593.
  static CALPE_INLINE Operand prepare(Register v) {
    const Register mask = _mm512_set1_epi8(0x0F);
    const Register shifted = _mm512_maskz_srli_epi64(0xFF, v, 4);
    return {_mm512_and_si512(v, mask), _mm512_and_si512(shifted, mask)};
  }
  static CALPE_INLINE Register load_table(const std::byte* table) {
    return _mm512_maskz_broadcast_i32x4(0xFFFF,
                                        _mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  }
  static CALPE_INLINE Register look_up(Register table, Register index) {
    return _mm512_shuffle_epi8(table, index);
  }
  static CALPE_INLINE Register times(const std::byte* table, Register x) {
    return times_nibbles<Avx512>(table, x);
  }
  template <bool First, std::size_t Unroll>
  static CALPE_INLINE void multiply(Register (&sums)[Unroll], const std::byte* table,
                                    const Operand (&x)[Unroll]) {
    const Register low = load_table(table);
    const Register high = load_table(table + 16);
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u) {
      const Register a = look_up(low, x[u].low);
      const Register b = look_up(high, x[u].high);
      sums[u] = First ? add(a, b) : add(sums[u], a, b);
    }
  }
};

}  // namespace

constinit const CpuKernels kernels_avx512 = make_kernels<Avx512>("avx512", "AVX-512");

}  // namespace calpe::backend::cpu
