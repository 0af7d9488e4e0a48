// SPDX-License-Identifier: Apache-2.0
// Emits an xor program as source code for other compilers: the generator of P. Sobe, "Parallel
// coding for storage systems" (2012), with the equations of its listings.
//
// In all source code `n` is the data (inputs) and `r` the result (outputs): byte arrays, with unit
// u at u * unit_stride. OUNIT(u) is unit u of n, RUNIT(u) of r; t0, t1, ... are temporaries. An
// output that is read later is first a variable with its number in the equations (u15).
//
//   c, openmp   void name(n, r [, unit_bytes, unit_stride] [, int threads]); any length, alignment
//   opencl      kernels name (single bytes: byte get_global_id(0), so the tail after a vector
//               kernel is a launch with an offset), name_16 and name_64 (bytes per work-item)
//   cuda, hip, ptx   kernels name (n, r, first, ...), single bytes starting at `first`, and name_4
//   spirv       a binary module with the same two kernels, as compute shaders of
//               spirv_group_items; all arguments of both are push constants of 64 bits: the
//               addresses of n and r, first, unit_bytes, unit_stride
//
// Parameters in brackets: unit_bytes and unit_stride (size_t, ulong) if Options::unit_bytes is 0;
// threads with openmp. Vector kernels compute the whole vectors of a unit, and further work-items
// return. Launch cuda and hip kernels with at most cuda_block_max threads per block: compilers then
// give a thread more registers. n, r and unit_stride must be multiples of the vector (the last
// digits of the name).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

#include "ir/program.hpp"

namespace calpe::emit {

enum class Target : std::uint8_t { c, openmp, opencl, cuda, ptx, hip, spirv };

inline constexpr unsigned cuda_block_max = 256;
inline constexpr unsigned spirv_group_items = 64;

// How a function of the targets c and openmp addresses its units.
enum class Form : std::uint8_t {
  arrays,  // one array of inputs, one of outputs
  shards,  // a pointer per shard, over whole batches: void name(const struct name_work *), with the
           // fields of ShardsWork (shards_work.hpp); unit_bytes is then a field, never a constant
};

struct Options {
  std::size_t unit_bytes = 0;      // constant length and distance of units; 0: parameters
  std::string name = "calpe_xor";  // name of the function or kernels, a C identifier
  std::string title = {};          // first comment line: "Parameters: k=5, m=2, w=3"
  Form form = Form::arrays;
};

// The same program, target and options give the same source code. Temporaries that no output needs
// are omitted. Fails with invalid_argument if the program is unsound, not in the xor dialect, or
// without inputs or outputs, or if the options do not fit the target.
Result<std::string> emit(const ir::Program& program, Target target, const Options& options);

// Accepts "c", "openmp", "opencl", "cuda", "ptx", "hip", "spirv"; fails with invalid_argument and
// lists them.
Result<Target> target_by_name(std::string_view name);

}  // namespace calpe::emit
