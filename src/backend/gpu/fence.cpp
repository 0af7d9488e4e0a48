// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/fence.hpp"

#include <algorithm>

namespace calpe::backend::gpu {

namespace {

// Retry: a driver that refuses once may have been out of memory.
constexpr int attempts = 3;

}  // namespace

std::chrono::milliseconds time_until(Deadline end) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

bool is_over(Queue& queue, Result<std::unique_ptr<Event>>& event, Deadline end) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (!event) event = queue.mark();
    if (!event) continue;
    static_cast<void>((*event)->wait(time_until(end)));
    if (!(*event)->may_be_running()) return true;
  }
  return false;
}

}  // namespace calpe::backend::gpu
