// SPDX-License-Identifier: Apache-2.0
// The backend interface. A backend turns IR programs into kernels and runs them on batches of
// stripes. Each backend has its own directory, and all pass the same conformance tests
// (tests/conformance).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>
#include <calpe/stores.hpp>

#include "ir/cost.hpp"
#include "ir/program.hpp"
#include "ir/transform.hpp"

namespace calpe::backend {

namespace cpu {
struct CpuKernels;
}

// Position of the program's values in every shard: value u of group g has `unit_bytes` bytes and
// starts at offset + g * group_stride + u * unit_stride. A `gf` program has one unit in one group.
struct Geometry {
  std::size_t offset = 0;
  std::size_t unit_bytes = 0;
  std::size_t unit_stride = 0;
  std::size_t group_stride = 0;
  std::size_t group_count = 1;
};

// Runs one program over many stripes. Zero stripes or groups are valid. Pointers are borrowed until
// the completion was waited for. Inputs may share memory. An instruction that reads an output sees
// the program's value, even with accumulate.
struct Batch {
  std::size_t stripe_count = 1;
  const std::byte* const* inputs = nullptr;  // stripe_count x input shards
  std::byte* const* outputs = nullptr;       // stripe_count x output shards; must not overlap
  Geometry geometry = {};
  bool accumulate = false;  // outputs ^= program(inputs)
  Stores stores = Stores::automatic;
};

// Work in progress. CPU work is complete when returned and costs no allocation.
class Completion {
 public:
  struct Pending {
    virtual ~Pending() = default;  // waits unless wait() was called
    virtual Status wait() = 0;
  };
  Completion(Status status) : status_(std::move(status)) {}
  Completion(std::unique_ptr<Pending> pending) : status_(Done{}), pending_(std::move(pending)) {}
  // Blocks until every output is written. Call once.
  Status wait() { return pending_ ? pending_->wait() : std::move(status_); }

 private:
  Status status_;
  std::unique_ptr<Pending> pending_;
};

// Kind of an imported memory handle.
enum class HandleKind : std::uint8_t { cuda_pointer, opencl_buffer };

// Device memory apart from host memory. Every byte has an address, which batches use like any shard
// address. holds() tells it from host memory; the host must not dereference it.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual Result<std::byte*> allocate(std::size_t bytes) = 0;
  virtual Result<std::byte*> import(HandleKind kind, std::uint64_t handle, std::size_t bytes) = 0;
  virtual void release(std::byte* start) = 0;  // ends allocation or import; no work may use it
  // Copies where either side, or both, are on the device; complete on return.
  virtual Status copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  virtual bool holds(const std::byte* address) const = 0;
  virtual bool is_shared() const = 0;  // the host may access the addresses, too
  // Registers host memory that is coded often, so that the device can copy it directly.
  virtual Status register_host(std::byte* memory, std::size_t bytes) = 0;
  virtual void unregister_host(std::byte* memory) = 0;
  // The cl_context or CUcontext of this device, in which imported buffers must be created.
  virtual std::uint64_t native_context() const = 0;
};

// What a device did since it was opened. Seconds are only measured with CALPE_PROFILE; bytes count
// shards only.
struct Profile {
  std::uint64_t builds = 0;  // programs compiled, without cache hits
  std::uint64_t launches = 0;
  std::uint64_t copy_in_bytes = 0;
  std::uint64_t copy_out_bytes = 0;
  double build_seconds = 0;
  double copy_in_seconds = 0;
  double kernel_seconds = 0;
  double copy_out_seconds = 0;
};

class Kernel {  // compiled code for one ir::Program on one device; immutable
 public:
  virtual ~Kernel() = default;
};
using KernelRef = std::shared_ptr<const Kernel>;

// A kernel as a plain function: the shortest way to code one stripe of short shards. Runs on the
// calling thread and cannot fail.
struct DirectCall {
  using Function = void (*)(const void* state, const std::byte* const* inputs,
                            std::byte* const* outputs, std::size_t shard_bytes);
  Function run = nullptr;       // null: there is none
  const void* state = nullptr;  // first argument of `run`; part of the kernel
  std::size_t bytes_max = 0;    // longest shards that `run` takes
};

// Tells whether outputs hold in bytes [begin, end) what the kernel would write. Runs on the calling
// thread.
struct CompareCall {
  using Function = bool (*)(const void* state, const std::byte* const* inputs,
                            const std::byte* const* outputs, std::size_t begin, std::size_t end);
  Function run = nullptr;       // null: there is none
  const void* state = nullptr;  // first argument of `run`; part of the kernel
};

class CallerQueues;  // caller_queues.hpp

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;            // "cpu:avx2"
  virtual const ir::CostModel& cost_model() const = 0;  // guides opt/
  // May be slow on devices that run a compiler. Fails with compile_failed if the program is
  // unsound, too large, or a gf program over a field other than GF(2^8); or with out_of_memory.
  virtual Result<KernelRef> compile(const ir::Program& program) = 0;
  // The kernel of ir::build(field, rows), as a plan over bytes needs it. Override this if kernels
  // take a matrix directly: building the program costs more than planning.
  virtual Result<KernelRef> compile_matrix(const gf::FieldRef& field, const gf::Matrix& rows) {
    return compile(ir::build(field, rows));
  }
  // The kernel of ir::expand(transform).
  virtual Result<KernelRef> compile_transform(const ir::Transform& transform) {
    return compile(ir::expand(transform));
  }
  // Thread-safe. `kernel` must come from compile() of this device.
  virtual Completion submit(const Kernel& kernel, const Batch& batch) = 0;
  // Same as submit() and wait(). Devices that work on the calling thread override it with a faster
  // version.
  virtual Status run(const Kernel& kernel, const Batch& batch) {
    return submit(kernel, batch).wait();
  }
  // For shards of one unit, without streaming. Valid as long as the kernel.
  virtual DirectCall direct_call(const Kernel& /*kernel*/, bool /*accumulate*/) { return {}; }
  virtual CompareCall compare_call(const Kernel& /*kernel*/) { return {}; }
  // True if submit() runs on the calling thread, so that the engine may split work over threads.
  virtual bool runs_on_caller() const { return true; }
  // False for a device behind a driver, which may fail in the middle, hang or return wrong bytes.
  // The engine then checks it and finishes its work on the CPU.
  virtual bool is_trusted() const { return true; }
  // True once the device hung on work in host memory. It may still write there, so the CPU must not
  // take over; the caller gets an error.
  virtual bool may_still_write() const { return false; }
  // True if kernels may be over GF(2^16), whose symbols are two bytes in two units.
  virtual bool codes_wide_symbols() const { return false; }
  virtual DeviceMemory* memory() { return nullptr; }  // nullptr: host memory only
  // nullptr: the device takes no queues of the caller.
  virtual CallerQueues* caller_queues() { return nullptr; }
  // The CPU path that the device stands for; nullptr: none. Tags use it.
  virtual const cpu::CpuKernels* cpu_kernels() const { return nullptr; }
  virtual Profile profile() const { return {}; }
};

struct BackendStatus {
  std::string name;
  std::string description;
  bool available = false;
  std::string reason;  // when !available
};

// Rank of a backend for "auto": 1 is tried first, then 2, and so on; 0: never.
struct AutoChoice {
  unsigned gf = 0;
  unsigned xor_ = 0;
  constexpr unsigned of(ir::Dialect dialect) const noexcept {
    return dialect == ir::Dialect::gf ? gf : xor_;
  }
};

struct Backend {  // one row of the table in registry.cpp
  std::string_view name;
  AutoChoice auto_choice;
  // variant: the part after the colon in "cpu:avx2", or empty for the backend's own choice. Fails
  // with backend_unavailable and the reason if a driver, compiler or device is missing.
  Result<std::unique_ptr<Device>> (*open)(std::string_view variant);
  std::vector<BackendStatus> (*list)();
};

std::span<const Backend> registered_backends();

// Adds a backend with a new name for the whole process; "reference" stays last. For programs that
// link a backend outside the library (src/reram). Call it from one thread before anything else uses
// the table.
void add_backend(const Backend& backend);

// Opens "auto", "cpu", "cpu:avx2", ... Fails with invalid_argument for an unknown name, listing the
// known ones, and with backend_unavailable for "reram" if no program added it. "auto" is the best
// device for programs of this dialect; every device accepts both dialects.
Result<std::unique_ptr<Device>> open_device(std::string_view name,
                                            ir::Dialect dialect = ir::Dialect::gf);

}  // namespace calpe::backend
