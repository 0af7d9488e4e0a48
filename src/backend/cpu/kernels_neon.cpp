// SPDX-License-Identifier: Apache-2.0
// NEON (AArch64): a product is two tbl, one for each half of the byte.
#include <arm_neon.h>

#include "backend/cpu/transform_pass.hpp"

namespace calpe::backend::cpu {
namespace {

struct Neon {
  using Register = uint8x16_t;
  struct Operand {
    Register low;   // x & 0x0F, byte by byte
    Register high;  // x >> 4
  };
  static constexpr TableKind table_kind = TableKind::nibbles;
  static constexpr std::size_t bytes = 16;
  static constexpr std::size_t registers = 32;
  static constexpr bool three_input_xor = false;
  static constexpr bool pairs = false;
  static constexpr std::size_t rows_max = 8;
  static constexpr unsigned log_in_registers = 3;
  static constexpr unsigned wide_log_radix = 2;
  static constexpr std::size_t unroll(std::size_t rows) { return rows <= 4 ? 4 : 2; }

  static CALPE_INLINE Register zero() { return vdupq_n_u8(0); }
  static CALPE_INLINE Register load(const std::byte* from) {
    return vld1q_u8(reinterpret_cast<const std::uint8_t*>(from));
  }
  static CALPE_INLINE void store(std::byte* to, Register v) {
    vst1q_u8(reinterpret_cast<std::uint8_t*>(to), v);
  }
  static CALPE_INLINE Register load_part(const std::byte* from, std::size_t count) {
    return load_staged<Neon>(from, count);
  }
  static CALPE_INLINE void store_part(std::byte* to, Register v, std::size_t count) {
    store_staged<Neon>(to, v, count);
  }
  static CALPE_INLINE Register add(Register a, Register b) { return veorq_u8(a, b); }
  static CALPE_INLINE Register add(Register a, Register b, Register c) { return add(a, add(b, c)); }
  static CALPE_INLINE Register note(Register noted, Register a, Register b) {
    return vorrq_u8(noted, veorq_u8(a, b));
  }
  static CALPE_INLINE bool is_zero(Register v) { return vmaxvq_u8(v) == 0; }

  static CALPE_INLINE Operand prepare(Register v) {
    return {vandq_u8(v, vdupq_n_u8(0x0F)), vshrq_n_u8(v, 4)};
  }
  static CALPE_INLINE Register load_table(const std::byte* table) { return load(table); }
  static CALPE_INLINE Register look_up(Register table, Register index) {
    return vqtbl1q_u8(table, index);
  }
  static CALPE_INLINE void keep_order(Register& v) { asm("" : "+w"(v)); }
  static CALPE_INLINE Register times(const std::byte* table, Register x) {
    return times_nibbles<Neon>(table, x);
  }
  template <bool First, std::size_t Unroll>
  static CALPE_INLINE void multiply(Register (&sums)[Unroll], const std::byte* table,
                                    const Operand (&x)[Unroll]) {
    multiply_nibbles<Neon, First>(sums, table, x);
  }
};

}  // namespace

constinit const CpuKernels kernels_neon = make_kernels<Neon>("neon", "NEON");

}  // namespace calpe::backend::cpu
