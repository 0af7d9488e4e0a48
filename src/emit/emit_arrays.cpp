// SPDX-License-Identifier: Apache-2.0
// C11 over one array of inputs and one of outputs, with or without OpenMP.
#include "base/text.hpp"
#include "emit/c_vectors.hpp"
#include "emit/equations.hpp"
#include "emit/sources.hpp"

namespace calpe::emit {

std::string emit_arrays(const ir::Program& program, const Options& options, OpenMp openmp) {
  const bool baked = options.unit_bytes != 0;
  std::string out = heading(program, options.title);
  out += "#include <stddef.h>\n\n";
  out += unit_macros(options.unit_bytes, {.size_type = "size_t"});
  out += equations_macro(program, "(word){0}");
  out += vector_macros;
  const std::string_view lengths = baked ? "" : ",\n    size_t unit_bytes, size_t unit_stride";
  const std::string_view threads = openmp.enabled ? ", int threads" : "";
  out += text("void ", options.name, "(const unsigned char *restrict n, unsigned char *restrict r",
              lengths, threads, ");\n");  // -Wmissing-prototypes
  out += text("void ", options.name, "(const unsigned char *restrict n, unsigned char *restrict r",
              lengths, threads, ")\n{\n");
  out += "  const size_t vector_count = UNIT_LEN / VECTOR_BYTES;\n";
  if (openmp.enabled) out += "#pragma omp parallel for num_threads(threads) schedule(static)\n";
  out +=
      "  for (size_t vector = 0; vector < vector_count; ++vector) {\n"
      "    typedef unsigned char word VECTOR;\n"
      "    const size_t i = vector * VECTOR_BYTES;\n"
      "    EQUATIONS\n"
      "  }\n"
      "  for (size_t i = vector_count * VECTOR_BYTES; i < UNIT_LEN; ++i) {\n"
      "    typedef unsigned char word;\n"
      "    EQUATIONS\n"
      "  }\n"
      "}\n\n";
  return text(out, unit_undefs, vector_undefs);
}

}  // namespace calpe::emit
