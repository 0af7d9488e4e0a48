// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl_queue.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>

#include "backend/gpu/poll_pace.hpp"
#include "base/address.hpp"
#include "base/assert.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::opencl {

namespace {

// Completion of one event, signalled by the driver's thread. May outlive the wait, because a hung
// device may still call.
struct Signal {
  std::mutex mutex = {};
  std::condition_variable changed = {};
  bool is_set = false;

  void set() {
    const std::lock_guard lock(mutex);
    is_set = true;
    changed.notify_all();
  }
};

void CL_CALLBACK notify(cl_event, cl_int, void* user) {
  const std::unique_ptr<std::shared_ptr<Signal>> signal(
      static_cast<std::shared_ptr<Signal>*>(user));
  (*signal)->set();
}

class OpenClEvent : public gpu::Event {
 public:
  // Takes ownership of the events; the last one is waited for.
  OpenClEvent(const Api& api, std::vector<cl_event> events)
      : api_(api), events_(std::move(events)) {}
  OpenClEvent(const OpenClEvent&) = delete;
  OpenClEvent& operator=(const OpenClEvent&) = delete;
  ~OpenClEvent() override {
    for (const cl_event event : events_)
      api_.clReleaseEvent(event);
  }

  Status wait(std::chrono::milliseconds limit) override {
    if (events_.empty()) return Done{};
    may_be_running_ = true;
    CALPE_TRY(const bool is_over, wait_for_last(limit));
    if (!is_over) {
      return make_error(ErrorCode::device_failed, "the OpenCL device did not finish within ",
                        limit.count(), " ms");
    }
    cl_int failed = CL_COMPLETE;
    for (const cl_event event : events_) {
      CALPE_TRY(const cl_int status, status_of(event));
      if (status != CL_COMPLETE) failed = status < 0 ? status : CL_INVALID_VALUE;
    }
    may_be_running_ = false;
    return check(failed, "a command");
  }
  bool may_be_running() const noexcept override { return may_be_running_; }

 private:
  Result<cl_int> status_of(cl_event event) const {
    cl_int status = CL_COMPLETE;
    CALPE_CHECK(check(api_.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                          &status, nullptr),
                      "clGetEventInfo"));
    return status;
  }

  // Returns whether it completed or failed within the limit.
  Result<bool> wait_for_last(std::chrono::milliseconds limit) const {
    auto signal = std::make_shared<Signal>();
    auto user = std::make_unique<std::shared_ptr<Signal>>(signal);
    if (api_.clSetEventCallback(events_.back(), CL_COMPLETE, notify, user.get()) != CL_SUCCESS) {
      return poll_last(limit);
    }
    static_cast<void>(user.release());  // now owned by notify
    std::unique_lock lock(signal->mutex);
    return signal->changed.wait_for(lock, limit, [&] { return signal->is_set; });
  }

  // The same for drivers that do not call back.
  Result<bool> poll_last(std::chrono::milliseconds limit) const {
    const auto start = std::chrono::steady_clock::now();
    while (true) {
      CALPE_TRY(const cl_int status, status_of(events_.back()));
      if (status <= CL_COMPLETE) return true;
      const auto waited = std::chrono::steady_clock::now() - start;
      if (waited >= limit) return false;
      gpu::rest_after(waited, limit - waited);
    }
  }

  const Api& api_;
  std::vector<cl_event> events_;
  bool may_be_running_ = false;
};

void* pointer(const gpu::Place& place) {
  return pointer_at(place.at);
}
cl_mem buffer(const gpu::Place& place) {
  return static_cast<cl_mem>(place.buffer);
}

// `kernel` holds them until it is enqueued.
Status set_arguments(const Api& api, bool has_addresses, cl_kernel kernel,
                     const gpu::Launch& launch) {
  cl_uint index = 0;
  const auto number = [&](std::uint64_t value) {
    const cl_ulong argument = value;
    return check(api.clSetKernelArg(kernel, index++, sizeof argument, &argument), "clSetKernelArg");
  };
  const auto address = [&](void* buffer, std::uint64_t at) {
    if (has_addresses) {
      return check(api.clSetKernelArgSVMPointer(kernel, index++, pointer_at(at)),
                   "clSetKernelArgSVMPointer");
    }
    CALPE_ASSERT(at == 0);  // a buffer cannot be passed with an offset
    cl_mem const argument = static_cast<cl_mem>(buffer);
    return check(
        api.clSetKernelArg(kernel, index++, sizeof(cl_mem), static_cast<const void*>(&argument)),
        "clSetKernelArg");
  };
  CALPE_CHECK(address(launch.n_base, 0));
  CALPE_CHECK(address(launch.r_base, 0));
  // The table of shards is read at an offset if the batch takes several launches.
  const std::uint64_t table_at = has_addresses ? launch.shards.at : 0;
  CALPE_CHECK(address(launch.shards.buffer, table_at));
  for (const std::uint64_t value :
       {launch.first, launch.column_bytes, launch.unit_stride, launch.group_stride,
        (launch.shards.at - table_at) / sizeof(cl_ulong)}) {
    CALPE_CHECK(number(value));
  }
  if (launch.table == nullptr) return Done{};
  const gpu::Launch::Table& table = *launch.table;
  CALPE_CHECK(address(table.bits.buffer, table.bits.at));
  for (const std::uint64_t value : {table.row_groups, table.input_shards, table.output_shards,
                                    table.unit_count, std::uint64_t{table.accumulate}}) {
    CALPE_CHECK(number(value));
  }
  return Done{};
}

}  // namespace

OpenClModule::~OpenClModule() {
  for (const cl_kernel kernel : kernels_)
    api_.clReleaseKernel(kernel);
  api_.clReleaseProgram(program_);
}

Status OpenClModule::make_kernels(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    cl_int status = CL_SUCCESS;
    cl_kernel const kernel = api_.clCreateKernel(program_, name.c_str(), &status);
    CALPE_CHECK(check(status, "clCreateKernel of " + name));
    kernels_.push_back(kernel);
  }
  return Done{};
}

Status OpenClModule::reach_all_memory() {
  const cl_bool is_all = CL_TRUE;
  for (const cl_kernel kernel : kernels_) {
    CALPE_CHECK(check(api_.clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
                                               sizeof is_all, &is_all),
                      "clSetKernelExecInfo"));
  }
  return Done{};
}

void OpenClModule::count_spills(cl_device_id device) {
  // Our kernels have no arrays, so private memory is spills. Intel reports them separately
  // (cl_intel_required_subgroup_size); other drivers reject the question.
  constexpr cl_kernel_work_group_info spill_size_of_intel = 0x4109;
  for (const cl_kernel kernel : kernels_) {
    for (const cl_kernel_work_group_info what :
         {cl_kernel_work_group_info{CL_KERNEL_PRIVATE_MEM_SIZE}, spill_size_of_intel}) {
      cl_ulong bytes = 0;
      if (api_.clGetKernelWorkGroupInfo(kernel, device, what, sizeof bytes, &bytes, nullptr) ==
          CL_SUCCESS) {
        spill_bytes_ = std::max<std::size_t>(spill_bytes_, bytes);
      }
    }
  }
}

Status enqueue_launch(const Api& api, cl_command_queue queue, bool has_addresses,
                      const OpenClModule& module, const gpu::Launch& launch, cl_event* event) {
  cl_kernel const kernel = module.kernel(launch.entry);
  const std::size_t items = module.group_items();
  const std::array<std::size_t, 3> local = {items, 1, 1};
  const std::array<std::size_t, 3> global = {
      (launch.words + items - 1) / items * items * launch.row_groups, launch.groups,
      launch.stripes};
  const std::lock_guard lock(module.arguments());
  CALPE_CHECK(set_arguments(api, has_addresses, kernel, launch));
  return check(api.clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, global.data(), local.data(), 0,
                                          nullptr, event),
               "clEnqueueNDRangeKernel");
}

OpenClQueue::~OpenClQueue() {
  for (const Command& command : unmarked_)
    api_.clReleaseEvent(command.event);
  api_.clReleaseCommandQueue(queue_);
}

Status OpenClQueue::added(cl_int status, const char* call, Phase phase, const cl_event& event) {
  CALPE_CHECK(check(status, call));
  unmarked_.push_back({.event = event, .phase = phase});
  return Done{};
}

Status OpenClQueue::copy_addresses(void* to, const void* from, std::size_t bytes, Phase phase) {
  cl_event event = nullptr;
  return added(api_.clEnqueueSVMMemcpy(queue_, CL_FALSE, to, from, bytes, 0, nullptr, &event),
               "clEnqueueSVMMemcpy", phase, event);
}

Status OpenClQueue::copy_in(const gpu::Place& to, const std::byte* from, std::size_t bytes) {
  if (rules_.has_addresses) return copy_addresses(pointer(to), from, bytes, Phase::copy_in);
  cl_event event = nullptr;
  return added(api_.clEnqueueWriteBuffer(queue_, buffer(to), CL_FALSE, to.at, bytes, from, 0,
                                         nullptr, &event),
               "clEnqueueWriteBuffer", Phase::copy_in, event);
}

Status OpenClQueue::copy_out(std::byte* to, const gpu::Place& from, std::size_t bytes) {
  if (rules_.has_addresses) return copy_addresses(to, pointer(from), bytes, Phase::copy_out);
  cl_event event = nullptr;
  return added(api_.clEnqueueReadBuffer(queue_, buffer(from), CL_FALSE, from.at, bytes, to, 0,
                                        nullptr, &event),
               "clEnqueueReadBuffer", Phase::copy_out, event);
}

Status OpenClQueue::copy_within(const gpu::Place& to, const gpu::Place& from, std::size_t bytes) {
  if (rules_.has_addresses) return copy_addresses(pointer(to), pointer(from), bytes, Phase::kernel);
  cl_event event = nullptr;
  return added(api_.clEnqueueCopyBuffer(queue_, buffer(from), buffer(to), from.at, to.at, bytes, 0,
                                        nullptr, &event),
               "clEnqueueCopyBuffer", Phase::kernel, event);
}

Status OpenClQueue::launch(const gpu::Module& module, const gpu::Launch& launch) {
  cl_event event = nullptr;
  CALPE_CHECK(enqueue_launch(api_, queue_, rules_.has_addresses,
                             static_cast<const OpenClModule&>(module), launch, &event));
  return added(CL_SUCCESS, "clEnqueueNDRangeKernel", Phase::kernel, event);
}

Result<std::unique_ptr<gpu::Event>> OpenClQueue::mark() {
  // Nothing to flush; a lost device would refuse.
  if (!unmarked_.empty()) CALPE_CHECK(check(api_.clFlush(queue_), "clFlush"));
  std::vector<cl_event> events;
  for (const Command& command : unmarked_) {
    events.push_back(command.event);
    if (rules_.profiling) unmeasured_.push_back(command);
  }
  unmarked_.clear();
  return std::unique_ptr<gpu::Event>(std::make_unique<OpenClEvent>(api_, std::move(events)));
}

Result<gpu::PhaseSeconds> OpenClQueue::take_seconds() {
  gpu::PhaseSeconds total;
  for (const Command& command : std::exchange(unmeasured_, {})) {
    cl_ulong start = 0;
    cl_ulong end = 0;
    CALPE_CHECK(check(api_.clGetEventProfilingInfo(command.event, CL_PROFILING_COMMAND_START,
                                                   sizeof start, &start, nullptr),
                      "clGetEventProfilingInfo"));
    CALPE_CHECK(check(api_.clGetEventProfilingInfo(command.event, CL_PROFILING_COMMAND_END,
                                                   sizeof end, &end, nullptr),
                      "clGetEventProfilingInfo"));
    const double seconds = end > start ? static_cast<double>(end - start) * 1e-9 : 0;
    switch (command.phase) {
      case Phase::copy_in:
        total.copy_in += seconds;
        break;
      case Phase::kernel:
        total.kernel += seconds;
        break;
      case Phase::copy_out:
        total.copy_out += seconds;
        break;
    }
  }
  return total;
}

}  // namespace calpe::backend::opencl
