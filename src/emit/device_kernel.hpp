// SPDX-License-Identifier: Apache-2.0
// Kernels for devices as source code: OpenCL C 1.2, PTX (ISA 6.0, sm_50), and SPIR-V 1.5, whose
// "text" is binary. Four styles:
//
//   units   an xor program over units (packets), straight-line
//   planes  a matrix over GF(2^8), bytes layout: for output i and bit b the sum of those inputs
//           whose coefficient has bit b is one xor program; Horner's rule then adds the planes,
//           so that doubling is paid per output and not per input
//   sliced  the same matrix as an xor program over bits: a work-item turns its words of an input
//           into 8 words of equal bits, and the sums of an output back
//   table   any linear map, given as bits in a buffer at run time: used until a kernel is compiled
//
// All work on shards anywhere in device memory, over whole batches. A work-item computes the word
// at byte `first + x * word_bytes` of every unit of group y of stripe z, for one row group: some of
// the outputs. y and z are those of the work-group; its first index divided by the number of row
// groups gives the row group (remainder) and the words, x, of its work-items (quotient). So
// neighbouring work-groups read the same words, and only the first of them reads them from memory
// if the cache keeps them until the others start. x beyond column_bytes does nothing. The address
// of unit u of input shard s is
//
//   n_base + shards[z * (inputs + outputs) + s] + first + y * group_stride + u * unit_stride
//                                               + x * word_bytes
//
// and of output shard s with r_base and shards[... + inputs + s]. Sums wrap, so with bases of 0 the
// table holds addresses. Arguments, in this order, each of 64 bits:
//
//   n_base, r_base, shards, first, column_bytes, unit_stride, group_stride
//   OpenCL only: shards_at
//   table only: bits, row_groups, input_shards, output_shards, unit_count, accumulate
//
// In OpenCL, x * word_bytes is less than 2^32.
//
// In SPIR-V they are push constants; entries are compute shaders of (group_items, 1, 1).
// n_base, r_base, shards and bits are pointers (__global in OpenCL). column_bytes is a multiple of
// word_bytes. shards_at is the number of table entries to skip: an OpenCL buffer cannot be passed
// with an offset, and a batch larger than the grid takes several launches.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

#include "gf/bit_matrix.hpp"
#include "ir/program.hpp"

namespace calpe::emit {

enum class DeviceLanguage : std::uint8_t { opencl, ptx, spirv };

std::string_view name_of(DeviceLanguage language);  // "opencl", "ptx", "spirv"
// "kernel.cl", "kernel.ptx", "kernel.spv"
std::string_view file_name_of(DeviceLanguage language);

struct DeviceForm {
  DeviceLanguage language = DeviceLanguage::opencl;
  std::size_t word_bytes = 4;  // 1, 4 or 16; with OpenCL also 64; emit_sliced: sliced_word_bytes
  // OpenCL only: words are read and written at any address. Otherwise, addresses are multiples of
  // word_bytes.
  bool any_alignment = false;
  std::size_t unit_stride = 0;  // a constant, the argument's only value; 0: use the argument
  bool accumulate = false;      // outputs ^= sums; an argument in `table`
  unsigned group_items = 64;    // work-items of a group, all along x; PTX: threads of a block
  // Planes: the field's polynomial without its highest power, which doubling subtracts.
  unsigned reduction = 0x1D;
};

// Some of the outputs, and the program that computes them from all inputs.
struct RowGroup {
  // xor dialect, sound. Inputs: all of the kernel's. Outputs: units [first_output, ...) for
  // emit_units; for emit_planes and emit_sliced output 8 * i + b is bit plane b of output shard
  // first_output + i. For emit_sliced input 8 * j + b is bit b of input shard j.
  ir::Program program;
  std::uint32_t first_output = 0;
};

// Properties common to all row groups of a kernel.
struct DeviceShape {
  std::uint32_t input_shards = 0;
  std::uint32_t output_shards = 0;
  std::uint32_t unit_count = 1;  // units per shard; 1 for emit_planes and emit_sliced
};

// Source code of one kernel.
struct DeviceText {
  std::string text;
  std::vector<std::string> entries;  // its name
  // Work-groups for the same words; of a table kernel, an argument.
  std::uint32_t row_groups = 1;
  std::size_t word_bytes = 4;  // of its form
};

Result<DeviceText> emit_units(const DeviceShape& shape, std::span<const RowGroup> groups,
                              const DeviceForm& form);

// Over GF(2^8); bytes, so unit_stride is ignored. PTX with words of 16 bytes processes them four
// bytes at a time if at most this many inputs are held: sums then take one register, not four.
inline constexpr std::uint32_t planes_inputs_held_max = 20;
Result<DeviceText> emit_planes(const DeviceShape& shape, std::span<const RowGroup> groups,
                               const DeviceForm& form);

// Over any field of 8 bits; bytes. A work-item takes 16 bytes of the first half of the columns and
// 16 of the second, so column_bytes is a multiple of 32, but addresses only of 16.
inline constexpr std::size_t sliced_word_bytes = 32;
Result<DeviceText> emit_sliced(const DeviceShape& shape, std::span<const RowGroup> groups,
                               const DeviceForm& form);

// The map that a table kernel applies.
enum class TableStyle : std::uint8_t {
  units,   // row r of the map is output unit r, column c is input unit c
  planes,  // row 8 * i + b is bit plane b of output shard i; unit_count is 1
};
inline constexpr std::size_t table_rows = 32;          // per row group
inline constexpr std::size_t table_inputs_max = 2048;  // columns

Result<DeviceText> emit_table(TableStyle style, const DeviceForm& form);

// Returns the content of `bits`: word [row_group * columns + c] has bit r set if row row_group *
// table_rows + r contains column c.
std::vector<std::uint32_t> table_bits(const gf::BitMatrix& map);

}  // namespace calpe::emit
