// SPDX-License-Identifier: Apache-2.0
// A queue of recorded commands. Calls record; mark() submits what is recorded, and its end sets a
// timeline semaphore to the next number, which events wait for. Every command waits for the ones
// before it.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/gpu/driver.hpp"
#include "backend/vulkan/vulkan_context.hpp"

namespace calpe::backend::vulkan {

// Shared by a queue and its events.
class CommandStream {
 public:
  static Result<std::shared_ptr<CommandStream>> open(ContextRef context, bool profiling);
  CommandStream(const CommandStream&) = delete;
  CommandStream& operator=(const CommandStream&) = delete;
  ~CommandStream();

  Status copy_in(std::uint64_t to, const std::byte* from, std::size_t bytes);
  Status copy_out(std::byte* to, std::uint64_t from, std::size_t bytes);
  Status copy_within(std::uint64_t to, std::uint64_t from, std::size_t bytes);
  Status launch(const gpu::Module& module, const gpu::Launch& launch);
  // Returns the number that the semaphore has after everything recorded so far.
  Result<std::uint64_t> submit();
  Status wait(std::uint64_t number, std::chrono::milliseconds limit);
  gpu::PhaseSeconds take_seconds();

 private:
  using Phase = double gpu::PhaseSeconds::*;
  // Memory between the caller's memory, which the device cannot access, and the device's.
  struct Staging {
    std::byte* memory = nullptr;
    std::byte* to = nullptr;  // copied there at the end; null: nowhere
    std::size_t bytes = 0;
  };
  struct Submission {
    VkCommandBuffer commands = nullptr;
    VkQueryPool times = nullptr;  // two per phase
    std::uint64_t number = 0;
    std::vector<Staging> staging = {};
    std::vector<Phase> phases = {};
  };

  CommandStream(ContextRef context, bool profiling)
      : context_(std::move(context)), profiling_(profiling), queue_(context_->next_queue()) {}
  const Api& api() const noexcept { return context_->api(); }
  VkDevice device() const noexcept { return context_->device(); }
  Status create();
  Result<VkCommandBuffer> commands();  // opens a submission if none is open
  Result<Submission> make_submission();
  template <class Work>
  void timed(Phase phase, const Work& work);
  void barrier(VkPipelineStageFlags from, VkPipelineStageFlags to, VkAccessFlags access) const;
  Status copy(const VulkanContext::Part& to, const VulkanContext::Part& from, std::size_t bytes,
              Phase phase);
  Result<VulkanContext::Part> stage(std::size_t bytes, const std::byte* from, std::byte* to);
  void drop_staging(Submission& submission);
  void finish_until(std::uint64_t number);
  void forget_results(std::uint64_t number);
  void add_seconds(const Submission& submission);

  ContextRef context_;
  bool profiling_;
  std::size_t queue_;
  VkCommandPool pool_ = nullptr;
  VkSemaphore semaphore_ = nullptr;
  std::mutex mutex_;  // the queue's user and waiting threads
  std::uint64_t submitted_ = 0;
  bool is_open_ = false;
  Submission open_ = {};
  std::deque<Submission> under_way_;
  std::vector<Submission> unused_;
  gpu::PhaseSeconds seconds_ = {};
};

class VulkanQueue : public gpu::Queue {
 public:
  static Result<std::unique_ptr<gpu::Queue>> open(ContextRef context, bool profiling);

  Status copy_in(const gpu::Place& to, const std::byte* from, std::size_t bytes) override {
    return bytes == 0 ? Status(Done{}) : stream_->copy_in(to.at, from, bytes);
  }
  Status copy_out(std::byte* to, const gpu::Place& from, std::size_t bytes) override {
    return bytes == 0 ? Status(Done{}) : stream_->copy_out(to, from.at, bytes);
  }
  Status copy_within(const gpu::Place& to, const gpu::Place& from, std::size_t bytes) override {
    return bytes == 0 ? Status(Done{}) : stream_->copy_within(to.at, from.at, bytes);
  }
  Status launch(const gpu::Module& module, const gpu::Launch& launch) override {
    return stream_->launch(module, launch);
  }
  Result<std::unique_ptr<gpu::Event>> mark() override;
  Result<gpu::PhaseSeconds> take_seconds() override { return stream_->take_seconds(); }

 private:
  explicit VulkanQueue(std::shared_ptr<CommandStream> stream) : stream_(std::move(stream)) {}
  std::shared_ptr<CommandStream> stream_;
};

}  // namespace calpe::backend::vulkan
