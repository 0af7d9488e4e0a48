// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/context_wait.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>

#include "base/text.hpp"
#include "base/threads.hpp"

namespace calpe::backend::gpu {

namespace {

using Clock = std::chrono::steady_clock;

// Interval at which a wait checks whether the device was lost.
constexpr std::chrono::milliseconds look_time{20};

// Shared with the waiting thread; outlives an abandoned wait.
struct Shared {
  std::mutex mutex = {};
  std::condition_variable changed = {};
  bool is_over = false;
  Status status = Done{};
};

}  // namespace

// Waits on a separate thread, because the driver's call cannot be cancelled.
Status ContextWait::wait() {
  if (!driver_.info().waits_for_context) return Done{};
  const auto shared = std::make_shared<Shared>();
  try {
    // A lost device keeps its driver for good, so the driver outlives the thread.
    start_thread("calpe-wait", [shared, &driver = driver_] {
      Status done = driver.wait_for_context();
      const std::lock_guard lock(shared->mutex);
      shared->status = std::move(done);
      shared->is_over = true;
      shared->changed.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    return driver_.wait_for_context();  // no thread available
  }
  std::unique_lock lock(shared->mutex);
  Clock::time_point alone_until = Clock::now();  // our queues are idle until then
  while (!shared->changed.wait_for(lock, look_time, [&] { return shared->is_over; })) {
    const Clock::time_point now = Clock::now();
    if (!slots_.is_any_taken()) alone_until = now;
    if (now - alone_until >= time_limit_) is_lost_.store(true, std::memory_order_release);
    if (is_lost_.load(std::memory_order_acquire)) {
      return make_error(ErrorCode::device_failed, driver_.info().name, " hangs: no progress in ",
                        time_limit_.count(), " ms");
    }
  }
  return std::move(shared->status);
}

}  // namespace calpe::backend::gpu
