// SPDX-License-Identifier: Apache-2.0
// The system's C compiler: path, identity and flags.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::backend::openmp {

struct Compiler {
  std::string path;
  // Path, size and time of the file, and the first line of --version; an upgrade changes it.
  std::string identity;
};

// `name`: a program in PATH or a path; empty: the first of cc, gcc, clang in PATH. Runs it once to
// get its version. Fails with backend_unavailable.
Result<Compiler> find_compiler(std::string_view name);

// Everything that determines the object apart from the source. Names the vector extensions, because
// "native" would mean something else on another machine that reads the cache.
std::vector<std::string> compiler_flags(std::size_t vector_bytes, bool with_openmp);

// The most useful line of the compiler's output: its first error, otherwise its first line.
std::string first_error(std::string_view output);

}  // namespace calpe::backend::openmp
