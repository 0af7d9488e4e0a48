// SPDX-License-Identifier: Apache-2.0
// Shared by the driver functions: devices, handles, the current context, and the code around each
// call.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "ptx_interpreter/controls.hpp"
#include "ptx_interpreter/streams.hpp"

#define CALPE_PTX_EXPORT extern "C" __attribute__((visibility("default")))

namespace calpe::ptx {

// Limits on the blocks of a launch, as on real devices.
inline constexpr std::uint32_t grid_x_max = 0x7FFFFFFF;
inline constexpr std::uint32_t grid_yz_max = 65535;

inline constexpr const char* device_name = "PTX interpreter, no GPU";

// Objects by handle number. Numbers are never reused, so that stale handles are detected.
template <class T>
class Handles {
 public:
  void* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    last_ += 16;
    objects_.emplace(last_, std::move(object));
    return reinterpret_cast<void*>(last_);
  }
  std::shared_ptr<T> find(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == objects_.end()) throw PtxError(invalid_handle, "handle of nothing that is alive");
    return found->second;
  }
  std::shared_ptr<T> remove(const void* handle) {
    auto object = find(handle);
    const std::lock_guard lock(mutex_);
    objects_.erase(reinterpret_cast<std::uintptr_t>(handle));
    return object;
  }

 private:
  mutable std::mutex mutex_ = {};
  std::map<std::uintptr_t, std::shared_ptr<T>> objects_ = {};
  std::uintptr_t last_ = 0;
};

struct Graph;  // captures.hpp

struct LoadedModule {
  std::atomic<bool> is_unloaded = false;
  Module module = {};
  std::vector<void*> functions = {};
  int local_bytes = 0;
};
struct Function {
  std::shared_ptr<LoadedModule> owner = {};
  const Kernel* kernel = nullptr;
};

struct DriverState {
  static DriverState& instance();  // never destroyed

  std::vector<std::unique_ptr<Device>> devices = {};
  Handles<Stream> streams = {};
  Handles<const Graph> graphs = {};
  Handles<const Graph> executables = {};
  // The default stream, of which each device has one, or a stream of cuStreamCreate.
  std::shared_ptr<Stream> find_stream(const void* handle);
  Handles<Event> events = {};
  Handles<LoadedModule> modules = {};
  Handles<Function> functions = {};

  std::mutex mutex = {};
  std::map<std::uint64_t, std::size_t> host_allocations = {};
  std::map<std::uint64_t, std::size_t> host_registered = {};
  std::vector<int> retained = {};  // contexts, by device
  std::map<int, std::shared_ptr<Stream>> default_streams = {};
};

// Device of the calling thread's context, or nullptr.
Device* current_device();
// The same; throws PtxError if there is none.
Device& need_device();
std::vector<Device*>& context_stack();

// Null or CU_STREAM_LEGACY. Its implicit waits for other streams are left out.
inline bool is_default_stream(const void* handle) {
  return reinterpret_cast<std::uintptr_t>(handle) <= 1;
}

// Whether the call invalidates a capture, of a stream or begun by calpe_ptx_capture().
bool breaks_capture(std::string_view name);

// While it exists, the calling thread is in the driver.
class Inside {
 public:
  Inside() { ++depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { --depth; }
  static thread_local int depth;
};

// Runs `work`, unless the call must fail or the device is lost. Converts exceptions to results.
template <class Work>
int driver_call(const char* name, bool is_counted, const Work& work) {
  const Inside inside;
  Controls& controls = Controls::instance();
  DriverState::instance();
  Device* device = current_device();
  const auto verdict =
      controls.judge_call(name, is_counted, device == nullptr ? -1 : device->index);
  if (verdict.code != 0) {
    const std::string message = text(name, " was told to fail");
    controls.report(message, false);
    if (verdict.loses_device && device != nullptr) device->lose(verdict.code, message);
    return verdict.code;
  }
  if (breaks_capture(name)) {
    controls.report(text(name, " during a capture"), true);
    return stream_capture_unsupported;
  }
  if (is_counted && device != nullptr && device->lost_code() != 0) return device->lost_code();
  try {
    return work();
  } catch (const PtxError& error) {
    const bool is_misuse = error.result == invalid_value || error.result == invalid_handle ||
                           error.result == invalid_context;
    controls.report(text(name, ": ", error.what()), is_misuse);
    return error.result;
  }
}

template <class T>
void need(T* pointer) {
  if (pointer == nullptr) throw PtxError(invalid_value, "a pointer is null");
}

}  // namespace calpe::ptx
