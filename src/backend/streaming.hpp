// SPDX-License-Identifier: Apache-2.0
// Decides when and where stores bypass the caches.
#pragma once
#include <cstddef>
#include <span>

#include "backend/backend.hpp"

namespace calpe::backend {

// Follows the caller's hint. Without one, streams if the batch is larger than a core's own cache.
// Within the cache, streaming halves the speed; beyond it, it saves reading the overwritten lines.
bool wants_streaming(const Batch& batch, std::size_t shards) noexcept;

// Bytes of a batch over this many shards, one unit each.
std::size_t bytes_touched(const Batch& batch, std::size_t shards) noexcept;

// Offset from `begin` at which all outputs are aligned; the largest number if they are never
// aligned together.
std::size_t bytes_to_alignment(std::span<std::byte* const> outputs, std::size_t begin,
                               std::size_t alignment) noexcept;

}  // namespace calpe::backend
