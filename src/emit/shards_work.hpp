// SPDX-License-Identifier: Apache-2.0
// The argument of a function emitted in Form::shards. The source code declares the same struct:
// change emit_shards.cpp together with this.
#pragma once
#include <cstddef>

namespace calpe::emit {

// As in backend::Batch: unit u of group g starts at offset + g * group_stride + u * unit_stride of
// its shard.
struct ShardsWork {
  std::size_t stripe_count = 1;
  const unsigned char* const* n = nullptr;  // stripe_count x input shards
  unsigned char* const* r = nullptr;        // stripe_count x output shards; must not overlap
  std::size_t offset = 0;
  std::size_t unit_bytes = 0;
  std::size_t unit_stride = 0;
  std::size_t group_stride = 0;
  std::size_t group_count = 1;
  int accumulate = 0;  // r ^= instead of r =
  int threads = 1;     // openmp: maximum number; c: ignored
};

}  // namespace calpe::emit
