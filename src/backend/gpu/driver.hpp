// SPDX-License-Identifier: Apache-2.0
// What gpu_device.cpp needs of a driver: memory, programs, queues. OpenCL and CUDA implement it;
// all that they have in common stands above it. Every failure names the driver's call and code:
// out_of_memory, compile_failed (build, with the compiler's log), else device_failed.
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
#include "emit/device_kernel.hpp"

namespace calpe::backend::gpu {

struct DriverInfo {
  std::string name = {};         // "cuda:0", "opencl:1"
  std::string description = {};  // "NVIDIA H100 80GB HBM3, driver 13.0"
  // Device, driver and their versions: a binary is good for nobody else.
  std::string identity = {};
  emit::DeviceLanguage language = emit::DeviceLanguage::opencl;
  // What the self-test chooses from, the likely best first.
  std::vector<std::size_t> word_bytes = {};
  std::vector<unsigned> group_items = {};
  // The device reads and writes this process's memory at the host's addresses: nothing is copied.
  bool shares_memory = false;
  // Place::at is an address, so that one launch may use any number of buffers. Otherwise it is an
  // offset into Place::buffer, and all inputs of a launch lie in one buffer, as do all outputs.
  bool has_addresses = false;
  bool waits_for_context = false;  // wait_for_context() does something
  std::size_t memory_bytes = 0;
  std::size_t allocation_max = std::numeric_limits<std::size_t>::max();  // bytes at once
  // Largest grid along y and z, and along x. 65,535 groups is what every device takes.
  std::size_t grid_max = 65535;
  std::size_t words_max = std::size_t{1} << 30U;
};

// A place in device memory.
struct Place {
  void* buffer = nullptr;  // nullptr where has_addresses
  std::uint64_t at = 0;
};

struct Launch {
  std::size_t entry = 0;  // of DeviceText::entries
  // Arguments: device_kernel.hpp.
  void* n_base = nullptr;  // Place::buffer of every input
  void* r_base = nullptr;
  Place shards = {};
  std::uint64_t first = 0;
  std::uint64_t column_bytes = 0;
  std::uint64_t unit_stride = 0;
  std::uint64_t group_stride = 0;
  struct Table {
    Place bits = {};
    std::uint64_t row_group = 0;
    std::uint64_t input_shards = 0;
    std::uint64_t output_shards = 0;
    std::uint64_t unit_count = 1;
    bool accumulate = false;
  };
  const Table* table = nullptr;  // table kernels only
  // Work-items; x is rounded up to whole groups. None of them 0, x at most words_max, y and z at
  // most grid_max.
  std::size_t words = 1;
  std::size_t groups = 1;
  std::size_t stripes = 1;
};

class Module {  // a text, built
 public:
  virtual ~Module() = default;
};

// A mark in a queue.
class Event {
 public:
  virtual ~Event() = default;
  // Until all before it is done; device_failed when that fails, or takes longer than `limit`.
  virtual Status wait(std::chrono::milliseconds limit) = 0;
  // After a wait that failed: nobody knows that the work has ended, so what it uses must stay.
  virtual bool may_be_running() const noexcept = 0;
};

// Seconds that the device spent; only of queues that were opened with profiling.
struct PhaseSeconds {
  double copy_in = 0;
  double kernel = 0;
  double copy_out = 0;
};

// Work in order, asynchronous: what a call is given must stay until an event behind it is done.
// Calls of one queue come from one thread at a time.
class Queue {
 public:
  virtual ~Queue() = default;  // does not wait
  virtual Status copy_in(const Place& to, const std::byte* from, std::size_t bytes) = 0;
  virtual Status copy_out(std::byte* to, const Place& from, std::size_t bytes) = 0;
  virtual Status copy_within(const Place& to, const Place& from, std::size_t bytes) = 0;
  virtual Status launch(const Module& module, const Launch& launch) = 0;
  virtual Result<std::unique_ptr<Event>> mark() = 0;
  // Of all that is done since the last call.
  virtual Result<PhaseSeconds> take_seconds() = 0;
};

// Safe to call from several threads, but for what is said at Queue.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual const DriverInfo& info() const noexcept = 0;

  // `form` is the one that the text was emitted with: its group_items is the size of every group.
  virtual Result<std::unique_ptr<Module>> build(const emit::DeviceText& text,
                                                const emit::DeviceForm& form) = 0;
  // The same from binary(); fails with compile_failed when the driver does not take it.
  virtual Result<std::unique_ptr<Module>> load(std::span<const std::byte> binary,
                                               const emit::DeviceText& text,
                                               const emit::DeviceForm& form) = 0;
  // What can be loaded next time; empty: nothing worth keeping. Best after the first launch: PoCL
  // compiles only then.
  virtual Result<std::vector<std::byte>> binary(const Module& module) = 0;

  virtual Result<Place> allocate(std::size_t bytes) = 0;
  virtual void release(const Place& place) = 0;
  // Host memory that the device copies from and to fast (pinned).
  virtual Result<std::byte*> allocate_host(std::size_t bytes) = 0;
  virtual void release_host(std::byte* memory) = 0;
  // The caller's host memory, made as fast as that for as long as it is used so.
  virtual Status register_host(std::byte* memory, std::size_t bytes) = 0;
  virtual void unregister_host(std::byte* memory) = 0;
  // Memory that the caller has on this device: a CUdeviceptr or a cl_mem, which stays the caller's
  // and must outlive its use. Fails with invalid_argument for a handle of another driver.
  virtual Result<Place> import(HandleKind kind, std::uint64_t handle, std::size_t bytes) = 0;
  virtual void forget(const Place& place) = 0;  // ends import
  // The cl_context that buffers to be imported are made in, or the CUcontext; 0: none.
  virtual std::uint64_t native_context() const noexcept { return 0; }

  // Until all work that anybody gave to the device in this context is done. The driver sets no
  // limit: call it by ContextWait. OpenCL has no such call, only one for each queue.
  virtual Status wait_for_context() { return Done{}; }

  struct QueueOptions {
    bool profiling = false;
  };
  virtual Result<std::unique_ptr<Queue>> open_queue(const QueueOptions& options) = 0;
};

}  // namespace calpe::backend::gpu
