// SPDX-License-Identifier: Apache-2.0
// Driver functions for modules, launches, streams and events.
#include <cstdio>
#include <cstring>

#include "ptx_interpreter/captures.hpp"
#include "ptx_interpreter/driver_state.hpp"
#include "ptx_interpreter/ptx_machine.hpp"

using namespace calpe::ptx;
using calpe::text;

namespace {

constexpr std::uint32_t threads_max = 1024;
constexpr std::size_t shared_max = 48 * 1024;  // for every device, unless more is requested

enum JitOption : int { error_log_buffer = 5, error_log_buffer_bytes = 6 };

// What a launch needs when it runs.
struct QueuedLaunch {
  std::shared_ptr<Function> function = {};
  LaunchShape shape = {};
  std::vector<std::byte> parameters = {};
  LaunchFate fate = {};
};

void check_shape(const Kernel& kernel, const LaunchShape& shape) {
  const auto& [x, y, z] = shape.grid;
  const std::size_t threads = shape.threads();
  if (x == 0 || y == 0 || z == 0 || x > grid_x_max || y > grid_yz_max || z > grid_yz_max) {
    throw PtxError(invalid_value, text("grid of ", x, " x ", y, " x ", z, " blocks"));
  }
  if (threads == 0 || threads > threads_max) {
    throw PtxError(invalid_value, text("block of ", threads, " threads"));
  }
  const bool is_wanted = kernel.threads_required == 0 ? threads <= kernel.threads_max
                                                      : threads == kernel.threads_required;
  if (!is_wanted) {
    throw PtxError(
        invalid_value,
        text("block of ", threads, " threads, kernel ", kernel.name, " is made for ",
             kernel.threads_required == 0 ? kernel.threads_max : kernel.threads_required));
  }
  if (kernel.shared_bytes > shared_max) {
    throw PtxError(launch_out_of_resources, text(kernel.shared_bytes, " bytes of shared memory"));
  }
}

Accesses run_launch(const Device& device, const QueuedLaunch& launch) {
  const Kernel& kernel = *launch.function->kernel;
  if (launch.fate.hangs) Controls::instance().hang();
  const MemoryView view = device.memory.view();
  AccessLog log(kernel.code.size());
  WorkMeter meter(Controls::instance().cache());
  try {
    if (launch.fate.code != 0) {
      throw PtxError(static_cast<Result>(launch.fate.code), "launch was told to fail");
    }
    Machine(kernel, launch.shape, launch.parameters, {view, log, meter}).run();
    const std::string conflict = log.find_conflict();
    if (!conflict.empty()) throw PtxError(launch_failed, conflict);
  } catch (const PtxError& error) {
    throw PtxError(error.result, text("kernel ", kernel.name, ": ", error.what()));
  }
  Controls::instance().add_work(meter.take());
  if (launch.fate.is_spoiled && !log.writes().empty()) {
    std::byte* wrong = view.find(log.writes().front().start, 1);
    if (wrong != nullptr) *wrong ^= std::byte{0x10};
  }
  return {.reads = log.all_reads(), .writes = log.writes()};
}

// A graph must not outlive its kernels.
void check_loaded(const QueuedLaunch& launch) {
  if (!launch.function->owner->is_unloaded) return;
  throw PtxError(invalid_handle, text("kernel ", launch.function->kernel->name,
                                      " of a graph is of a module that was unloaded"));
}

// Arguments that look like addresses of device memory.
std::vector<Span> find_spans(const Device& device, const QueuedLaunch& launch) {
  std::vector<Span> spans;
  for (const auto& parameter : launch.function->kernel->parameters) {
    std::uint64_t value = 0;
    if (parameter.bytes != sizeof value) continue;
    std::memcpy(&value, launch.parameters.data() + parameter.offset, sizeof value);
    const AllocationRef found = device.memory.find(value);
    if (found != nullptr) spans.push_back({found->start, found->bytes});
  }
  return spans;
}

// Asking for the state of captured work is an error, and invalidates the capture.
void check_not_captured(const Stream& stream) {
  const auto capture = stream.capture();
  if (capture == nullptr) return;
  capture->invalidate();
  throw PtxError(stream_capture_unsupported, "the stream is captured");
}
void check_not_captured(const Event& event) {
  const auto capture = event.captured().first;
  if (capture == nullptr) return;
  capture->invalidate();
  throw PtxError(captured_event, "the event was recorded in a captured stream");
}

void write_log(const std::string& message, unsigned count, const int* options, void** values) {
  char* buffer = nullptr;
  std::size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == error_log_buffer) buffer = static_cast<char*>(values[i]);
    if (options[i] == error_log_buffer_bytes) bytes = reinterpret_cast<std::uintptr_t>(values[i]);
  }
  if (buffer != nullptr && bytes > 0) std::snprintf(buffer, bytes, "%s", message.c_str());
}

}  // namespace

CALPE_PTX_EXPORT int cuModuleLoadDataEx(void** handle, const void* image, unsigned count,
                                        int* options, void** values) {
  return driver_call("cuModuleLoadDataEx", true, [&] {
    need(handle);
    need(image);
    need_device();
    auto loaded = std::make_shared<LoadedModule>();
    loaded->local_bytes = Controls::instance().local_bytes();
    try {
      loaded->module = parse(static_cast<const char*>(image));
    } catch (const PtxError& error) {
      write_log(error.what(), count, options, values);
      throw;
    }
    *handle = DriverState::instance().modules.add(std::move(loaded));
    return success;
  });
}

CALPE_PTX_EXPORT int cuModuleUnload(void* handle) {
  return driver_call("cuModuleUnload", false, [&] {
    need_device();
    DriverState& state = DriverState::instance();
    const auto removed = state.modules.remove(handle);
    removed->is_unloaded = true;
    for (void* function : removed->functions)
      state.functions.remove(function);
    return success;
  });
}

CALPE_PTX_EXPORT int cuModuleGetFunction(void** function, void* handle, const char* name) {
  return driver_call("cuModuleGetFunction", true, [&] {
    need(function);
    need_device();
    DriverState& state = DriverState::instance();
    auto owner = state.modules.find(handle);
    const auto found = owner->module.kernels.find(name);
    if (found == owner->module.kernels.end()) throw PtxError(not_found, text("no kernel ", name));
    *function = state.functions.add(std::make_shared<Function>(Function{owner, &found->second}));
    owner->functions.push_back(*function);
    return success;
  });
}

CALPE_PTX_EXPORT int cuFuncGetAttribute(int* value, int attribute, void* handle) {
  return driver_call("cuFuncGetAttribute", true, [&] {
    need(value);
    const auto function = DriverState::instance().functions.find(handle);
    switch (attribute) {
      case 3:
        *value = function->owner->local_bytes;
        return success;
      case 4:
        *value = 255;
        return success;  // unknown without a real compiler
      default:
        throw PtxError(invalid_value, text("unknown attribute ", attribute));
    }
  });
}

CALPE_PTX_EXPORT int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y,
                                    unsigned grid_z, unsigned block_x, unsigned block_y,
                                    unsigned block_z, unsigned shared_bytes, void* stream_handle,
                                    void** arguments, void** extra) {
  return driver_call("cuLaunchKernel", true, [&] {
    DriverState& state = DriverState::instance();
    Device& device = need_device();
    auto launch = std::make_shared<QueuedLaunch>();
    launch->function = state.functions.find(function);
    const auto stream = state.find_stream(stream_handle);
    if (&stream->device != &device) throw PtxError(invalid_handle, "stream of another device");
    if (extra != nullptr || shared_bytes != 0) {
      throw PtxError(invalid_value, "extra arguments and dynamic shared memory are not known");
    }
    const Kernel& kernel = *launch->function->kernel;
    launch->shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}};
    check_shape(kernel, launch->shape);
    launch->parameters.resize(kernel.parameter_bytes);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      std::memcpy(launch->parameters.data() + kernel.parameters[i].offset, arguments[i],
                  kernel.parameters[i].bytes);
    }
    launch->fate = Controls::instance().judge_launch();
    stream->push(
        {.work = [&device, launch](Accesses& accesses) { accesses = run_launch(device, *launch); },
         .spans = find_spans(device, *launch),
         .is_slowed = true,
         .check = [launch] { check_loaded(*launch); }});
    return success;
  });
}

CALPE_PTX_EXPORT int cuStreamCreate(void** handle, unsigned /*flags*/) {
  return driver_call("cuStreamCreate", true, [&] {
    need(handle);
    *handle = DriverState::instance().streams.add(Stream::start(need_device()));
    return success;
  });
}

CALPE_PTX_EXPORT int cuStreamGetCtx(void* handle, void** context) {
  return driver_call("cuStreamGetCtx", true, [&] {
    need(context);
    *context = &DriverState::instance().find_stream(handle)->device;
    return success;
  });
}

CALPE_PTX_EXPORT int cuStreamDestroy_v2(void* handle) {
  return driver_call("cuStreamDestroy_v2", false, [&] {
    DriverState::instance().streams.remove(handle)->close();
    return success;
  });
}

CALPE_PTX_EXPORT int cuStreamQuery(void* handle) {
  return driver_call("cuStreamQuery", true, [&] {
    const auto stream = DriverState::instance().find_stream(handle);
    check_not_captured(*stream);
    const Clock all = Hazards::instance().clock(stream->id);
    if (!stream->is_idle()) return int{not_ready};
    Hazards::instance().know(all);
    return stream->device.lost_code();
  });
}

CALPE_PTX_EXPORT int cuStreamSynchronize(void* handle) {
  return driver_call("cuStreamSynchronize", true, [&] {
    const auto stream = DriverState::instance().find_stream(handle);
    check_not_captured(*stream);
    const Clock all = Hazards::instance().clock(stream->id);
    stream->wait_idle();
    Hazards::instance().know(all);
    return stream->device.lost_code();
  });
}

CALPE_PTX_EXPORT int cuCtxSynchronize() {
  return driver_call("cuCtxSynchronize", true, [&] {
    Device& device = need_device();
    for (const auto& stream : device.streams()) {
      const Clock all = Hazards::instance().clock(stream->id);
      stream->wait_idle();
      Hazards::instance().know(all);
    }
    return device.lost_code();
  });
}

CALPE_PTX_EXPORT void calpe_ptx_hold(void* stream) {
  DriverState::instance().find_stream(stream)->hold();
}

CALPE_PTX_EXPORT int cuStreamWaitEvent(void* handle, void* event_handle, unsigned /*flags*/) {
  return driver_call("cuStreamWaitEvent", true, [&] {
    DriverState& state = DriverState::instance();
    const auto stream = state.find_stream(handle);
    const auto event = state.events.find(event_handle);
    wait_for_event(*stream, event);
    return success;
  });
}

CALPE_PTX_EXPORT int cuEventCreate(void** handle, unsigned flags) {
  return driver_call("cuEventCreate", true, [&] {
    need(handle);
    const bool has_time = (flags & 2) == 0;
    *handle = DriverState::instance().events.add(std::make_shared<Event>(need_device(), has_time));
    return success;
  });
}

CALPE_PTX_EXPORT int cuEventDestroy_v2(void* handle) {
  return driver_call("cuEventDestroy_v2", false, [&] {
    DriverState::instance().events.remove(handle);
    return success;
  });
}

CALPE_PTX_EXPORT int cuEventRecord(void* handle, void* stream_handle) {
  return driver_call("cuEventRecord", true, [&] {
    DriverState& state = DriverState::instance();
    const auto event = state.events.find(handle);
    const auto stream = state.find_stream(stream_handle);
    if (&stream->device != &event->device) {
      throw PtxError(invalid_handle, "event and stream of different devices");
    }
    record_event(event, *stream);
    return success;
  });
}

CALPE_PTX_EXPORT int cuEventQuery(void* handle) {
  return driver_call("cuEventQuery", true, [&] {
    const auto event = DriverState::instance().events.find(handle);
    check_not_captured(*event);
    if (!event->is_done()) return int{not_ready};
    Hazards::instance().know(event->before());
    // Work before the event may have failed since this call began.
    return event->device.lost_code();
  });
}

CALPE_PTX_EXPORT int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  return driver_call("cuEventElapsedTime", true, [&] {
    need(milliseconds);
    DriverState& state = DriverState::instance();
    const auto first = state.events.find(start);
    const auto last = state.events.find(end);
    if (!first->has_time || !last->has_time) {
      throw PtxError(invalid_handle, "event without timing");
    }
    if (!first->is_done() || !last->is_done()) return not_ready;
    const std::chrono::duration<float, std::milli> elapsed = last->time() - first->time();
    *milliseconds = elapsed.count();
    return success;
  });
}
