// SPDX-License-Identifier: Apache-2.0
// Compiles xor programs with the system's C compiler: emitted as C, compiled by a child process,
// checked against the cpu device on first use, and kept in memory and on disk. Until then, for gf
// programs, and on any failure, the kernels of the cpu device run.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/openmp/build.hpp"
#include "kernel_cache/cache_folder.hpp"

namespace calpe::backend::openmp {

struct OpenMpOptions {
  std::string compiler = {};  // program or path; empty: cc, gcc or clang
  int threads = 1;            // 1: the calling thread, without OpenMP; n: n OpenMP threads
  std::chrono::milliseconds time_limit = std::chrono::minutes(2);  // per compiler run
  kernel::CacheLocation cache = {};
  // compile() waits for the compiler and fails with compile_failed if there is no compiled code.
  bool waits = false;
};

// Fails with backend_unavailable: no compiler, or an explicit cache directory that is refused.
Result<std::unique_ptr<Device>> make_openmp_device(const OpenMpOptions& options);

// variant: number of threads, "1" to "1024"; empty is "1". Reads CALPE_CC, CALPE_CACHE_DIR and
// CALPE_WAIT_COMPILE.
Result<std::unique_ptr<Device>> open_openmp(std::string_view variant);
std::vector<BackendStatus> list_openmp();

struct KernelState {
  Phase phase = Phase::waiting;
  std::string reason = {};  // if failed
};
// Snapshot of a kernel that such a device compiled from an xor program.
KernelState kernel_state(const Kernel& kernel);

}  // namespace calpe::backend::openmp
