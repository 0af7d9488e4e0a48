// SPDX-License-Identifier: Apache-2.0
// The same work as C for the system's compiler, to compare PoCL's speed with. Units: the source
// that the openmp backend would compile. Planes: the OpenCL source after a few definitions, with a
// loop over its work-items.
#pragma once
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "emit/device_kernel.hpp"
#include "support/workshop.hpp"

namespace calpe::tests {

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// void run(n_base, r_base, shards, first, column_bytes, unit_stride, group_stride, y, z): runs a
// kernel of one row group with words of 64 bytes, over y groups of z stripes.
inline std::string as_c(const emit::DeviceText& made) {
  std::string source =
      "typedef unsigned char uchar;\ntypedef unsigned int uint;\ntypedef unsigned long ulong;\n"
      "typedef uint uint16 __attribute__((vector_size(64), may_alias));\n"
      "#define __kernel static inline\n#define __global\n"
      "static ulong position[3];\n"
      "#define get_global_id(dimension) position[dimension]\n"
      "#define get_group_id(dimension) position[dimension]\n";  // of 1 item, one row group
  // OpenCL broadcasts a scalar; C does it by an addition.
  source += replaced(made.text, "((word)(", "((word){0} + (");
  source = replaced(source, "word twice(word h);\nword twice", "static inline word twice");
  source +=
      "void run(const uchar *n, uchar *r, const ulong *shards, ulong first, ulong column_bytes,\n"
      "    ulong unit_stride, ulong group_stride, ulong groups, ulong stripes)\n{\n"
      "  for (ulong z = 0; z < stripes; ++z)\n    for (ulong y = 0; y < groups; ++y)\n"
      "      for (ulong x = 0; x < column_bytes / WORD_BYTES; ++x) {\n"
      "        position[0] = x, position[1] = y, position[2] = z;\n";
  source += text("        ", made.entries[0],
                 "(n, r, shards, first, column_bytes, unit_stride, group_stride, 0);\n");
  return source + "      }\n}\n";
}
using NativeRun = void(const unsigned char*, unsigned char*, const std::uint64_t*, std::uint64_t,
                       std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);

// Compiles C source to a shared object with the compiler of the build.
inline testing::AssertionResult compile_native(const Workshop& workshop, const std::string& name,
                                               const std::string& source) {
  const char* compiler = std::getenv("CALPE_CC");
  return Workshop::run({compiler != nullptr ? compiler : "/usr/bin/cc", "-O3", "-march=native",
                        "-fPIC", "-shared", workshop.write(name + ".c", source), "-o",
                        workshop.path(name + ".so")});
}

}  // namespace calpe::tests
