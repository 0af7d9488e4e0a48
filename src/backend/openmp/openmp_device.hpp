// SPDX-License-Identifier: Apache-2.0
// The device that lets the system's C compiler compile: xor programs are emitted as C, compiled by
// a child process, checked against the cpu device on first use, and kept in memory and on disk.
// Until then, for gf programs, and whenever anything about it fails, the cpu device's kernels run.
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
  int threads = 1;  // 1: no OpenMP at all, the caller's thread; more: so many OpenMP threads
  std::chrono::milliseconds time_limit = std::chrono::minutes(2);  // of a compiler
  kernel::CacheLocation cache = {};
  // compile() waits for the compiler, and fails with compile_failed when there is no compiled code.
  bool waits = false;
};

// Fails with backend_unavailable: no compiler, or an explicit cache folder that is refused.
Result<std::unique_ptr<Device>> make_openmp_device(const OpenMpOptions& options);

// variant: threads, "1" to "1024"; empty is "1". Further options from the environment: CALPE_CC,
// CALPE_CACHE_DIR, CALPE_WAIT_COMPILE.
Result<std::unique_ptr<Device>> open_openmp(std::string_view variant);
std::vector<BackendStatus> list_openmp();

struct KernelState {
  Phase phase = Phase::waiting;
  std::string reason = {};  // when failed
};
// Of a kernel that such a device compiled from an xor program. A snapshot.
KernelState kernel_state(const Kernel& kernel);

}  // namespace calpe::backend::openmp
