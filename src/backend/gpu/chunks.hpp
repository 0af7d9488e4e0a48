// SPDX-License-Identifier: Apache-2.0
// Cuts a batch into chunks that fit into the copy buffers: as many whole stripes as fit, otherwise
// whole groups of one stripe, otherwise columns of one group.
#pragma once
#include <algorithm>
#include <cstddef>

#include "backend/backend.hpp"

namespace calpe::backend::gpu {

struct Chunk {
  std::size_t stripe = 0;
  std::size_t stripes = 1;
  std::size_t group = 0;
  std::size_t groups = 1;
  std::size_t column = 0;
  std::size_t columns = 0;
};

struct ChunkRules {
  std::size_t shards = 0;      // per stripe, inputs and outputs
  std::size_t unit_count = 1;  // per shard
  std::size_t word_bytes = 1;  // units are copied at multiples of it
  std::size_t room = 0;
  std::size_t stripes_max = 0;  // per chunk
};

class ChunkCursor {
 public:
  ChunkCursor(const Batch& batch, const ChunkRules& rules)
      : stripes_(batch.stripe_count), geometry_(batch.geometry), rules_(rules) {}

  bool at_end() const noexcept { return next_.stripe == stripes_; }

  // Bytes of the copy of a unit.
  std::size_t pitch(std::size_t columns) const noexcept {
    return (columns + rules_.word_bytes - 1) / rules_.word_bytes * rules_.word_bytes;
  }
  // Bytes of the copy of a shard.
  std::size_t shard_bytes(const Chunk& chunk) const noexcept {
    return chunk.groups * rules_.unit_count * pitch(chunk.columns);
  }

  Chunk take() noexcept {
    Chunk chunk = next_;
    const std::size_t units = rules_.shards * rules_.unit_count;
    const std::size_t group_bytes = units * pitch(geometry_.unit_bytes);
    const std::size_t stripe_bytes = group_bytes * geometry_.group_count;
    if (stripe_bytes <= rules_.room) {
      chunk.stripes =
          std::min({stripes_ - next_.stripe, rules_.room / stripe_bytes, rules_.stripes_max});
      chunk.groups = geometry_.group_count;
      chunk.columns = geometry_.unit_bytes;
      next_.stripe += chunk.stripes;
    } else if (group_bytes <= rules_.room) {
      chunk.groups = std::min(geometry_.group_count - next_.group, rules_.room / group_bytes);
      chunk.columns = geometry_.unit_bytes;
      next_.group += chunk.groups;
    } else {
      const std::size_t fit =
          std::max(rules_.word_bytes, rules_.room / units / rules_.word_bytes * rules_.word_bytes);
      chunk.columns = std::min(geometry_.unit_bytes - next_.column, fit);
      next_.column += chunk.columns;
      if (next_.column == geometry_.unit_bytes) {
        next_.column = 0;
        ++next_.group;
      }
    }
    if (next_.group == geometry_.group_count) {
      next_.group = 0;
      ++next_.stripe;
    }
    return chunk;
  }

 private:
  std::size_t stripes_;
  Geometry geometry_;
  ChunkRules rules_;
  Chunk next_ = {};
};

}  // namespace calpe::backend::gpu
