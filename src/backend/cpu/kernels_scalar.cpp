// SPDX-License-Identifier: Apache-2.0
// Portable kernels: products by 256-byte rows, XORs by 64-bit words.
#include <cstdint>
#include <cstring>

#include "backend/cpu/transform_pass.hpp"

namespace calpe::backend::cpu {
namespace {

struct ScalarByte {
  using Register = unsigned;
  using Operand = unsigned;
  static constexpr TableKind table_kind = TableKind::product_row;
  static constexpr std::size_t bytes = 1;
  static constexpr std::size_t registers = 16;
  static constexpr bool three_input_xor = false;
  static constexpr bool pairs = false;
  static constexpr std::size_t rows_max = 4;
  static constexpr unsigned log_in_registers = 3;
  static constexpr unsigned wide_log_radix = 2;
  static constexpr std::size_t unroll(std::size_t) { return 2; }

  static CALPE_INLINE Register zero() { return 0; }
  static CALPE_INLINE Register load(const std::byte* from) { return static_cast<unsigned>(*from); }
  static CALPE_INLINE void store(std::byte* to, Register v) { *to = static_cast<std::byte>(v); }
  static CALPE_INLINE Register add(Register a, Register b) { return a ^ b; }
  static CALPE_INLINE Register add(Register a, Register b, Register c) { return a ^ b ^ c; }
  static CALPE_INLINE Register note(Register noted, Register a, Register b) {
    return noted | (a ^ b);
  }
  static CALPE_INLINE bool is_zero(Register v) { return v == 0; }
  static CALPE_INLINE Operand prepare(Register v) { return v; }
  static CALPE_INLINE Register times(const std::byte* table, Register x) {
    const std::byte* row;
    std::memcpy(&row, table, sizeof row);
    return load(row + x);
  }
  template <bool First, std::size_t Unroll>
  static CALPE_INLINE void multiply(Register (&sums)[Unroll], const std::byte* table,
                                    const Operand (&x)[Unroll]) {
    const std::byte* row;
    std::memcpy(&row, table, sizeof row);
    for (std::size_t u = 0; u < Unroll; ++u) {
      sums[u] = First ? load(row + x[u]) : sums[u] ^ load(row + x[u]);
    }
  }
};

struct ScalarWord {
  using Register = std::uint64_t;
  static constexpr std::size_t bytes = 8;

  static CALPE_INLINE Register zero() { return 0; }
  static CALPE_INLINE Register load(const std::byte* from) { return load_part(from, bytes); }
  static CALPE_INLINE void store(std::byte* to, Register v) { store_part(to, v, bytes); }
  static CALPE_INLINE Register load_part(const std::byte* from, std::size_t count) {
    Register v = 0;
    std::memcpy(&v, from, count);
    return v;
  }
  static CALPE_INLINE void store_part(std::byte* to, Register v, std::size_t count) {
    std::memcpy(to, &v, count);
  }
  static CALPE_INLINE Register add(Register a, Register b) { return a ^ b; }
  static CALPE_INLINE Register add(Register a, Register b, Register c) { return a ^ b ^ c; }
};

}  // namespace

constinit const CpuKernels kernels_scalar =
    make_kernels<ScalarByte, ScalarWord>("scalar", "portable C++");

}  // namespace calpe::backend::cpu
