// SPDX-License-Identifier: Apache-2.0
// One writer per target; emit() has already checked the program and options.
#pragma once
#include <string>

#include "emit/emit.hpp"
#include "ir/program.hpp"

namespace calpe::emit {

struct OpenMp {
  bool enabled = false;
};

std::string emit_arrays(const ir::Program& program, const Options& options, OpenMp openmp);
std::string emit_shards(const ir::Program& program, const Options& options, OpenMp openmp);
std::string emit_opencl(const ir::Program& program, const Options& options);
struct CudaDialect {
  bool is_hip = false;
};
std::string emit_cuda(const ir::Program& program, const Options& options, CudaDialect dialect);
std::string emit_ptx(const ir::Program& program, const Options& options);
std::string emit_spirv(const ir::Program& program, const Options& options);

}  // namespace calpe::emit
