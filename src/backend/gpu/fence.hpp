// SPDX-License-Identifier: Apache-2.0
// After a failure: has what was begun come to an end, so that its memory may be used again?
#pragma once
#include <chrono>
#include <memory>

#include "backend/gpu/driver.hpp"

namespace calpe::backend::gpu {

using Deadline = std::chrono::steady_clock::time_point;

// At least 0.
std::chrono::milliseconds time_until(Deadline end);

// Whether all that the queue was given comes to an end in time. `event`: the last mark, or why
// there is none; then one is made.
bool is_over(Queue& queue, Result<std::unique_ptr<Event>>& event, Deadline end);

}  // namespace calpe::backend::gpu
