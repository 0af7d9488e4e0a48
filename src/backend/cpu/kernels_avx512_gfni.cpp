// SPDX-License-Identifier: Apache-2.0
// AVX-512 with GFNI: a product is one vgf2p8affineqb; two are added to the sum by one vpternlogq.
#include <immintrin.h>

#include "backend/cpu/small_matrix_pass.hpp"
#include "backend/cpu/transform_pass.hpp"

namespace calpe::backend::cpu {
namespace {

struct Avx512Gfni {
  using Register = __m512i;
  using Operand = __m512i;  // nothing to prepare
  static constexpr TableKind table_kind = TableKind::affine;
  static constexpr std::size_t bytes = 64;
  static constexpr std::size_t registers = 32;
  static constexpr bool three_input_xor = true;
  static constexpr bool pairs = true;
  static constexpr std::size_t rows_max = 12;
  static constexpr unsigned log_in_registers = 4;
  static constexpr unsigned wide_log_radix = 3;
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

  static CALPE_INLINE void keep(Register& v) { asm("" : "+v"(v)); }
  static CALPE_INLINE Operand prepare(Register v) { return v; }
  static CALPE_INLINE Register load_matrix(const std::byte* table) {
    long long matrix;
    std::memcpy(&matrix, table, sizeof matrix);
    Register v = _mm512_set1_epi64(matrix);
#if defined(__clang__)
    // Keep it in a register, not a broadcast operand: clang before 20 encodes the address of that
    // incorrectly (llvm/llvm-project#120340).
    asm("" : "+v"(v));
#endif
    return v;
  }
  static CALPE_INLINE Register product(Register matrix, Register x) {
    return _mm512_gf2p8affine_epi64_epi8(x, matrix, 0);
  }
  static CALPE_INLINE Register times(const std::byte* table, Register x) {
    return product(load_matrix(table), x);
  }
  template <bool First, std::size_t Unroll>
  static CALPE_INLINE void multiply(Register (&sums)[Unroll], const std::byte* table,
                                    const Operand (&x)[Unroll]) {
    const Register matrix = load_matrix(table);
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u) {
      sums[u] = First ? product(matrix, x[u]) : add(sums[u], product(matrix, x[u]));
    }
  }
  template <bool First, std::size_t Unroll>
  static CALPE_INLINE void multiply(Register (&sums)[Unroll], const std::byte* table_x,
                                    const Operand (&x)[Unroll], const std::byte* table_y,
                                    const Operand (&y)[Unroll]) {
    const Register matrix_x = load_matrix(table_x);
    const Register matrix_y = load_matrix(table_y);
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u) {
      const Register x_product = product(matrix_x, x[u]);
      const Register y_product = product(matrix_y, y[u]);
      sums[u] = First ? add(x_product, y_product) : add(sums[u], x_product, y_product);
    }
  }
};

}  // namespace

constinit const CpuKernels kernels_avx512_gfni = [] {
  CpuKernels kernels = make_kernels<Avx512Gfni>("avx512-gfni", "AVX-512 with GFNI");
  fill_few<Avx512Gfni>(kernels);
  return kernels;
}();

}  // namespace calpe::backend::cpu
