// SPDX-License-Identifier: Apache-2.0
// When and where stores go past the caches.
#pragma once
#include <cstddef>
#include <span>

#include "backend/backend.hpp"

namespace calpe::backend {

// By the caller's hint; without one, when the batch is larger than what a core keeps to itself. In
// cache such stores are a loss of half the speed, beyond it they save reading what is overwritten.
bool wants_streaming(const Batch& batch, std::size_t shards) noexcept;

// Bytes of a batch over that many shards, one unit each.
std::size_t bytes_touched(const Batch& batch, std::size_t shards) noexcept;

// How many bytes behind `begin` all outputs are aligned; the largest number when they never are
// together.
std::size_t bytes_to_alignment(std::span<std::byte* const> outputs, std::size_t begin,
                               std::size_t alignment) noexcept;

}  // namespace calpe::backend
