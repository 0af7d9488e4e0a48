// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/stripe.hpp"

#include <algorithm>
#include <cstring>

namespace calpe::bench {

namespace {
constexpr std::size_t page_bytes = 4096;
}

void fill_random(std::span<std::byte> target, std::uint64_t seed) noexcept {
  std::uint64_t state = seed * 2 + 1;
  while (!target.empty()) {
    // splitmix64: a run of it costs less than the stripe's first encode.
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t word = state;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    word ^= word >> 31;
    const std::size_t bytes = std::min(target.size(), sizeof word);
    std::memcpy(target.data(), &word, bytes);
    target = target.subspan(bytes);
  }
}

Result<StripeBuffers> StripeBuffers::create(Shape shape, std::size_t shard_bytes) {
  const std::size_t pages = (shard_bytes + page_bytes - 1) / page_bytes;
  const std::size_t stride =
      std::max<std::size_t>(pages, 1) * page_bytes + (shard_bytes > page_bytes ? page_bytes : 0);
  const std::size_t shard_count = std::size_t{shape.data_shards} + shape.parity_shards;
  const std::size_t total = shard_count + shape.parity_shards;
  auto arena = Arena::create(total * stride);
  if (!arena) return std::move(arena).error();
  StripeBuffers buffers(*std::move(arena), shape, shard_bytes);
  for (std::size_t i = 0; i < total; ++i) {
    std::byte* const shard = buffers.arena_.bytes().data() + i * stride;
    (i < shard_count ? buffers.shards_ : buffers.rebuilt_).push_back(shard);
  }
  buffers.fill_data(1);
  return buffers;
}

void StripeBuffers::fill_data(std::uint64_t seed) const noexcept {
  for (std::size_t i = 0; i < shape_.data_shards; ++i)
    fill_random({shards_[i], shard_bytes_}, seed * shard_count_max + i);
}

}  // namespace calpe::bench
