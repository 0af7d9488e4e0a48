// SPDX-License-Identifier: Apache-2.0
#include "backend/openmp/compiler.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <sys/stat.h>

#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::openmp {

namespace {

constexpr std::array usual_names = {"cc", "gcc", "clang"};
constexpr std::chrono::seconds version_time(5);

Result<std::string> find_path(std::string_view name) {
  if (!name.empty()) {
    if (std::optional<std::string> path = find_program(name)) return *std::move(path);
    return make_error(ErrorCode::backend_unavailable, "CALPE_CC=", name, ": no such program");
  }
  for (const char* usual : usual_names) {
    if (std::optional<std::string> path = find_program(usual)) return *std::move(path);
  }
  return make_error(ErrorCode::backend_unavailable,
                    "no C compiler: neither cc nor gcc nor clang is in PATH");
}

std::string_view first_line(std::string_view output) {
  return output.substr(0, output.find('\n'));
}

}  // namespace

Result<Compiler> find_compiler(std::string_view name) {
  CALPE_TRY(std::string path, find_path(name));
  Result<Subprocess> process = Subprocess::start({path, "--version"}, version_time);
  if (!process) return make_error(ErrorCode::backend_unavailable, process.error().message);
  const ExitStatus status = process->wait();
  // With SIGCHLD ignored there is no exit code; the output is enough.
  const bool has_answered = status.is_success() || status.kind == ExitStatus::Kind::unknown;
  if (!has_answered || status.output.empty()) {
    return make_error(ErrorCode::backend_unavailable, path, " --version ", to_string(status));
  }
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0) {
    return make_error(ErrorCode::backend_unavailable, path, " disappeared");
  }
  std::string identity = text(path, " ", about.st_size, " ", about.st_mtim.tv_sec, ".",
                              about.st_mtim.tv_nsec, " ", first_line(status.output));
  return Compiler{.path = std::move(path), .identity = std::move(identity)};
}

std::vector<std::string> compiler_flags(std::size_t vector_bytes, bool with_openmp) {
  std::vector<std::string> flags = {"-std=c11", "-O2", "-fPIC", "-shared"};
#if defined(__x86_64__)
  if (vector_bytes >= 64) {
    flags.insert(flags.end(), {"-mavx512f", "-mavx512bw", "-mavx512vl"});
  } else if (vector_bytes >= 32) {
    flags.emplace_back("-mavx2");
  }
#else
  static_cast<void>(vector_bytes);
#endif
  if (with_openmp) flags.emplace_back("-fopenmp");
  return flags;
}

std::string first_error(std::string_view output) {
  const std::size_t found = output.find("error: ");
  if (found == std::string_view::npos) return std::string(first_line(output));
  const std::size_t start = output.rfind('\n', found) + 1;  // npos + 1 is 0
  return std::string(first_line(output.substr(start)));
}

}  // namespace calpe::backend::openmp
