// SPDX-License-Identifier: Apache-2.0
// Driver functions for captures and graphs. In the global mode, a call that might synchronise
// invalidates the capture, unless its thread is in the relaxed mode.
#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "ptx_interpreter/captures.hpp"
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
  // Waits for a stream that cannot run, in every mode.
  const bool waits = name == "cuCtxSynchronize";
  if (!waits && std::ranges::find(unsafe, name) == unsafe.end()) return false;
  const bool is_relaxed = thread_mode == mode_relaxed;
  const bool is_announced = is_capturing && (waits || !is_relaxed);
  return Capture::invalidate_all(waits, is_relaxed) || is_announced;
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

CALPE_PTX_EXPORT int cuStreamBeginCapture_v2(void* handle, int mode) {
  return driver_call("cuStreamBeginCapture_v2", true, [&] {
    if (mode < 0 || mode > mode_relaxed) throw PtxError(invalid_value, "unknown capture mode");
    DriverState& state = DriverState::instance();
    if (is_default_stream(handle)) {
      throw PtxError(stream_capture_unsupported, "the default stream cannot be captured");
    }
    const auto stream = state.find_stream(handle);
    if (stream->capture() != nullptr) throw PtxError(illegal_state, "stream is captured already");
    Capture::begin(stream, static_cast<CaptureMode>(mode));
    return success;
  });
}

CALPE_PTX_EXPORT int cuStreamIsCapturing(void* handle, int* status) {
  return driver_call("cuStreamIsCapturing", true, [&] {
    need(status);
    *status = DriverState::instance().find_stream(handle)->capture() == nullptr ? 0 : 1;
    return success;
  });
}

CALPE_PTX_EXPORT int cuStreamEndCapture(void* handle, void** graph) {
  return driver_call("cuStreamEndCapture", true, [&] {
    need(graph);
    *graph = nullptr;
    DriverState& state = DriverState::instance();
    const auto stream = state.find_stream(handle);
    const auto capture = stream->capture();
    if (capture == nullptr) throw PtxError(illegal_state, "stream is not captured");
    *graph = state.graphs.add(std::make_shared<const Graph>(capture->end(*stream)));
    return success;
  });
}

CALPE_PTX_EXPORT int cuGraphInstantiateWithFlags(void** executable, void* graph,
                                                 unsigned long long /*flags*/) {
  return driver_call("cuGraphInstantiateWithFlags", true, [&] {
    need(executable);
    DriverState& state = DriverState::instance();
    *executable = state.executables.add(state.graphs.find(graph));
    return success;
  });
}

CALPE_PTX_EXPORT int cuGraphLaunch(void* executable, void* stream) {
  return driver_call("cuGraphLaunch", true, [&] {
    DriverState& state = DriverState::instance();
    state.executables.find(executable)->launch(state.find_stream(stream));
    return success;
  });
}

CALPE_PTX_EXPORT int cuGraphExecDestroy(void* executable) {
  return driver_call("cuGraphExecDestroy", false, [&] {
    DriverState::instance().executables.remove(executable);
    return success;
  });
}

CALPE_PTX_EXPORT int cuGraphDestroy(void* graph) {
  return driver_call("cuGraphDestroy", false, [&] {
    DriverState::instance().graphs.remove(graph);
    return success;
  });
}
