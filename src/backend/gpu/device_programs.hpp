// SPDX-License-Identifier: Apache-2.0
// The programs of work-items: row groups that fit into registers, each optimised separately. The
// only part of backend/ that optimises. It runs in the background while the table kernel serves; a
// matrix over bytes becomes an xor program only here.
#pragma once
#include <cstddef>
#include <vector>

#include <calpe/result.hpp>

#include "emit/device_kernel.hpp"
#include "gf/bit_matrix.hpp"
#include "gf/matrix.hpp"
#include "ir/program.hpp"

namespace calpe::backend::gpu {

struct ProgramLimits {
  std::size_t registers = 128;  // words per work-item
  // Optimiser effort. 0: none, a program that fits is unchanged. 1: quick, for a decoder that
  // a caller waits for. More: about a second for a small program.
  std::size_t rounds = 1;
  // Put all groups into one function, unless that gets too long for a compiler. For devices with
  // few registers and a cache that makes rereading inputs cheap, such as CPUs.
  bool is_one_group = false;
  bool may_slice = true;  // bytes_kernel() may choose bit slices
};

// Limits that suit a kernel of this form and did not spill in tests. Words of 64 bytes are for
// CPUs.
ProgramLimits limits_for(const emit::DeviceForm& form, std::uint32_t inputs, bool is_planes);

// Row groups of a sound xor program. A program that already shares sums and fits is unchanged.
Result<std::vector<emit::RowGroup>> unit_groups(const ir::Program& program,
                                                const ProgramLimits& limits);
// Row groups of output r = sum of rows(r, c) * input c over GF(2^8).
Result<std::vector<emit::RowGroup>> plane_groups(const gf::FieldRef& field, const gf::Matrix& rows,
                                                 const ProgramLimits& limits);
// Row groups of the same map over bits, for emit::emit_sliced.
Result<std::vector<emit::RowGroup>> sliced_groups(const gf::FieldRef& field, const gf::Matrix& rows,
                                                  const ProgramLimits& limits);

// The kernel over bytes with the fewest logic instructions.
struct BytesKernel {
  bool is_sliced = false;  // for emit::emit_sliced, in `form`; otherwise for emit::emit_planes
  emit::DeviceForm form = {};
  std::vector<emit::RowGroup> groups;
};
Result<BytesKernel> bytes_kernel(const gf::FieldRef& field, const gf::Matrix& rows,
                                 const emit::DeviceForm& form, const ProgramLimits& limits);
Result<emit::DeviceText> emit_bytes(const emit::DeviceShape& shape, const BytesKernel& kernel);

// Row 8 * r + b: the inputs whose coefficient in row r has bit b. Input of TableStyle::planes.
gf::BitMatrix plane_map(const gf::Matrix& rows);

}  // namespace calpe::backend::gpu
