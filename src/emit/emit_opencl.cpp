// SPDX-License-Identifier: Apache-2.0
// OpenCL C 1.2. One work-item computes one word of every output unit. 64 bytes are best on CPUs
// (PoCL makes them a vector register), 16 or 4 on GPUs, whose work-items are already lanes.
#include <array>

#include "base/text.hpp"
#include "emit/equations.hpp"
#include "emit/sources.hpp"

namespace calpe::emit {

namespace {

struct Width {
  std::string_view suffix;
  std::string_view type;
};
constexpr std::array widths = {Width{"", "uchar"}, Width{"_16", "uint4"}, Width{"_64", "ulong8"}};

std::string kernel(const Options& options, const Width& width) {
  const std::string_view lengths =
      options.unit_bytes != 0 ? "" : ",\n    ulong unit_bytes, ulong unit_stride";
  return text("__kernel void ", options.name, width.suffix,
              "(__global const uchar *restrict n, __global uchar *restrict r", lengths,
              ")\n{\n"
              "  typedef ",
              width.type,
              " word;\n"
              "  const ulong i = get_global_id(0) * sizeof(word);\n"
              "  if (i + sizeof(word) > UNIT_LEN) return;\n"
              "  EQUATIONS\n"
              "}\n\n");
}

}  // namespace

std::string emit_opencl(const ir::Program& program, const Options& options) {
  std::string out = heading(program, options.title);
  out += unit_macros(options.unit_bytes, {.size_type = "ulong", .address_space = "__global "});
  out += equations_macro(program, "(word)(0)");
  out += "\n";
  for (const Width& width : widths)
    out += kernel(options, width);
  return text(out, unit_undefs);
}

}  // namespace calpe::emit
