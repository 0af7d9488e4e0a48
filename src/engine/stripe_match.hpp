// SPDX-License-Identifier: Apache-2.0
// Tells whether shards hold what a plan would write. Faster than syndromes, which also tell what is
// wrong and where.
#pragma once
#include <cstddef>
#include <optional>

#include "backend/backend.hpp"
#include "engine/run/executor.hpp"

namespace calpe::engine {

// For flat layouts. `stored` has the shards that `task` writes. Returns nullopt if the device
// keeps shards in memory of its own, or fails.
std::optional<bool> matches(backend::Device& device, const Task& task,
                            const std::byte* const* inputs, const std::byte* const* stored,
                            std::size_t shard_bytes);

}  // namespace calpe::engine
