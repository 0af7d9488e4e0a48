// SPDX-License-Identifier: Apache-2.0
// Table of the static CPU kernels: one entry and one file per instruction set. This header,
// matrix_pass.hpp and the kernel files may include only <cstddef>, <cstdint>, <cstring>, the
// intrinsics and each other. An inline function of the standard library, compiled here with
// -mavx512f, could otherwise be linked for every CPU (docs/adr).
#pragma once
#include <cstddef>
#include <cstdint>

#include "backend/cpu/wide_kernels.hpp"

namespace calpe::backend::cpu {

// Table format for a coefficient c.
enum class TableKind : std::uint8_t {
  product_row,  // 8 bytes: address of a 256-byte row, row[x] = c * x
  nibbles,      // 32 bytes: c * x for x = 0..15, then c * x for x = 0x00, 0x10 .. 0xF0
  affine,       // 8 bytes: the 8x8 bit matrix of vgf2p8affineqb
};

constexpr std::size_t table_entry_bytes(TableKind kind) {
  return kind == TableKind::nibbles ? 32 : 8;
}

// The coefficients that one kernel applies. Tables are ordered by input: c(i, r) is entry
// i * rows + r.
struct MatrixPart {
  const std::byte* tables = nullptr;
  std::size_t input_count = 0;
  // For a sum in the first row, whose table entries are unused: the row is the sum of the first
  // `summed` inputs (at least one, unless the kernel adds) and, if sum_takes_rows, of all other
  // rows.
  std::size_t summed = 0;
  bool sum_takes_rows = false;
};

// Computes columns [begin, end): outputs[r] = sum over i of c(i, r) * inputs[i]. Kernels access
// nothing outside [begin, end) and accept any alignment. Without inputs, outputs become zero.
// Outputs must not overlap. The arguments fit into registers: at 64 bytes a shard, storing them in
// a struct would take a fifth of the time.
using MatrixKernel = void (*)(const MatrixPart& part, const std::byte* const* inputs,
                              std::byte* const* outputs, std::size_t begin, std::size_t end);

// Returns true if outputs[r] holds in columns [begin, end) what a kernel would write. At least one
// input.
using CompareKernel = bool (*)(const MatrixPart& part, const std::byte* const* inputs,
                               const std::byte* const* outputs, std::size_t begin, std::size_t end);

struct MatrixKernels {
  MatrixKernel over;    // overwrites
  MatrixKernel add;     // adds to the outputs
  MatrixKernel stream;  // overwrites past the caches: outputs[r] + begin must be vector-aligned and
                        // fence() must follow; null if not available
};

// One block of columns of an additive FFT (ir/transform.hpp).
struct TransformBlock {
  const std::byte* const* inputs = nullptr;  // places from N on; zeros for empty places
  std::size_t begin = 0;                     // offset of the block in every input
  std::size_t chunks = 0;                    // of N inputs each, at least one
  std::size_t tail = 0;  // places in a last, shorter chunk; see TransformKernels
  std::byte* const* outputs = nullptr;
  std::size_t output_begin = 0;       // offset of the block in every output
  std::size_t wanted = 0;             // number of outputs: the first values, at most N
  const std::byte* points = nullptr;  // tables of the 256 points
  std::size_t bytes = 0;              // a multiple of a vector
  std::byte* sums = nullptr;          // N * bytes, aligned to a vector; wide kernels only
};

using TransformKernel = void (*)(const TransformBlock& block);

struct TransformKernels {
  // All inputs in registers; null if there are too few registers. `tail` is 0, N/4 or N/2, at least
  // 4; `wanted` is above N/2.
  TransformKernel narrow;
  TransformKernel narrow_stream;
  // One chunk at a time. `tail` is a multiple of wide_tail.
  TransformKernel wide;
  TransformKernel wide_stream;
  std::size_t wide_tail;
};

// Groups of 2^R blocks, through R layers of butterflies (butterfly_pass.hpp). A block may be its
// own target.
struct ButterflyPass {
  const std::byte* const* sources = nullptr;  // 2^R per group
  std::byte* const* targets = nullptr;        // 2^R per group
  const std::byte* const* addends = nullptr;  // 2^R per group; `turn` only
  const std::byte* tables = nullptr;
  std::size_t table_step = 0;  // bytes of tables per group
  std::size_t groups = 0;
  std::size_t bytes = 0;  // of a block, a multiple of a vector
};

using ButterflyKernel = void (*)(const ButterflyPass& pass);

// Passes into outputs.
struct OutputKernels {
  ButterflyKernel over;
  ButterflyKernel scaled;  // multiplies the results
  ButterflyKernel add;     // multiplies, and adds to the targets
  ButterflyKernel stream;  // multiplies, and streams; null if not available
};

// Sources of `in_` passes and of `through`, and targets of output passes, are anywhere. All others
// have equal distances in a group.
struct ButterflyKernels {
  ButterflyKernel in_back;
  ButterflyKernel in_back_at_zero;  // with the zero coefficients of base 0
  ButterflyKernel in_back_add;      // adds to the targets
  ButterflyKernel in_back_scaled;   // multiplies the sources first
  ButterflyKernel back;
  ButterflyKernel back_at_zero;
  ButterflyKernel back_add;
  ButterflyKernel turn;  // forth, adds the addends, multiplies, back
  ButterflyKernel forth;
  ButterflyKernel forth_at_zero;
  OutputKernels forth_out;
  OutputKernels through;  // back at base 0, forth at another
};

// output[0..bytes) = or ^= XOR of the sources; without sources, zero. A source may be the output
// itself, but must not overlap it otherwise.
using XorKernel = void (*)(const std::byte* const* sources, std::size_t source_count,
                           std::byte* output, std::size_t bytes);

// Tags (docs/tags.md). `state` has 15 digits of 64 bytes and `sums` 8; both start as zeros.
inline constexpr std::size_t tag_bytes = 8;
inline constexpr std::size_t tag_digit_bytes = 64;
inline constexpr std::size_t tag_state_digits = 15;
inline constexpr std::size_t tag_segment_digits = 480;  // no two of more than 621 have one weight
inline constexpr std::size_t tag_table_count = 7;
inline constexpr std::size_t tag_fold_max = 4;

struct TagKernels {
  // Takes the next bytes of a segment, from the start of its digit `first_digit`. Only the last
  // bytes of a segment may end within a digit.
  void (*take)(std::byte* state, std::size_t first_digit, const std::byte* from, std::size_t bytes);
  // Adds a complete segment to `sums`. phase: the number of its digits mod 15.
  void (*absorb)(std::byte* sums, const std::byte* state, std::size_t phase,
                 const std::byte* tables);
  // Writes `count` tags, at most tag_fold_max, of `sums` that are `stride` bytes apart. tables:
  // entries of c^64, c^32, ... c.
  void (*fold)(std::byte* tags, const std::byte* sums, std::size_t stride, std::size_t count,
               const std::byte* tables);
};

inline constexpr std::size_t kernel_rows_max = 12;
inline constexpr std::size_t few_inputs_max = 10;
inline constexpr std::size_t few_products_max = 2;
inline constexpr std::size_t compare_rows_max = 4;  // codes with more rows are mostly transforms
inline constexpr std::size_t change_rows_max = 4;   // more would not fit into one L1 set
inline constexpr unsigned transform_log_min = 3;    // smaller transforms do not beat a matrix
inline constexpr unsigned transform_log_max = 7;
inline constexpr unsigned butterfly_log_max = 4;
inline constexpr unsigned through_tail_log_max = 3;

struct CpuKernels {
  const char* name;         // "avx512-gfni"; the value of CALPE_CPU and the variant of "cpu:..."
  const char* description;  // "AVX-512 with GFNI"
  TableKind table_kind;
  std::size_t vector_bytes;
  std::size_t registers;
  bool three_input_xor;
  std::size_t rows_max;                                 // outputs per pass, at most kernel_rows_max
  MatrixKernels products[kernel_rows_max + 1];          // [rows]
  MatrixKernels sum_and_products[kernel_rows_max + 1];  // [rows], including the sum
  CompareKernel compare[compare_rows_max + 1];          // [rows]
  CompareKernel compare_sum[compare_rows_max + 1];      // [rows], including the sum
  // Few inputs, overwriting: [inputs][products][sum_takes_rows], a sum and `products` further rows.
  // `summed` is all inputs, or with sum_takes_rows all but `products`. Null if there are too few
  // registers.
  MatrixKernel few[few_inputs_max + 1][few_products_max + 1][2];
  CompareKernel compare_few[few_inputs_max + 1][few_products_max + 1];  // [inputs][products]
  // outputs[r] += c(0, r) * sum of the inputs, one or two of them: [inputs][rows]
  MatrixKernel change[3][change_rows_max + 1];
  std::size_t transform_bytes;                          // vector size; blocks are multiples of it
  TransformKernels transforms[transform_log_max + 1];   // [log2 N], from transform_log_min
  unsigned butterfly_log;                               // the most layers of a pass
  ButterflyKernels butterflies[butterfly_log_max + 1];  // [layers], from 1
  OutputKernels through_halves;  // as `through`, one layer more than a pass; one group
  WideKernels wide;              // codes over GF(2^16)
  void (*fence)();     // makes streamed stores visible to other threads; null if nothing streams
  XorKernel xor_into;  // overwrites
  XorKernel xor_add;   // adds
  TagKernels tags;
  // Through half a coset of 32 and a tail, by log2 of the tail, 2 or 3: a matrix is faster for
  // less. `scaled` is null.
  OutputKernels through_tail[through_tail_log_max + 1];
};

extern const CpuKernels kernels_scalar;
#if defined(__x86_64__)
extern const CpuKernels kernels_ssse3;
extern const CpuKernels kernels_avx2;
extern const CpuKernels kernels_avx2_gfni;
extern const CpuKernels kernels_avx512;
extern const CpuKernels kernels_avx512_gfni;
#elif defined(__aarch64__)
extern const CpuKernels kernels_neon;
#endif

}  // namespace calpe::backend::cpu
