// SPDX-License-Identifier: Apache-2.0
// A CUDA stream as a queue, with the modules that it launches. Events before and after each job
// measure its time.
#pragma once
#include <memory>
#include <vector>

#include "backend/cuda/cuda_context.hpp"
#include "backend/gpu/driver.hpp"

namespace calpe::backend::cuda {

class CudaModule : public gpu::Module {
 public:
  CudaModule(ContextRef context, CuModule module, unsigned group_items)
      : context_(std::move(context)), module_(module), group_items_(group_items) {}
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule() override { context_->give_back(context_->api().module_unload, module_); }

  Status add_entry(const std::string& name);
  std::size_t spill_bytes() const noexcept override { return spill_bytes_; }
  CuFunction entry(std::size_t index) const { return entries_[index]; }
  std::size_t entry_count() const noexcept { return entries_.size(); }
  unsigned group_items() const noexcept { return group_items_; }

 private:
  ContextRef context_;
  CuModule module_;
  unsigned group_items_;
  std::vector<CuFunction> entries_;
  std::size_t spill_bytes_ = 0;
};

// Queues a launch in any stream of the context. Allocates nothing unless it fails.
Status launch_in(const CudaContext& context, CuStream stream, const CudaModule& module,
                 const gpu::Launch& launch);

class CudaStream {
 public:
  static Result<std::shared_ptr<const CudaStream>> open(ContextRef context);
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  // The driver destroys the stream when its work is done.
  ~CudaStream() { context_->give_back(context_->api().stream_destroy, handle_); }
  const ContextRef& context() const noexcept { return context_; }
  CuStream handle() const noexcept { return handle_; }

 private:
  CudaStream(ContextRef context, CuStream handle) : context_(std::move(context)), handle_(handle) {}
  ContextRef context_;
  CuStream handle_;
};
using StreamRef = std::shared_ptr<const CudaStream>;

// A driver event.
class CudaEvent {
 public:
  static Result<std::unique_ptr<CudaEvent>> record(const StreamRef& stream, bool has_time);
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() { context_->give_back(context_->api().event_destroy, event_); }

  Result<bool> is_done() const;
  // Both must be recorded with has_time and complete.
  Result<double> seconds_since(const CudaEvent& start) const;

 private:
  CudaEvent(ContextRef context, CuEvent event) : context_(std::move(context)), event_(event) {}

  ContextRef context_;
  CuEvent event_;
};

class CudaQueue : public gpu::Queue {
 public:
  static Result<std::unique_ptr<gpu::Queue>> open(ContextRef context, bool profiling);

  Status copy_in(const gpu::Place& to, const std::byte* from, std::size_t bytes) override;
  Status copy_out(std::byte* to, const gpu::Place& from, std::size_t bytes) override;
  Status copy_within(const gpu::Place& to, const gpu::Place& from, std::size_t bytes) override;
  Status launch(const gpu::Module& module, const gpu::Launch& launch) override;
  // Never fails. Without an event, the mark is the end of the queue at the time of the wait, so
  // that started work can always be waited for.
  Result<std::unique_ptr<gpu::Event>> mark() override;
  Result<gpu::PhaseSeconds> take_seconds() override;

 private:
  using Phase = double gpu::PhaseSeconds::*;
  struct Timed {
    Phase phase = nullptr;
    std::unique_ptr<CudaEvent> start = {};
    std::unique_ptr<CudaEvent> end = {};
  };

  CudaQueue(StreamRef stream, bool profiling) : stream_(std::move(stream)), profiling_(profiling) {}
  const CudaApi& api() const noexcept { return stream_->context()->api(); }
  template <class... Parameters, class... Arguments>
  Status call(const Function<Parameters...>& function, Arguments... arguments) const {
    return stream_->context()->call(function, arguments...);
  }
  // Runs work() between two events when profiling. Work is done even if it cannot be timed.
  template <class Work>
  Status timed(Phase phase, const Work& work);

  StreamRef stream_;
  bool profiling_;
  std::vector<Timed> timed_;  // not yet collected
};

}  // namespace calpe::backend::cuda
