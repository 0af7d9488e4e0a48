// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/stripe.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace calpe::bench {

namespace {

constexpr std::size_t page_bytes = 4096;

std::size_t shard_distance(std::size_t shard_bytes, ShardLayout layout) {
  if (layout == ShardLayout::contiguous) return std::max<std::size_t>(shard_bytes, 1);
  if (layout == ShardLayout::power2) return std::bit_ceil(std::max(shard_bytes, page_bytes));
  const std::size_t pages = (shard_bytes + page_bytes - 1) / page_bytes;
  return std::max<std::size_t>(pages, 1) * page_bytes + (shard_bytes > page_bytes ? page_bytes : 0);
}

Pages pages_of(ShardLayout layout) {
  switch (layout) {
    case ShardLayout::padded:
      return Pages::huge;
    case ShardLayout::power2:
      return Pages::small;
    case ShardLayout::contiguous:
      break;
  }
  return Pages::usual;
}

}  // namespace

void fill_random(std::span<std::byte> target, std::uint64_t seed) noexcept {
  std::uint64_t state = seed * 2 + 1;
  while (!target.empty()) {
    // splitmix64: cheaper than the first encode of the stripe.
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

std::size_t stripe_distance(Shape shape, std::size_t shard_bytes, ShardLayout layout) noexcept {
  const std::size_t total = std::size_t{shape.data_shards} + 2 * std::size_t{shape.parity_shards};
  return total * shard_distance(shard_bytes, layout);
}

Result<StripeBuffers> StripeBuffers::create(Shape shape, std::size_t shard_bytes,
                                            BufferOptions options) {
  const std::size_t distance = stripe_distance(shape, shard_bytes, options.layout);
  auto arena = Arena::create(options.stripe_count * distance, pages_of(options.layout));
  if (!arena) return std::move(arena).error();
  StripeBuffers buffers(*std::move(arena), shape, shard_bytes);
  buffers.count_ = options.stripe_count;
  buffers.distance_ = distance;
  const std::size_t shard_count = std::size_t{shape.data_shards} + shape.parity_shards;
  const std::size_t shard_stride = shard_distance(shard_bytes, options.layout);
  for (std::size_t stripe = 0; stripe < buffers.count_; ++stripe) {
    std::byte* shard = buffers.memory(stripe).data();
    for (std::size_t i = 0; i < shard_count + shape.parity_shards; ++i, shard += shard_stride)
      (i < shard_count ? buffers.shards_ : buffers.rebuilt_).push_back(shard);
  }
  buffers.fill_data(0, 1);
  return buffers;
}

StripeView StripeBuffers::view(std::size_t stripe) const noexcept {
  const std::size_t m = shape_.parity_shards;
  const std::size_t shard_count = shape_.data_shards + m;
  return {shape_, shard_bytes_, std::span(shards_).subspan(stripe * shard_count, shard_count),
          std::span(rebuilt_).subspan(stripe * m, m)};
}

std::span<std::byte> StripeBuffers::memory(std::size_t stripe) const noexcept {
  return arena_.bytes().subspan(stripe * distance_, distance_);
}

void StripeBuffers::fill_data(std::size_t stripe, std::uint64_t seed) const noexcept {
  std::uint64_t shard_seed = seed * shard_count_max;
  for (std::byte* shard : view(stripe).data())
    fill_random({shard, shard_bytes_}, shard_seed++);
}

}  // namespace calpe::bench
