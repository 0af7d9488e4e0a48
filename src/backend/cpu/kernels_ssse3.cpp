// SPDX-License-Identifier: Apache-2.0
// SSSE3: a product is two pshufb, one for each half of the byte.
#include <immintrin.h>

#include "backend/cpu/transform_pass.hpp"

namespace calpe::backend::cpu {
namespace {

struct Ssse3 {
  using Register = __m128i;
  struct Operand {
    Register low;   // x & 0x0F, byte by byte
    Register high;  // x >> 4
  };
  static constexpr TableKind table_kind = TableKind::nibbles;
  static constexpr std::size_t bytes = 16;
  static constexpr std::size_t registers = 16;
  static constexpr bool three_input_xor = false;
  static constexpr bool pairs = false;
  static constexpr std::size_t rows_max = 10;
  static constexpr unsigned log_in_registers = 3;
  static constexpr unsigned wide_log_radix = 2;
  static constexpr std::size_t unroll(std::size_t rows) {
    return rows <= 2 ? 3 : rows <= 4 ? 2 : 1;
  }

  static CALPE_INLINE Register zero() { return _mm_setzero_si128(); }
  static CALPE_INLINE Register load(const std::byte* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
  static CALPE_INLINE void store(std::byte* to, Register v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
  }
  static CALPE_INLINE void stream(std::byte* to, Register v) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), v);
  }
  static void fence() { _mm_sfence(); }
  static CALPE_INLINE Register load_part(const std::byte* from, std::size_t count) {
    return load_staged<Ssse3>(from, count);
  }
  static CALPE_INLINE void store_part(std::byte* to, Register v, std::size_t count) {
    store_staged<Ssse3>(to, v, count);
  }
  static CALPE_INLINE Register add(Register a, Register b) { return _mm_xor_si128(a, b); }
  static CALPE_INLINE Register add(Register a, Register b, Register c) { return add(a, add(b, c)); }
  static CALPE_INLINE Register note(Register noted, Register a, Register b) {
    return _mm_or_si128(noted, add(a, b));
  }
  static CALPE_INLINE bool is_zero(Register v) {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(v, zero())) == 0xFFFF;
  }

  static CALPE_INLINE Operand prepare(Register v) {
    const Register mask = _mm_set1_epi8(0x0F);
    return {_mm_and_si128(v, mask), _mm_and_si128(_mm_srli_epi64(v, 4), mask)};
  }
  static CALPE_INLINE Register load_table(const std::byte* table) { return load(table); }
  static CALPE_INLINE Register look_up(Register table, Register index) {
    return _mm_shuffle_epi8(table, index);
  }
  static CALPE_INLINE void keep_order(Register& v) { asm("" : "+x"(v)); }
  static CALPE_INLINE Register times(const std::byte* table, Register x) {
    return times_nibbles<Ssse3>(table, x);
  }
  template <bool First, std::size_t Unroll>
  static CALPE_INLINE void multiply(Register (&sums)[Unroll], const std::byte* table,
                                    const Operand (&x)[Unroll]) {
    multiply_nibbles<Ssse3, First>(sums, table, x);
  }
};

}  // namespace

constinit const CpuKernels kernels_ssse3 = make_kernels<Ssse3>("ssse3", "SSSE3");

}  // namespace calpe::backend::cpu
