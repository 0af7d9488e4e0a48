// SPDX-License-Identifier: Apache-2.0
// One in-order command queue. Keeps the events of all commands since the last mark, because a
// driver may report the last one as complete although an earlier one failed.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "backend/gpu/driver.hpp"
#include "backend/opencl/opencl_api.hpp"

namespace calpe::backend::opencl {

class OpenClModule : public gpu::Module {
 public:
  OpenClModule(const Api& api, cl_program program, unsigned group_items)
      : api_(api), program_(program), group_items_(group_items) {}
  OpenClModule(const OpenClModule&) = delete;
  OpenClModule& operator=(const OpenClModule&) = delete;
  ~OpenClModule() override;

  Status make_kernels(const std::vector<std::string>& names);
  // Tells the driver that kernels follow pointers into any host memory.
  Status reach_all_memory();
  // Asks the compiler of the device for spills.
  void count_spills(cl_device_id device);
  std::size_t spill_bytes() const noexcept override { return spill_bytes_; }
  cl_program program() const noexcept { return program_; }
  unsigned group_items() const noexcept { return group_items_; }
  cl_kernel kernel(std::size_t entry) const { return kernels_[entry]; }
  // The kernel holds the arguments until it is enqueued.
  std::mutex& arguments() const noexcept { return arguments_; }

 private:
  const Api& api_;
  cl_program program_;
  unsigned group_items_;
  std::vector<cl_kernel> kernels_;
  std::size_t spill_bytes_ = 0;
  mutable std::mutex arguments_;
};

// Enqueues a launch in any queue of the context. `event`: of the launch, or null for none.
Status enqueue_launch(const Api& api, cl_command_queue queue, bool has_addresses,
                      const OpenClModule& module, const gpu::Launch& launch, cl_event* event);

struct QueueRules {
  bool profiling = false;
  bool has_addresses = false;
};

class OpenClQueue : public gpu::Queue {
 public:
  OpenClQueue(const Api& api, cl_command_queue queue, const QueueRules& rules)
      : api_(api), queue_(queue), rules_(rules) {}
  OpenClQueue(const OpenClQueue&) = delete;
  OpenClQueue& operator=(const OpenClQueue&) = delete;
  ~OpenClQueue() override;

  Status copy_in(const gpu::Place& to, const std::byte* from, std::size_t bytes) override;
  Status copy_out(std::byte* to, const gpu::Place& from, std::size_t bytes) override;
  Status copy_within(const gpu::Place& to, const gpu::Place& from, std::size_t bytes) override;
  Status launch(const gpu::Module& module, const gpu::Launch& launch) override;
  Result<std::unique_ptr<gpu::Event>> mark() override;
  Result<gpu::PhaseSeconds> take_seconds() override;

 private:
  enum class Phase : std::uint8_t { copy_in, kernel, copy_out };
  struct Command {
    cl_event event = nullptr;
    Phase phase = Phase::kernel;
  };

  // By reference, because the enqueuing call that returns the status also writes the event.
  Status added(cl_int status, const char* call, Phase phase, const cl_event& event);
  Status copy_addresses(void* to, const void* from, std::size_t bytes, Phase phase);

  const Api& api_;
  cl_command_queue queue_;
  QueueRules rules_;
  std::vector<Command> unmarked_;
  std::vector<Command> unmeasured_;
};

}  // namespace calpe::backend::opencl
