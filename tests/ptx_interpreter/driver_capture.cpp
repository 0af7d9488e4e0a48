// SPDX-License-Identifier: Apache-2.0
// Stream captures of the application, as far as they concern other threads: in the global mode, a
// call that might synchronise invalidates the capture, unless its thread is in the relaxed mode.
#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "ptx_interpreter/driver_state.hpp"

using namespace calpe::ptx;

namespace {

constexpr int mode_relaxed = 2;
constexpr std::array<std::string_view, 8> unsafe = {
    "cuMemAlloc_v2",        "cuMemFree_v2",        "cuMemHostAlloc",     "cuMemFreeHost",
    "cuMemHostRegister_v2", "cuMemHostUnregister", "cuModuleLoadDataEx", "cuModuleUnload"};

std::atomic<bool> is_capturing = false;
thread_local int thread_mode = 0;  // global, as in every new thread

}  // namespace

namespace calpe::ptx {

bool breaks_capture(std::string_view name) {
  if (!is_capturing) return false;
  // Waits for a stream that cannot run, in every mode.
  if (name == "cuCtxSynchronize") return true;
  return thread_mode != mode_relaxed && std::ranges::find(unsafe, name) != unsafe.end();
}

}  // namespace calpe::ptx

CALPE_PTX_EXPORT int cuThreadExchangeStreamCaptureMode(int* mode) {
  return driver_call("cuThreadExchangeStreamCaptureMode", false, [&] {
    need(mode);
    std::swap(*mode, thread_mode);
    return success;
  });
}

CALPE_PTX_EXPORT void calpe_ptx_capture(int is_on) {
  is_capturing = is_on != 0;
}
