// SPDX-License-Identifier: Apache-2.0
// The driver functions that gpu_device.cpp needs: memory, programs, queues. OpenCL, CUDA and Vulkan
// implement it; everything they share is above it. Errors name the driver call and code:
// out_of_memory, compile_failed (build, with the compiler's log), otherwise device_failed.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/caller_queues.hpp"
#include "base/text.hpp"
#include "emit/device_kernel.hpp"

namespace calpe::backend::gpu {

// Compile time grows faster than the number of terms. For CPUs, compilers are slower and gain less
// over the table kernel than for GPUs. Packets of any 10+4 are below the limit.
inline constexpr std::size_t terms_max_of_gpus = 30'000;
inline constexpr std::size_t terms_max_of_cpus = 2'000;

struct DriverInfo {
  std::string name = {};         // "cuda:0", "opencl:1"
  std::string description = {};  // "NVIDIA H100 80GB HBM3, driver 13.0"
  // Device, driver and their versions: a binary is only valid for the same identity.
  std::string identity = {};
  emit::DeviceLanguage language = emit::DeviceLanguage::opencl;
  // Candidates for tuning, the likely best first.
  std::vector<std::size_t> word_bytes = {};
  std::vector<unsigned> group_items = {};
  // The device accesses this process's memory at host addresses, so nothing is copied.
  bool shares_memory = false;
  // Place::at is an address, so one launch may use any number of buffers. Otherwise it is an offset
  // into Place::buffer; all inputs of a launch are then in one buffer, and all outputs in one.
  bool has_addresses = false;
  // With has_addresses: no memory of the host has an address of the device's memory.
  bool has_unified_addresses = false;
  bool waits_for_context = false;  // wait_for_context() has an effect
  bool knows_owners = false;       // owner_of() knows device memory by its address
  bool takes_caller_queues = false;
  std::size_t memory_bytes = 0;
  std::size_t allocation_max = std::numeric_limits<std::size_t>::max();  // bytes per allocation
  // Maximum grid in y and z, and work-items in x. Every device supports 65,535 groups.
  std::size_t grid_max = 65535;
  std::size_t words_max = std::size_t{1} << 30U;
  std::size_t terms_max = terms_max_of_gpus;  // larger programs are not compiled
};

// A location in device memory.
struct Place {
  void* buffer = nullptr;  // nullptr if has_addresses
  std::uint64_t at = 0;
};

// Whose memory an address is.
enum class Owner : std::uint8_t { host, device, other_device };

struct Launch {
  std::size_t entry = 0;  // index into DeviceText::entries
  // Arguments, see device_kernel.hpp.
  void* n_base = nullptr;  // Place::buffer of every input
  void* r_base = nullptr;
  Place shards = {};
  std::uint64_t first = 0;
  std::uint64_t column_bytes = 0;
  std::uint64_t unit_stride = 0;
  std::uint64_t group_stride = 0;
  struct Table {
    Place bits = {};
    std::uint64_t row_groups = 1;
    std::uint64_t input_shards = 0;
    std::uint64_t output_shards = 0;
    std::uint64_t unit_count = 1;
    bool accumulate = false;
  };
  const Table* table = nullptr;  // table kernels only
  // Work-items; x is rounded up to whole groups, and takes row_groups times as many. All non-zero;
  // x at most words_max, y and z at most grid_max.
  std::size_t words = 1;
  std::size_t row_groups = 1;  // DeviceText::row_groups, or that of the table
  std::size_t groups = 1;
  std::size_t stripes = 1;
};

class Module {  // compiled source
 public:
  virtual ~Module() = default;
  // Bytes per work-item that the compiler keeps in memory for want of registers; of the worst
  // kernel. 0 if the driver does not report them, and for CPUs, where memory means cache.
  virtual std::size_t spill_bytes() const noexcept { return 0; }
};

// A mark in a queue.
class Event {
 public:
  virtual ~Event() = default;
  // Waits until all work before the mark is done. Fails with device_failed if that fails or takes
  // longer than `limit`.
  virtual Status wait(std::chrono::milliseconds limit) = 0;
  // Called after a failed wait: the work may still run, so keep everything it uses.
  virtual bool may_be_running() const noexcept = 0;
};

// Seconds spent by the device; only for queues opened with profiling.
struct PhaseSeconds {
  double copy_in = 0;
  double kernel = 0;
  double copy_out = 0;
};

// Executes launches in order, asynchronously.
class LaunchQueue {
 public:
  virtual ~LaunchQueue() = default;  // does not wait
  virtual Status launch(const Module& module, const Launch& launch) = 0;
};

// Executes work in order, asynchronously. Everything passed to a call must stay valid until a later
// event is done. One thread at a time may use a queue.
class Queue : public LaunchQueue {
 public:
  virtual Status copy_in(const Place& to, const std::byte* from, std::size_t bytes) = 0;
  virtual Status copy_out(std::byte* to, const Place& from, std::size_t bytes) = 0;
  virtual Status copy_within(const Place& to, const Place& from, std::size_t bytes) = 0;
  virtual Result<std::unique_ptr<Event>> mark() = 0;
  // Times of all work done since the last call.
  virtual Result<PhaseSeconds> take_seconds() = 0;
};

// A queue of the caller, for the time of one call. Commands run in order, after what the caller
// queued before.
class CallerQueue : public LaunchQueue {
 public:
  // Writes numbers to device memory at a multiple of `write_multiple` numbers. They are copied
  // before the call returns, and a graph that captures the queue keeps its own copy.
  static constexpr std::size_t write_multiple = 16;
  virtual Status write(const Place& to, std::span<const std::uint64_t> numbers) = 0;
};

// Adds commands to a queue of the caller. A pointer and a reference instead of std::function, which
// allocates.
class CallerWork {
 public:
  virtual Status add_to(CallerQueue& queue) const = 0;

 protected:
  ~CallerWork() = default;
};

// Thread-safe, except for Queue.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual const DriverInfo& info() const noexcept = 0;

  // `form` is the form that the source was emitted with; its group_items is the size of every
  // group.
  virtual Result<std::unique_ptr<Module>> build(const emit::DeviceText& text,
                                                const emit::DeviceForm& form) = 0;
  // The same from binary(); fails with compile_failed if the driver rejects it.
  virtual Result<std::unique_ptr<Module>> load(std::span<const std::byte> binary,
                                               const emit::DeviceText& text,
                                               const emit::DeviceForm& form) = 0;
  // Returns a binary to load next time, or empty if it is not worth keeping. Call it after the
  // first launch: PoCL compiles only then.
  virtual Result<std::vector<std::byte>> binary(const Module& module) = 0;

  virtual Result<Place> allocate(std::size_t bytes) = 0;
  virtual void release(const Place& place) = 0;
  // Pinned host memory, which the device copies fast.
  virtual Result<std::byte*> allocate_host(std::size_t bytes) = 0;
  virtual void release_host(std::byte* memory) = 0;
  // Pins the caller's host memory while it is registered.
  virtual Status register_host(std::byte* memory, std::size_t bytes) = 0;
  virtual void unregister_host(std::byte* memory) = 0;
  // Imports the caller's memory on this device, a CUdeviceptr or cl_mem, which the caller keeps and
  // which must outlive its use. Fails with invalid_argument for a handle of another driver.
  virtual Result<Place> import(HandleKind kind, std::uint64_t handle, std::size_t bytes) = 0;
  virtual void forget(const Place& place) = 0;  // ends import
  // Owner of memory that was neither allocated nor imported here. Only with knows_owners.
  virtual Owner owner_of(const std::byte* /*address*/) const noexcept { return Owner::host; }
  // The cl_context or CUcontext in which imported buffers must be created; 0: none.
  virtual std::uint64_t native_context() const noexcept { return 0; }

  // Waits until all work in this context is done, from any caller. Has no time limit, so call it
  // through ContextWait. OpenCL only has such a call per queue.
  virtual Status wait_for_context() { return Done{}; }

  struct QueueOptions {
    bool profiling = false;
  };
  virtual Result<std::unique_ptr<Queue>> open_queue(const QueueOptions& options) = 0;

  // Only with takes_caller_queues. Builds what use_caller_queue() needs, once.
  virtual Status prepare_caller_queues() { return Done{}; }
  // Lets `work` add to the queue. Fails with invalid_argument, before that, if the queue is not one
  // of this device and context. Allocates nothing unless it fails.
  virtual Status use_caller_queue(const QueueHandle& /*queue*/, const CallerWork& /*work*/) {
    return make_error(ErrorCode::invalid_argument, info().name, " takes no queues of the caller");
  }
};

}  // namespace calpe::backend::gpu
