// SPDX-License-Identifier: Apache-2.0
// A CUDA stream as a queue, with the modules that it launches. An event before and one after each
// piece of work tell its time.
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

  // Looks the entry up and checks that its registers were enough.
  Status add_entry(const std::string& name);
  CuFunction entry(std::size_t index) const { return entries_[index]; }
  std::size_t entry_count() const noexcept { return entries_.size(); }
  unsigned group_items() const noexcept { return group_items_; }

 private:
  ContextRef context_;
  CuModule module_;
  unsigned group_items_;
  std::vector<CuFunction> entries_;
};

// An event of the driver.
class CudaEvent : public gpu::Event {
 public:
  static Result<std::unique_ptr<CudaEvent>> record(const ContextRef& context, CuStream stream,
                                                   bool has_time);
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() override { context_->give_back(context_->api().event_destroy, event_); }

  Status wait(std::chrono::milliseconds limit) override;
  bool may_be_running() const noexcept override { return may_be_running_; }
  Result<bool> is_done() const;
  // Both recorded with has_time, and done.
  Result<double> seconds_since(const CudaEvent& start) const;

 private:
  CudaEvent(ContextRef context, CuEvent event) : context_(std::move(context)), event_(event) {}

  ContextRef context_;
  CuEvent event_;
  bool may_be_running_ = true;
};

class CudaQueue : public gpu::Queue {
 public:
  static Result<std::unique_ptr<gpu::Queue>> open(ContextRef context, bool profiling);
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  // The driver ends the stream when its work is done.
  ~CudaQueue() override { context_->give_back(context_->api().stream_destroy, stream_); }

  Status copy_in(const gpu::Place& to, const std::byte* from, std::size_t bytes) override;
  Status copy_out(std::byte* to, const gpu::Place& from, std::size_t bytes) override;
  Status copy_within(const gpu::Place& to, const gpu::Place& from, std::size_t bytes) override;
  Status launch(const gpu::Module& module, const gpu::Launch& launch) override;
  Result<std::unique_ptr<gpu::Event>> mark() override;
  Result<gpu::PhaseSeconds> take_seconds() override;

 private:
  using Phase = double gpu::PhaseSeconds::*;
  struct Timed {
    Phase phase = nullptr;
    std::unique_ptr<CudaEvent> start = {};
    std::unique_ptr<CudaEvent> end = {};
  };

  CudaQueue(ContextRef context, CuStream stream, bool profiling)
      : context_(std::move(context)), stream_(stream), profiling_(profiling) {}
  // work() between two events, when profiling.
  template <class Work>
  Status timed(Phase phase, const Work& work);

  ContextRef context_;
  CuStream stream_;
  bool profiling_;
  std::vector<Timed> timed_;  // not yet taken
};

}  // namespace calpe::backend::cuda
