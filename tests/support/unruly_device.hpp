// SPDX-License-Identifier: Apache-2.0
// Wraps a device and misbehaves on request: fails at any call, writes wrong bytes, is slow, hangs
// until its watchdog, has its own memory, and counts calls.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "backend/backend.hpp"
#include "engine/devices/batch_bytes.hpp"

namespace calpe::tests {

// Shared by the test and the device; the device reads it at every call.
struct Behaviour {
  static constexpr unsigned never = std::numeric_limits<unsigned>::max();
  // Calls are counted from 0. A failing submit or wait corrupts the outputs.
  std::atomic<unsigned> fail_compile_at = never;
  std::atomic<unsigned> fail_submit_at = never;
  std::atomic<unsigned> fail_wait_at = never;
  std::atomic<ErrorCode> error = ErrorCode::device_failed;
  std::atomic<unsigned> wrong_from =
      never;  // flips the last bit of every stripe, starting with this run
  std::atomic<double> seconds_per_byte = 0;   // read or written; minimum time of a run
  std::atomic<double> seconds_per_run = 0;    // in addition
  std::atomic<double> hangs_for = 0;          // seconds, then device_failed
  std::atomic<bool> may_still_write = false;  // it hung and accepts no more work
  std::atomic<bool> is_trusted = false;
  std::atomic<bool> runs_on_caller = false;
  std::atomic<bool> has_memory = false;
  std::atomic<bool> shares_memory = false;
  backend::Profile profile;  // reported unchanged; set before other threads use the device

  std::atomic<unsigned> compiles = 0;
  std::atomic<unsigned> submits = 0;
  std::atomic<unsigned> waits = 0;
  std::atomic<std::uint64_t> stripes = 0;
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> copies = 0;
};

// Host memory with addresses that fault for the host, unless the device shares memory.
class PretendedMemory final : public backend::DeviceMemory {
 public:
  explicit PretendedMemory(std::shared_ptr<Behaviour> behaviour)
      : behaviour_(std::move(behaviour)) {}
  Result<std::byte*> allocate(std::size_t bytes) override {
    auto made = std::make_unique<std::byte[]>(bytes);
    // Processes never get such addresses; use reached() to access the memory.
    constexpr std::uintptr_t unused_bit = std::uintptr_t{1} << 52;
    auto* const start = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(made.get()) +
                                                     (is_shared() ? 0 : unused_bit));
    const std::lock_guard lock(mutex_);
    pieces_[start] = {std::move(made), bytes};
    return start;
  }
  // The real address of the byte.
  std::byte* reached(const std::byte* address) const {
    const std::lock_guard lock(mutex_);
    const auto piece = find(address);
    if (piece == pieces_.end()) return const_cast<std::byte*>(address);
    return piece->second.memory.get() + (address - piece->first);
  }
  Result<std::byte*> import(backend::HandleKind, std::uint64_t, std::size_t) override {
    return Error{ErrorCode::invalid_argument, "nothing to import"};
  }
  void release(std::byte* start) override {
    const std::lock_guard lock(mutex_);
    pieces_.erase(start);
  }
  Status copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    ++behaviour_->copies;
    std::copy_n(reached(from), bytes, reached(to));
    return Done{};
  }
  bool holds(const std::byte* address) const override {
    const std::lock_guard lock(mutex_);
    return find(address) != pieces_.end();
  }
  bool is_shared() const override { return behaviour_->shares_memory; }
  std::uint64_t native_context() const override { return 0; }
  Status register_host(std::byte*, std::size_t) override { return Done{}; }
  void unregister_host(std::byte*) override {}

 private:
  struct Piece {
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes = 0;
  };
  using Pieces = std::map<const std::byte*, Piece>;
  Pieces::const_iterator find(const std::byte* address) const {
    const auto next = pieces_.upper_bound(address);
    if (next == pieces_.begin()) return pieces_.end();
    const auto piece = std::prev(next);
    return address < piece->first + piece->second.bytes ? piece : pieces_.end();
  }
  const std::shared_ptr<Behaviour> behaviour_;
  mutable std::mutex mutex_;
  Pieces pieces_;
};

class UnrulyDevice final : public backend::Device {
 public:
  UnrulyDevice(std::unique_ptr<backend::Device> inner, std::shared_ptr<Behaviour> behaviour,
               std::string name = "unruly")
      : inner_(std::move(inner)),
        behaviour_(std::move(behaviour)),
        name_(std::move(name)),
        memory_(behaviour_) {}

  std::string_view name() const override { return name_; }
  const ir::CostModel& cost_model() const override { return inner_->cost_model(); }
  Result<backend::KernelRef> compile(const ir::Program& program) override {
    return made(engine::KernelShape::of(program), [&] { return inner_->compile(program); });
  }
  Result<backend::KernelRef> compile_matrix(const gf::FieldRef& field,
                                            const gf::Matrix& rows) override {
    return made(engine::KernelShape::of(rows), [&] { return inner_->compile_matrix(field, rows); });
  }
  Result<backend::KernelRef> compile_transform(const ir::Transform& transform) override {
    return made(engine::KernelShape::of(transform),
                [&] { return inner_->compile_transform(transform); });
  }

  backend::Completion submit(const backend::Kernel& kernel, const backend::Batch& batch) override {
    const auto& own = static_cast<const OwnKernel&>(kernel);
    const unsigned number = behaviour_->submits++;
    behaviour_->stripes += batch.stripe_count;
    behaviour_->bytes += engine::moved_bytes(batch, own.shape);
    if (behaviour_->may_still_write) return Status(injected("submit after it hung", number));
    const auto reached = std::make_shared<const Reached>(memory_, own.shape, batch);
    if (number == behaviour_->fail_submit_at) {
      spoil(own, reached->batch);
      return Status(injected("submit", number));
    }
    if (behaviour_->runs_on_caller) return work(own, reached->batch, number);
    return std::unique_ptr<backend::Completion::Pending>(
        std::make_unique<Later>(std::async(std::launch::async, [this, &own, reached, number] {
          return work(own, reached->batch, number);
        })));
  }

  backend::Profile profile() const override { return behaviour_->profile; }
  bool runs_on_caller() const override { return behaviour_->runs_on_caller; }
  bool is_trusted() const override { return behaviour_->is_trusted; }
  bool may_still_write() const override { return behaviour_->may_still_write; }
  backend::DeviceMemory* memory() override { return behaviour_->has_memory ? &memory_ : nullptr; }

 private:
  struct OwnKernel : backend::Kernel {
    engine::KernelShape shape;
    backend::KernelRef inner;
  };
  // The batch with host addresses.
  struct Reached {
    Reached(const PretendedMemory& memory, const engine::KernelShape& shape,
            const backend::Batch& from)
        : batch(from) {
      for (std::size_t i = 0; i < from.stripe_count * shape.shards.inputs; ++i)
        inputs.push_back(memory.reached(from.inputs[i]));
      for (std::size_t i = 0; i < from.stripe_count * shape.shards.outputs; ++i)
        outputs.push_back(memory.reached(from.outputs[i]));
      batch.inputs = inputs.data();
      batch.outputs = outputs.data();
    }
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    backend::Batch batch;
  };
  class Later final : public backend::Completion::Pending {
   public:
    explicit Later(std::future<Status> result) : result_(std::move(result)) {}
    Status wait() override { return result_.get(); }  // the destructor of an async future waits

   private:
    std::future<Status> result_;
  };

  Error injected(const char* call, unsigned number) const {
    return {behaviour_->error, std::string("injected at ") + call + " " + std::to_string(number)};
  }

  template <class Compile>
  Result<backend::KernelRef> made(const engine::KernelShape& shape, const Compile& compile) {
    const unsigned number = behaviour_->compiles++;
    if (number == behaviour_->fail_compile_at) return injected("compile", number);
    auto kernel = std::make_shared<OwnKernel>();
    kernel->shape = shape;
    auto inner = compile();
    if (!inner) return inner.error();
    kernel->inner = *inner;
    return backend::KernelRef(std::move(kernel));
  }

  Status work(const OwnKernel& kernel, const backend::Batch& batch, unsigned number) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto seconds = [](double s) {
      return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
    };
    Status done = inner_->run(*kernel.inner, batch);
    const double least = behaviour_->seconds_per_run +
                         behaviour_->seconds_per_byte *
                             static_cast<double>(engine::moved_bytes(batch, kernel.shape));
    if (least > 0) std::this_thread::sleep_until(start + seconds(least));
    if (number >= behaviour_->wrong_from && engine::output_bytes(batch, kernel.shape) > 0) {
      const backend::Geometry& g = batch.geometry;
      const std::size_t last = g.offset + engine::extent_bytes(g, kernel.shape.units) - 1;
      const std::size_t outputs = kernel.shape.shards.outputs;
      for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe)
        batch.outputs[(stripe + 1) * outputs - 1][last] ^= std::byte{1};
    }
    if (behaviour_->hangs_for > 0) {
      std::this_thread::sleep_for(seconds(behaviour_->hangs_for));
      spoil(kernel, batch);
      return Error{ErrorCode::device_failed, "did not finish in time"};
    }
    if (behaviour_->waits++ == behaviour_->fail_wait_at) {
      spoil(kernel, batch);
      return injected("wait", number);
    }
    return done;
  }

  static void spoil(const OwnKernel& kernel, const backend::Batch& batch) {
    for (std::size_t i = 0; i < batch.stripe_count * kernel.shape.shards.outputs; i += 2) {
      engine::for_each_run(batch.geometry, kernel.shape.units,
                           [&](std::size_t offset, std::size_t bytes) {
                             std::fill_n(batch.outputs[i] + offset, bytes, std::byte{0xEE});
                           });
    }
  }

  const std::unique_ptr<backend::Device> inner_;
  const std::shared_ptr<Behaviour> behaviour_;
  const std::string name_;
  PretendedMemory memory_;
};

}  // namespace calpe::tests
