// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/vulkan_queue.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "backend/vulkan/vulkan_module.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::vulkan {

namespace {

constexpr std::uint32_t phases_max = 256;  // measured per submission

constexpr VkPipelineStageFlags work_stages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags work_writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags work_reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

class VulkanMark : public gpu::Event {
 public:
  VulkanMark(std::shared_ptr<CommandStream> stream, std::uint64_t number)
      : stream_(std::move(stream)), number_(number) {}
  Status wait(std::chrono::milliseconds limit) override {
    Status done = stream_->wait(number_, limit);
    if (done) may_be_running_ = false;
    return done;
  }
  bool may_be_running() const noexcept override { return may_be_running_; }

 private:
  std::shared_ptr<CommandStream> stream_;
  std::uint64_t number_;
  bool may_be_running_ = true;
};

}  // namespace

Result<std::shared_ptr<CommandStream>> CommandStream::open(ContextRef context, bool profiling) {
  profiling = profiling && context->found().timestamp_bits != 0;
  std::shared_ptr<CommandStream> stream(new CommandStream(std::move(context), profiling));
  CALPE_CHECK(stream->create());
  return stream;
}

Status CommandStream::create() {
  VkCommandPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = context_->found().family;
  CALPE_CHECK(
      check(api().vkCreateCommandPool(device(), &pool, nullptr, &pool_), "vkCreateCommandPool"));
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .pNext = nullptr,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                          .initialValue = 0};
  VkSemaphoreCreateInfo semaphore = {};
  semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  semaphore.pNext = &type;
  return check(api().vkCreateSemaphore(device(), &semaphore, nullptr, &semaphore_),
               "vkCreateSemaphore");
}

CommandStream::~CommandStream() {
  std::uint64_t reached = 0;
  if (submitted_ != 0 &&
      (api().vkGetSemaphoreCounterValue(device(), semaphore_, &reached) != VK_SUCCESS ||
       reached < submitted_)) {
    keep_for_good(context_);  // the device still uses what belongs to the stream
    return;
  }
  forget_results(submitted_);
  finish_until(submitted_);
  if (is_open_) {
    drop_staging(open_);
    unused_.push_back(std::move(open_));
  }
  for (const Submission& submission : unused_)
    api().vkDestroyQueryPool(device(), submission.times, nullptr);
  api().vkDestroyCommandPool(device(), pool_, nullptr);
  api().vkDestroySemaphore(device(), semaphore_, nullptr);
}

Result<CommandStream::Submission> CommandStream::make_submission() {
  if (!unused_.empty()) {
    Submission submission = std::move(unused_.back());
    unused_.pop_back();
    return submission;
  }
  Submission submission;
  VkCommandBufferAllocateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  CALPE_CHECK(check(api().vkAllocateCommandBuffers(device(), &info, &submission.commands),
                    "vkAllocateCommandBuffers"));
  if (!profiling_) return submission;
  VkQueryPoolCreateInfo times = {};
  times.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  times.queryType = VK_QUERY_TYPE_TIMESTAMP;
  times.queryCount = 2 * phases_max;
  const VkResult made = api().vkCreateQueryPool(device(), &times, nullptr, &submission.times);
  if (made == VK_SUCCESS) return submission;
  api().vkFreeCommandBuffers(device(), pool_, 1, &submission.commands);
  return check(made, "vkCreateQueryPool").error();
}

Result<VkCommandBuffer> CommandStream::commands() {
  if (is_open_) return open_.commands;
  CALPE_TRY(Submission submission, make_submission());
  VkCommandBufferBeginInfo begin = {};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  const VkResult begun = api().vkBeginCommandBuffer(submission.commands, &begin);
  if (begun != VK_SUCCESS) {
    unused_.push_back(std::move(submission));
    return check(begun, "vkBeginCommandBuffer").error();
  }
  if (submission.times != nullptr)
    api().vkCmdResetQueryPool(submission.commands, submission.times, 0, 2 * phases_max);
  open_ = std::move(submission);
  is_open_ = true;
  return open_.commands;
}

void CommandStream::barrier(VkPipelineStageFlags from, VkPipelineStageFlags to,
                            VkAccessFlags access) const {
  const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .pNext = nullptr,
                                  .srcAccessMask = work_writes,
                                  .dstAccessMask = access};
  api().vkCmdPipelineBarrier(open_.commands, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

// `phase` is null for work that is not measured.
template <class Work>
void CommandStream::timed(Phase phase, const Work& work) {
  barrier(work_stages, work_stages, work_reads | work_writes);
  const bool is_timed =
      phase != nullptr && open_.times != nullptr && open_.phases.size() < phases_max;
  const auto stamp = [&](std::size_t index) {
    api().vkCmdWriteTimestamp(open_.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, open_.times,
                              static_cast<std::uint32_t>(index));
  };
  if (is_timed) stamp(2 * open_.phases.size());
  work();
  if (!is_timed) return;
  stamp(2 * open_.phases.size() + 1);
  open_.phases.push_back(phase);
}

Status CommandStream::copy(const VulkanContext::Part& to, const VulkanContext::Part& from,
                           std::size_t bytes, Phase phase) {
  CALPE_TRY(const VkCommandBuffer commands, this->commands());
  const VkBufferCopy region = {.srcOffset = from.offset, .dstOffset = to.offset, .size = bytes};
  timed(phase, [&] { api().vkCmdCopyBuffer(commands, from.buffer, to.buffer, 1, &region); });
  return Done{};
}

// Makes memory for a copy, with the bytes of `from` if it is not null.
Result<VulkanContext::Part> CommandStream::stage(std::size_t bytes, const std::byte* from,
                                                 std::byte* to) {
  CALPE_CHECK(commands());
  CALPE_TRY(std::byte* const memory, context_->allocate_host(bytes));
  open_.staging.push_back({.memory = memory, .to = to, .bytes = bytes});
  if (from != nullptr) std::memcpy(memory, from, bytes);
  return *context_->find_host(memory, bytes);
}

Status CommandStream::copy_in(std::uint64_t to, const std::byte* from, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  CALPE_TRY(const VulkanContext::Part target, context_->find_device(to, bytes));
  std::optional<VulkanContext::Part> source = context_->find_host(from, bytes);
  if (!source) {
    CALPE_TRY(source, stage(bytes, from, nullptr));
  }
  return copy(target, *source, bytes, &gpu::PhaseSeconds::copy_in);
}

Status CommandStream::copy_out(std::byte* to, std::uint64_t from, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  CALPE_TRY(const VulkanContext::Part source, context_->find_device(from, bytes));
  std::optional<VulkanContext::Part> target = context_->find_host(to, bytes);
  if (!target) {
    CALPE_TRY(target, stage(bytes, nullptr, to));
  }
  return copy(*target, source, bytes, &gpu::PhaseSeconds::copy_out);
}

Status CommandStream::copy_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  CALPE_TRY(const VulkanContext::Part target, context_->find_device(to, bytes));
  CALPE_TRY(const VulkanContext::Part source, context_->find_device(from, bytes));
  return copy(target, source, bytes, nullptr);
}

Status CommandStream::launch(const gpu::Module& module, const gpu::Launch& launch) {
  const auto& built = static_cast<const VulkanModule&>(module);
  if (launch.entry >= built.entry_count()) {
    return invalid("entry ", launch.entry, " of a module with ", built.entry_count());
  }
  const std::size_t groups =
      (launch.words + built.group_items() - 1) / built.group_items() * launch.row_groups;
  const std::uint32_t groups_max = context_->found().properties.limits.maxComputeWorkGroupCount[0];
  if (groups > groups_max) return invalid("launch of ", groups, " groups, at most ", groups_max);
  // In the order of spirv_arguments.hpp.
  std::array<std::uint64_t, push_bytes / sizeof(std::uint64_t)> values = {
      reinterpret_cast<std::uintptr_t>(launch.n_base),
      reinterpret_cast<std::uintptr_t>(launch.r_base),
      launch.shards.at,
      launch.first,
      launch.column_bytes,
      launch.unit_stride,
      launch.group_stride};
  if (launch.table != nullptr) {
    const gpu::Launch::Table& table = *launch.table;
    const std::array more = {table.bits.at,      table.row_groups,
                             table.input_shards, table.output_shards,
                             table.unit_count,   std::uint64_t{table.accumulate}};
    std::ranges::copy(more, values.end() - more.size());
  }
  const std::lock_guard lock(mutex_);
  CALPE_TRY(const VkCommandBuffer commands, this->commands());
  timed(&gpu::PhaseSeconds::kernel, [&] {
    api().vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, built.entry(launch.entry));
    api().vkCmdPushConstants(commands, context_->layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                             push_bytes, values.data());
    api().vkCmdDispatch(commands, static_cast<std::uint32_t>(groups),
                        static_cast<std::uint32_t>(launch.groups),
                        static_cast<std::uint32_t>(launch.stripes));
  });
  return Done{};
}

Result<std::uint64_t> CommandStream::submit() {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return submitted_;
  barrier(work_stages, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  is_open_ = false;
  Submission submission = std::move(open_);
  Status done = check(api().vkEndCommandBuffer(submission.commands), "vkEndCommandBuffer");
  if (done) {
    submission.number = submitted_ + 1;
    VkTimelineSemaphoreSubmitInfo numbers = {};
    numbers.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    numbers.signalSemaphoreValueCount = 1;
    numbers.pSignalSemaphoreValues = &submission.number;
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &numbers;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &submission.commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &semaphore_;
    done = context_->submit(queue_, info);
  }
  if (!done) {  // none of it runs
    drop_staging(submission);
    unused_.push_back(std::move(submission));
    return std::move(done).error();
  }
  submitted_ = submission.number;
  under_way_.push_back(std::move(submission));
  return submitted_;
}

Status CommandStream::wait(std::uint64_t number, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds limit_max = std::chrono::hours(24 * 365);
  const std::chrono::nanoseconds time = std::min(limit, limit_max);
  VkSemaphoreWaitInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &number;
  const VkResult result =
      api().vkWaitSemaphores(device(), &info, static_cast<std::uint64_t>(time.count()));
  const std::lock_guard lock(mutex_);
  if (result == VK_SUCCESS) {
    finish_until(number);
    return Done{};
  }
  forget_results(number);
  if (result != VK_TIMEOUT) return check(result, "vkWaitSemaphores");
  return make_error(ErrorCode::device_failed, context_->found().name, " hangs: no progress in ",
                    limit.count(), " ms");
}

// The caller may free its memory once a wait has failed, so a later wait must not write there.
void CommandStream::forget_results(std::uint64_t number) {
  for (Submission& submission : under_way_) {
    if (submission.number > number) return;
    for (Staging& staging : submission.staging)
      staging.to = nullptr;
  }
}

void CommandStream::finish_until(std::uint64_t number) {
  while (!under_way_.empty() && under_way_.front().number <= number) {
    Submission submission = std::move(under_way_.front());
    under_way_.pop_front();
    for (const Staging& staging : submission.staging) {
      if (staging.to != nullptr) std::memcpy(staging.to, staging.memory, staging.bytes);
    }
    add_seconds(submission);
    drop_staging(submission);
    unused_.push_back(std::move(submission));
  }
}

// Makes a submission ready for its next use.
void CommandStream::drop_staging(Submission& submission) {
  for (const Staging& staging : submission.staging)
    context_->release_host(staging.memory);
  submission.staging.clear();
  submission.phases.clear();
}

void CommandStream::add_seconds(const Submission& submission) {
  if (submission.phases.empty()) return;
  std::vector<std::uint64_t> times(2 * submission.phases.size());
  const VkResult read = api().vkGetQueryPoolResults(
      device(), submission.times, 0, static_cast<std::uint32_t>(times.size()),
      times.size() * sizeof times[0], times.data(), sizeof times[0], VK_QUERY_RESULT_64_BIT);
  if (read != VK_SUCCESS) return;  // the work is done; only its times are missing
  // Other bits are undefined; many GPUs count in 36 bits, which wrap after an hour.
  const std::uint64_t valid = ~std::uint64_t{0} >> (64 - context_->found().timestamp_bits);
  const double seconds_per_tick =
      1e-9 * double{context_->found().properties.limits.timestampPeriod};
  for (std::size_t i = 0; i < submission.phases.size(); ++i) {
    const std::uint64_t ticks = (times[2 * i + 1] - times[2 * i]) & valid;
    seconds_.*submission.phases[i] += seconds_per_tick * static_cast<double>(ticks);
  }
}

gpu::PhaseSeconds CommandStream::take_seconds() {
  const std::lock_guard lock(mutex_);
  return std::exchange(seconds_, {});
}

Result<std::unique_ptr<gpu::Queue>> VulkanQueue::open(ContextRef context, bool profiling) {
  CALPE_TRY(std::shared_ptr<CommandStream> stream,
            CommandStream::open(std::move(context), profiling));
  return std::unique_ptr<gpu::Queue>(new VulkanQueue(std::move(stream)));
}

Result<std::unique_ptr<gpu::Event>> VulkanQueue::mark() {
  CALPE_TRY(const std::uint64_t number, stream_->submit());
  return std::unique_ptr<gpu::Event>(std::make_unique<VulkanMark>(stream_, number));
}

}  // namespace calpe::backend::vulkan
