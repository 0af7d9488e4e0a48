// SPDX-License-Identifier: Apache-2.0
// CUDA C++ without toolkit headers: for nvcc, NVRTC, clang, and g++ with a shim for the few
// built-in names. HIP is the same with its header, which hipRTC has built in. Without launch
// bounds, AMD's compiler expects 1,024 threads per block and keeps values in memory. With words of
// 32 bits a warp reads 128 contiguous bytes of each unit.
#include "base/text.hpp"
#include "emit/equations.hpp"
#include "emit/sources.hpp"

namespace calpe::emit {

namespace {

struct CudaKernel {
  std::string_view suffix;
  std::string_view type;
  std::string_view parameter;
  std::string_view start;
};

std::string kernel(const Options& options, const CudaKernel& k) {
  const std::string_view lengths =
      options.unit_bytes != 0 ? "" : ",\n    size_t unit_bytes, size_t unit_stride";
  return text("extern \"C\" __global__ void __launch_bounds__(", cuda_block_max, ") ", options.name,
              k.suffix, "(const unsigned char *__restrict__ n, unsigned char *__restrict__ r",
              k.parameter, lengths,
              ")\n{\n"
              "  typedef ",
              k.type,
              " word;\n"
              "  const size_t i = ",
              k.start,
              "((size_t)blockIdx.x * blockDim.x + threadIdx.x) * sizeof(word);\n"
              "  if (i + sizeof(word) > UNIT_LEN) return;\n"
              "  EQUATIONS\n"
              "}\n\n");
}

}  // namespace

std::string emit_cuda(const ir::Program& program, const Options& options, CudaDialect dialect) {
  std::string out = heading(program, options.title);
  if (dialect.is_hip) {
    out += "#if !defined(__HIPCC_RTC__)\n#include <hip/hip_runtime.h>\n#endif\n";
  }
  out += unit_macros(options.unit_bytes, {.size_type = "size_t"});
  out += equations_macro(program, "(word)0");
  out += "\n";
  out += kernel(
      options,
      {.suffix = "", .type = "unsigned char", .parameter = ", size_t first", .start = "first + "});
  out += kernel(options, {.suffix = "_4", .type = "unsigned int", .parameter = "", .start = ""});
  return text(out, unit_undefs);
}

}  // namespace calpe::emit
