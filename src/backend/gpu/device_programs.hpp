// SPDX-License-Identifier: Apache-2.0
// What a device's work-items compute: row groups small enough for their registers, each optimised
// by itself. The only part of backend/ that optimises: it runs beside the work, while the table
// kernel serves, and a matrix over bytes becomes an xor program here and nowhere else.
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
  std::size_t registers = 128;  // words that a work-item holds
  // Of the optimiser's search. 0: none, a program that fits stays as it is. 1: quick, for a decoder
  // that is waited for. More: a small program is searched for about a second.
  std::size_t rounds = 1;
  // All groups in one, one after the other, unless that gets too long for a compiler: where few
  // registers meet a cache that gives the inputs a second time, as on a CPU.
  bool is_one_group = false;
};

// What suits a kernel of this form, and does not spill in any that was tried. Words of 64 bytes are
// for CPUs.
ProgramLimits limits_for(const emit::DeviceForm& form, std::uint32_t inputs, bool is_planes);

// Of a sound xor program. One that shares sums already and fits stays as it is.
Result<std::vector<emit::RowGroup>> unit_groups(const ir::Program& program,
                                                const ProgramLimits& limits);
// Of output r = sum of rows(r, c) * input c over GF(2^8).
Result<std::vector<emit::RowGroup>> plane_groups(const gf::FieldRef& field, const gf::Matrix& rows,
                                                 const ProgramLimits& limits);
// Row 8 * r + b: the inputs whose coefficient in row r has bit b. What TableStyle::planes takes.
gf::BitMatrix plane_map(const gf::Matrix& rows);

}  // namespace calpe::backend::gpu
