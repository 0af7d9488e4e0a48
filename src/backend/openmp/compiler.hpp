// SPDX-License-Identifier: Apache-2.0
// The system's C compiler: which one, what it calls itself, and how it is asked.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::backend::openmp {

struct Compiler {
  std::string path;
  // Path, size and time of the file, and the first line of --version: an upgrade is another one.
  std::string identity;
};

// `name`, a program in PATH or a path; empty: the first of cc, gcc, clang in PATH. Runs it once,
// for its version. Fails with backend_unavailable.
Result<Compiler> find_compiler(std::string_view name);

// Everything that decides the object besides the source. The vectors are said by name: "native"
// would mean something else on the next machine that reads the cache.
std::vector<std::string> compiler_flags(std::size_t vector_bytes, bool with_openmp);

// The line of a compiler's output that tells most: its first error, else its first line.
std::string first_error(std::string_view output);

}  // namespace calpe::backend::openmp
