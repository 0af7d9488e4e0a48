// SPDX-License-Identifier: Apache-2.0
// The seam: a backend turns IR programs into kernels and runs them on batches of stripes. One
// folder per backend; the conformance tests (tests/conformance) run unchanged against every one.
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

// Where the program's values lie in every shard: value u of group g is `unit_bytes` long and starts
// at offset + g * group_stride + u * unit_stride. A `gf` program has one unit in one group.
struct Geometry {
  std::size_t offset = 0;
  std::size_t unit_bytes = 0;
  std::size_t unit_stride = 0;
  std::size_t group_stride = 0;
  std::size_t group_count = 1;
};

// The same program over many stripes; none, or no groups, is valid. Pointers are borrowed until the
// completion is waited for. Inputs may be the same memory; an instruction that reads an output sees
// the program's value, also with accumulate.
struct Batch {
  std::size_t stripe_count = 1;
  const std::byte* const* inputs = nullptr;  // stripe_count x input shards
  std::byte* const* outputs = nullptr;       // stripe_count x output shards; overlap nothing
  Geometry geometry = {};
  bool accumulate = false;  // outputs ^= program(inputs)
  Stores stores = Stores::automatic;
};

// Work under way. The CPU's is complete when it is returned and costs no allocation.
class Completion {
 public:
  struct Pending {
    virtual ~Pending() = default;  // waits if wait() was not called
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

// Whose handle an imported piece of device memory is.
enum class HandleKind : std::uint8_t { cuda_pointer, opencl_buffer };

// Memory that a device has besides the host's. An address stands for each byte of it: in batches
// like any shard's, told from host memory by holds(), and of no use to the host.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual Result<std::byte*> allocate(std::size_t bytes) = 0;
  virtual Result<std::byte*> import(HandleKind kind, std::uint64_t handle, std::size_t bytes) = 0;
  virtual void release(std::byte* start) = 0;  // of either; no work may use it any more
  // Either side, or both, on the device; done when it returns.
  virtual Status copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  virtual bool holds(const std::byte* address) const = 0;
  virtual bool is_shared() const = 0;  // the host, too, may read and write through the addresses
  // Host memory that is coded often: the device may copy it without a detour.
  virtual Status register_host(std::byte* memory, std::size_t bytes) = 0;
  virtual void unregister_host(std::byte* memory) = 0;
  // The cl_context or CUcontext of this device: buffers to be imported are made there.
  virtual std::uint64_t native_context() const = 0;
};

// What a device did since it was opened. Seconds only where it was asked to measure
// (CALPE_PROFILE), bytes of shards only.
struct Profile {
  std::uint64_t builds = 0;  // programs compiled, not those found in a cache
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

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;            // "cpu:avx2"
  virtual const ir::CostModel& cost_model() const = 0;  // steers opt/
  // May be slow on devices that run a compiler. Fails with compile_failed for an unsound program, a
  // gf program over another field than GF(2^8), or one that is too large; or with out_of_memory.
  virtual Result<KernelRef> compile(const ir::Program& program) = 0;
  // The kernel of ir::build(field, rows), which is what a plan over bytes needs. A device whose
  // kernels take a matrix as it is overrides this: building the program costs more than planning.
  virtual Result<KernelRef> compile_matrix(const gf::FieldRef& field, const gf::Matrix& rows) {
    return compile(ir::build(field, rows));
  }
  // The kernel of ir::expand(transform).
  virtual Result<KernelRef> compile_transform(const ir::Transform& transform) {
    return compile(ir::expand(transform));
  }
  // Safe to call from several threads. `kernel` must come from compile() of this device.
  virtual Completion submit(const Kernel& kernel, const Batch& batch) = 0;
  // submit() and wait(). A device that works on the caller's thread has a shorter way.
  virtual Status run(const Kernel& kernel, const Batch& batch) {
    return submit(kernel, batch).wait();
  }
  // True when submit() runs on the calling thread, so that the engine may split work over threads.
  virtual bool runs_on_caller() const { return true; }
  // False for what lies beyond a driver: it may fail in the middle, hang or give wrong bytes, so
  // the engine watches it and finishes its work on the CPU.
  virtual bool is_trusted() const { return true; }
  // True once it hung on work in the host's memory: it may still write there, so nobody may take
  // that work over. Its caller is told instead.
  virtual bool may_still_write() const { return false; }
  virtual DeviceMemory* memory() { return nullptr; }  // nullptr: none but the host's
  virtual Profile profile() const { return {}; }
};

struct BackendStatus {
  std::string name;
  std::string description;
  bool available = false;
  std::string reason;  // when !available
};

// When "auto" takes a backend: 1 first, 2 where that does not open, ...; 0 never.
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
  // variant: what follows the colon in "cpu:avx2", empty for the backend's own choice.
  // Fails with backend_unavailable and the reason when driver, compiler or device is missing.
  Result<std::unique_ptr<Device>> (*open)(std::string_view variant);
  std::vector<BackendStatus> (*list)();
};

std::span<const Backend> registered_backends();

// Adds a row whose name is new, for the whole process. "reference" stays the last. For programs
// that link a backend which is no part of the library (src/reram): call it before anything else
// uses the table, from one thread.
void add_backend(const Backend& backend);

// "auto", "cpu", "cpu:avx2", ... Fails with invalid_argument for an unknown name, listing the
// known, and with backend_unavailable for "reram" where no program added it. "auto" is the best for
// programs of this dialect; every device takes both.
Result<std::unique_ptr<Device>> open_device(std::string_view name,
                                            ir::Dialect dialect = ir::Dialect::gf);

}  // namespace calpe::backend
