// SPDX-License-Identifier: Apache-2.0
#include "backend/streaming.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/cpu_features.hpp"

namespace calpe::backend {

std::size_t bytes_touched(const Batch& batch, std::size_t shards) noexcept {
  const Geometry& g = batch.geometry;
  return batch.stripe_count * g.group_count * g.unit_bytes * shards;
}

bool wants_streaming(const Batch& batch, std::size_t shards) noexcept {
  if (batch.stores != Stores::automatic) return batch.stores == Stores::streaming;
  const std::size_t cache = core_cache_bytes();
  return bytes_touched(batch, shards) > cache + cache / 2;
}

std::size_t bytes_to_alignment(std::span<std::byte* const> outputs, std::size_t begin,
                               std::size_t alignment) noexcept {
  const auto rest = [&](const std::byte* output) {
    return (reinterpret_cast<std::uintptr_t>(output) + begin) % alignment;
  };
  const std::size_t first = outputs.empty() ? 0 : rest(outputs.front());
  const bool is_common =
      std::ranges::all_of(outputs, [&](const std::byte* each) { return rest(each) == first; });
  if (!is_common) return std::numeric_limits<std::size_t>::max();
  return (alignment - first) % alignment;
}

}  // namespace calpe::backend
