// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_queue.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "backend/gpu/poll_pace.hpp"
#include "base/try.hpp"

namespace calpe::backend::cuda {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t grid_x_max = std::numeric_limits<std::int32_t>::max();

// Returns whether all work before an event, or in a stream, is done.
template <class Handle>
Result<bool> ask(const CudaContext& context, const Function<Handle>& query, Handle handle) {
  const CudaContext::Current current(context);
  if (!current.status()) return current.status().error();
  const CuResult result = query.address(handle);
  if (result == cuda_error_not_ready) return false;
  if (result != cuda_success) return context.api().error(query.symbol, result);
  return true;
}

class CudaMark : public gpu::Event {
 public:
  // Without an event, wait for the end of the stream.
  CudaMark(StreamRef stream, std::unique_ptr<CudaEvent> event)
      : stream_(std::move(stream)), event_(std::move(event)) {}
  Status wait(std::chrono::milliseconds limit) override;
  bool may_be_running() const noexcept override { return may_be_running_; }

 private:
  Result<bool> is_done() const {
    if (event_ != nullptr) return event_->is_done();
    const CudaContext& context = *stream_->context();
    return ask(context, context.api().stream_query, stream_->handle());
  }

  StreamRef stream_;
  std::unique_ptr<CudaEvent> event_;
  bool may_be_running_ = true;
};

// Polls, because the driver's own wait has no timeout.
Status CudaMark::wait(std::chrono::milliseconds limit) {
  const Clock::time_point start = Clock::now();
  while (true) {
    CALPE_TRY(const bool done, is_done());
    if (done) {
      may_be_running_ = false;
      return Done{};
    }
    const Clock::duration waited = Clock::now() - start;
    if (waited >= limit) {
      return make_error(ErrorCode::device_failed, "cuda:", stream_->context()->device(),
                        " hangs: no progress in ", limit.count(), " ms");
    }
    gpu::rest_after(waited, limit - waited);
  }
}

}  // namespace

Status CudaModule::add_entry(const std::string& name) {
  const CudaApi& api = context_->api();
  CuFunction function = nullptr;
  CALPE_CHECK(context_->call(api.module_get_function, &function, module_, name.c_str()));
  int local_bytes = 0;
  CALPE_CHECK(context_->call(api.func_get_attribute, &local_bytes,
                             function_attribute_local_size_bytes, function));
  spill_bytes_ = std::max(spill_bytes_, static_cast<std::size_t>(std::max(local_bytes, 0)));
  entries_.push_back(function);
  return Done{};
}

Status launch_in(const CudaContext& context, CuStream stream, const CudaModule& module,
                 const gpu::Launch& launch) {
  if (launch.entry >= module.entry_count()) {
    return invalid("entry ", launch.entry, " of a module with ", module.entry_count());
  }
  const std::size_t group_items = module.group_items();
  const std::size_t blocks = (launch.words + group_items - 1) / group_items * launch.row_groups;
  if (blocks > grid_x_max) return invalid("launch of ", blocks, " blocks, at most ", grid_x_max);

  const gpu::Launch::Table no_table;
  const gpu::Launch::Table& table = launch.table != nullptr ? *launch.table : no_table;
  // A kernel without a table reads the first seven.
  std::array<std::uint64_t, 13> values = {reinterpret_cast<std::uintptr_t>(launch.n_base),
                                          reinterpret_cast<std::uintptr_t>(launch.r_base),
                                          launch.shards.at,
                                          launch.first,
                                          launch.column_bytes,
                                          launch.unit_stride,
                                          launch.group_stride,
                                          table.bits.at,
                                          table.row_groups,
                                          table.input_shards,
                                          table.output_shards,
                                          table.unit_count,
                                          std::uint64_t{table.accumulate}};
  // The driver copies the values before the call returns.
  std::array<void*, values.size()> arguments = {};
  std::ranges::transform(values, arguments.begin(), [](std::uint64_t& value) { return &value; });
  return context.call(context.api().launch_kernel, module.entry(launch.entry),
                      static_cast<unsigned>(blocks), static_cast<unsigned>(launch.groups),
                      static_cast<unsigned>(launch.stripes), module.group_items(), 1U, 1U, 0U,
                      stream, arguments.data(), static_cast<void**>(nullptr));
}

Result<StreamRef> CudaStream::open(ContextRef context) {
  CuStream handle = nullptr;
  CALPE_CHECK(context->call(context->api().stream_create, &handle, stream_non_blocking));
  return StreamRef(new CudaStream(std::move(context), handle));
}

Result<std::unique_ptr<CudaEvent>> CudaEvent::record(const StreamRef& stream, bool has_time) {
  const ContextRef& context = stream->context();
  const CudaApi& api = context->api();
  CuEvent handle = nullptr;
  CALPE_CHECK(context->call(api.event_create, &handle, has_time ? 0U : event_disable_timing));
  std::unique_ptr<CudaEvent> event(new CudaEvent(context, handle));
  CALPE_CHECK(context->call(api.event_record, handle, stream->handle()));
  return event;
}

Result<bool> CudaEvent::is_done() const {
  return ask(*context_, context_->api().event_query, event_);
}

Result<double> CudaEvent::seconds_since(const CudaEvent& start) const {
  float milliseconds = 0;
  CALPE_CHECK(
      context_->call(context_->api().event_elapsed_time, &milliseconds, start.event_, event_));
  return double{milliseconds} / 1000;
}

Result<std::unique_ptr<gpu::Queue>> CudaQueue::open(ContextRef context, bool profiling) {
  CALPE_TRY(StreamRef stream, CudaStream::open(std::move(context)));
  return std::unique_ptr<gpu::Queue>(new CudaQueue(std::move(stream), profiling));
}

template <class Work>
Status CudaQueue::timed(Phase phase, const Work& work) {
  if (!profiling_) return work();
  auto start = CudaEvent::record(stream_, true);
  CALPE_CHECK(work());
  auto end = CudaEvent::record(stream_, true);
  if (start && end) {
    timed_.push_back({.phase = phase, .start = *std::move(start), .end = *std::move(end)});
  }
  return Done{};
}

Status CudaQueue::copy_in(const gpu::Place& to, const std::byte* from, std::size_t bytes) {
  if (bytes == 0) return Done{};
  return timed(&gpu::PhaseSeconds::copy_in, [&] {
    return call(api().memcpy_htod_async, to.at, from, bytes, stream_->handle());
  });
}

Status CudaQueue::copy_out(std::byte* to, const gpu::Place& from, std::size_t bytes) {
  if (bytes == 0) return Done{};
  return timed(&gpu::PhaseSeconds::copy_out, [&] {
    return call(api().memcpy_dtoh_async, to, from.at, bytes, stream_->handle());
  });
}

Status CudaQueue::copy_within(const gpu::Place& to, const gpu::Place& from, std::size_t bytes) {
  if (bytes == 0) return Done{};
  return call(api().memcpy_dtod_async, to.at, from.at, bytes, stream_->handle());
}

Status CudaQueue::launch(const gpu::Module& module, const gpu::Launch& launch) {
  return timed(&gpu::PhaseSeconds::kernel, [&] {
    return launch_in(*stream_->context(), stream_->handle(), static_cast<const CudaModule&>(module),
                     launch);
  });
}

Result<std::unique_ptr<gpu::Event>> CudaQueue::mark() {
  auto event = CudaEvent::record(stream_, false);
  return std::unique_ptr<gpu::Event>(
      std::make_unique<CudaMark>(stream_, event ? *std::move(event) : nullptr));
}

Result<gpu::PhaseSeconds> CudaQueue::take_seconds() {
  gpu::PhaseSeconds sums;
  std::size_t taken = 0;
  for (const Timed& timed : timed_) {
    CALPE_TRY(const bool done, timed.end->is_done());
    if (!done) break;  // in order, so nothing after it is done either
    CALPE_TRY(const double seconds, timed.end->seconds_since(*timed.start));
    sums.*timed.phase += seconds;
    ++taken;
  }
  timed_.erase(timed_.begin(), timed_.begin() + static_cast<std::ptrdiff_t>(taken));
  return sums;
}

}  // namespace calpe::backend::cuda
