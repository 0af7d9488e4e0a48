// SPDX-License-Identifier: Apache-2.0
// After a failure, finds out whether the started work has ended, so that its memory can be reused.
#pragma once
#include <chrono>
#include <memory>

#include "backend/gpu/driver.hpp"

namespace calpe::backend::gpu {

using Deadline = std::chrono::steady_clock::time_point;

// Remaining time, at least 0.
std::chrono::milliseconds time_until(Deadline end);

// Returns whether everything in the queue ends in time. `event` is the last mark, or the reason why
// there is none; then a new one is made.
bool is_over(Queue& queue, Result<std::unique_ptr<Event>>& event, Deadline end);

}  // namespace calpe::backend::gpu
