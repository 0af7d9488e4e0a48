// SPDX-License-Identifier: Apache-2.0
// C11 over a pointer per shard and whole batches: compiled by the openmp backend. The equations are
// expanded only once, for whole vectors, because compilers take seconds for wide programs. The
// columns after the last vector, and sums that are added to the outputs, go through stack copies.
#include <algorithm>

#include "base/text.hpp"
#include "emit/c_vectors.hpp"
#include "emit/equations.hpp"
#include "emit/sources.hpp"

namespace calpe::emit {

namespace {

// Columns of accumulated outputs at a time: 32 KiB of stack for all units, at least one vector.
std::size_t added_bytes(const ir::Program& program) {
  return std::clamp<std::size_t>(32 * 1024 / program.outputs(), 64, 512) / 64 * 64;
}

constexpr std::string_view macros =
    "// Unit a from column i on, as many columns as a word has.\n"
    "#define OUNIT(a) (*(const word *)(ns[(a) / UNITS] + (a) % UNITS * n_stride + i))\n"
    "#define RUNIT(a) (*(word *)(rs[(a) / UNITS] + (a) % UNITS * r_stride + i))\n\n";

// NAME is replaced by the function's name.
constexpr std::string_view declaration =
    "struct NAME_work {\n"
    "  size_t stripe_count;\n"
    "  const unsigned char *const *n;  // stripe_count x N_SHARDS\n"
    "  unsigned char *const *r;        // stripe_count x R_SHARDS\n"
    "  size_t offset, unit_bytes, unit_stride, group_stride, group_count;\n"
    "  int accumulate, threads;\n"
    "};\n"
    "void NAME(const struct NAME_work *work);\n\n";

constexpr std::string_view columns_head =
    "// Whole vectors: bytes is a multiple of VECTOR_BYTES.\n"
    "static void NAME_vectors(const unsigned char *const *n, size_t n_at, size_t n_stride,\n"
    "    unsigned char *const *r, size_t r_at, size_t r_stride, size_t bytes)\n"
    "{\n"
    "  typedef unsigned char word VECTOR;\n";

constexpr std::string_view columns_tail =
    "  for (size_t i = 0; i < bytes; i += VECTOR_BYTES) {\n"
    "    EQUATIONS\n"
    "  }\n"
    "}\n\n";

constexpr std::string_view body =
    "// Fewer columns than a vector has: on copies.\n"
    "static void NAME_rest(const unsigned char *const *n, size_t n_at, size_t n_stride,\n"
    "    unsigned char *const *r, size_t r_at, size_t r_stride, size_t bytes)\n"
    "{\n"
    "  unsigned char in[N_SHARDS * UNITS][VECTOR_BYTES];\n"
    "  unsigned char out[R_SHARDS * UNITS][VECTOR_BYTES];\n"
    "  const unsigned char *ns[N_SHARDS];\n"
    "  unsigned char *rs[R_SHARDS];\n"
    "  memset(in, 0, sizeof in);\n"
    "  for (size_t a = 0; a < N_SHARDS * UNITS; ++a)\n"
    "    memcpy(in[a], n[a / UNITS] + n_at + a % UNITS * n_stride, bytes);\n"
    "  for (size_t s = 0; s < N_SHARDS; ++s) ns[s] = in[s * UNITS];\n"
    "  for (size_t s = 0; s < R_SHARDS; ++s) rs[s] = out[s * UNITS];\n"
    "  NAME_vectors(ns, 0, VECTOR_BYTES, rs, 0, VECTOR_BYTES, VECTOR_BYTES);\n"
    "  for (size_t a = 0; a < R_SHARDS * UNITS; ++a)\n"
    "    memcpy(r[a / UNITS] + r_at + a % UNITS * r_stride, out[a], bytes);\n"
    "}\n\n"
    "static void NAME_columns(const unsigned char *const *n, size_t n_at, size_t n_stride,\n"
    "    unsigned char *const *r, size_t r_at, size_t r_stride, size_t bytes)\n"
    "{\n"
    "  const size_t whole = bytes - bytes % VECTOR_BYTES;\n"
    "  NAME_vectors(n, n_at, n_stride, r, r_at, r_stride, whole);\n"
    "  if (whole != bytes)\n"
    "    NAME_rest(n, n_at + whole, n_stride, r, r_at + whole, r_stride, bytes - whole);\n"
    "}\n\n"
    "// Sums are added to what the outputs hold.\n"
    "static void NAME_added(const unsigned char *const *n, size_t n_at, size_t n_stride,\n"
    "    unsigned char *const *r, size_t r_at, size_t r_stride, size_t bytes)\n"
    "{\n"
    "  unsigned char out[R_SHARDS * UNITS][ADDED_BYTES];\n"
    "  unsigned char *rs[R_SHARDS];\n"
    "  for (size_t s = 0; s < R_SHARDS; ++s) rs[s] = out[s * UNITS];\n"
    "  for (size_t done = 0; done < bytes; done += ADDED_BYTES) {\n"
    "    const size_t part = bytes - done < ADDED_BYTES ? bytes - done : ADDED_BYTES;\n"
    "    NAME_columns(n, n_at + done, n_stride, rs, 0, ADDED_BYTES, part);\n"
    "    for (size_t a = 0; a < R_SHARDS * UNITS; ++a) {\n"
    "      unsigned char *to = r[a / UNITS] + r_at + done + a % UNITS * r_stride;\n"
    "      size_t i = 0;\n"
    "      for (; i + VECTOR_BYTES <= part; i += VECTOR_BYTES) {\n"
    "        typedef unsigned char word VECTOR;\n"
    "        *(word *)(to + i) ^= *(const word *)(out[a] + i);\n"
    "      }\n"
    "      for (; i < part; ++i) to[i] ^= out[a][i];\n"
    "    }\n"
    "  }\n"
    "}\n\n"
    "// Piece by piece, counted through pieces of a group, groups and stripes.\n"
    "static void NAME_piece(const struct NAME_work *work, size_t piece_count, size_t index)\n"
    "{\n"
    "  const size_t done = index % piece_count * PIECE_BYTES;\n"
    "  const size_t group = index / piece_count % work->group_count;\n"
    "  const size_t stripe = index / piece_count / work->group_count;\n"
    "  const size_t at = work->offset + group * work->group_stride + done;\n"
    "  const size_t left = work->unit_bytes - done;\n"
    "  (work->accumulate ? NAME_added : NAME_columns)(\n"
    "      work->n + stripe * N_SHARDS, at, work->unit_stride,\n"
    "      work->r + stripe * R_SHARDS, at, work->unit_stride,\n"
    "      left < PIECE_BYTES ? left : PIECE_BYTES);\n"
    "}\n\n"
    "void NAME(const struct NAME_work *work)\n"
    "{\n"
    "  const size_t piece_count = (work->unit_bytes + PIECE_BYTES - 1) / PIECE_BYTES;\n"
    "  const size_t count = work->stripe_count * work->group_count * piece_count;\n";

constexpr std::string_view parallel_loop =
    "  if (work->threads > 1 && count > 1) {\n"
    "    const int threads = count < (size_t)work->threads ? (int)count : work->threads;\n"
    "#pragma omp parallel for num_threads(threads) schedule(static)\n"
    "    for (size_t index = 0; index < count; ++index) NAME_piece(work, piece_count, index);\n"
    "    return;\n"
    "  }\n";

constexpr std::string_view loop =
    "  for (size_t index = 0; index < count; ++index) NAME_piece(work, piece_count, index);\n"
    "}\n\n";

constexpr std::string_view undefs =
    "#undef N_SHARDS\n#undef R_SHARDS\n#undef UNITS\n#undef PIECE_BYTES\n#undef ADDED_BYTES\n"
    "#undef OUNIT\n#undef RUNIT\n#undef EQUATIONS\n";

// Returns "name[0] + name_at, name[1] + name_at, ...": locals, which no store can change.
std::string shard_list(std::string_view array, std::string_view at, std::size_t count) {
  std::string out;
  for (std::size_t s = 0; s < count; ++s) {
    if (s != 0) out += s % 6 == 0 ? ",\n      " : ", ";
    out += text(array, "[", s, "] + ", at);
  }
  return out;
}

std::string named(std::string_view form, std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < form.size();) {
    const std::size_t found = std::min(form.find("NAME", at), form.size());
    out += form.substr(at, found - at);
    if (found != form.size()) out += name;
    at = found + 4;
  }
  return out;
}

}  // namespace

std::string emit_shards(const ir::Program& program, const Options& options, OpenMp openmp) {
  std::string out = heading(program, options.title);
  out += text("#include <stddef.h>\n#include <string.h>\n\n#define N_SHARDS ",
              program.input_shards(), "\n#define R_SHARDS ", program.output_shards(),
              "\n#define UNITS ", program.unit_count(), "\n#define PIECE_BYTES ((size_t)4096)",
              "\n#define ADDED_BYTES ((size_t)", added_bytes(program), ")\n");
  out += macros;
  out += equations_macro(program, "(word){0}");
  out += vector_macros;
  out += named(declaration, options.name);
  out += named(columns_head, options.name);
  out += text("  const unsigned char *const ns[] = {",
              shard_list("n", "n_at", program.input_shards()), "};\n");
  out += text("  unsigned char *const rs[] = {", shard_list("r", "r_at", program.output_shards()),
              "};\n");
  out += columns_tail;
  out += named(body, options.name);
  if (openmp.enabled) out += named(parallel_loop, options.name);
  out += named(loop, options.name);
  return text(out, undefs, vector_undefs);
}

}  // namespace calpe::emit
