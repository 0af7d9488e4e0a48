// SPDX-License-Identifier: Apache-2.0
// AVX2 with GFNI: a product is one vgf2p8affineqb of 32 bytes.
#include <immintrin.h>

#include "backend/cpu/transform_pass.hpp"

namespace calpe::backend::cpu {
namespace {

struct Avx2Gfni {
  using Register = __m256i;
  using Operand = __m256i;  // nothing to prepare
  static constexpr TableKind table_kind = TableKind::affine;
  static constexpr std::size_t bytes = 32;
  static constexpr std::size_t registers = 16;
  static constexpr bool three_input_xor = false;
  static constexpr bool pairs = false;
  static constexpr std::size_t rows_max = 6;
  static constexpr unsigned log_in_registers = 3;
  static constexpr unsigned wide_log_radix = 2;
  static constexpr std::size_t unroll(std::size_t rows) { return rows <= 2 ? 4 : 2; }

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
    return load_staged<Avx2Gfni>(from, count);
  }
  static CALPE_INLINE void store_part(std::byte* to, Register v, std::size_t count) {
    store_staged<Avx2Gfni>(to, v, count);
  }
  static CALPE_INLINE Register add(Register a, Register b) { return _mm256_xor_si256(a, b); }
  static CALPE_INLINE Register add(Register a, Register b, Register c) { return add(a, add(b, c)); }
  static CALPE_INLINE Register note(Register noted, Register a, Register b) {
    return _mm256_or_si256(noted, add(a, b));
  }
  static CALPE_INLINE bool is_zero(Register v) { return _mm256_testz_si256(v, v) != 0; }

  static CALPE_INLINE Operand prepare(Register v) { return v; }
  static CALPE_INLINE Register load_matrix(const std::byte* table) {
    long long matrix;
    std::memcpy(&matrix, table, sizeof matrix);
    return _mm256_set1_epi64x(matrix);
  }
  static CALPE_INLINE Register times(const std::byte* table, Register x) {
    return _mm256_gf2p8affine_epi64_epi8(x, load_matrix(table), 0);
  }
  template <bool First, std::size_t Unroll>
  static CALPE_INLINE void multiply(Register (&sums)[Unroll], const std::byte* table,
                                    const Operand (&x)[Unroll]) {
    const Register factor = load_matrix(table);
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u) {
      const Register product = _mm256_gf2p8affine_epi64_epi8(x[u], factor, 0);
      sums[u] = First ? product : add(sums[u], product);
    }
  }
};

}  // namespace

constinit const CpuKernels kernels_avx2_gfni =
    make_kernels<Avx2Gfni>("avx2-gfni", "AVX2 with GFNI");

}  // namespace calpe::backend::cpu
