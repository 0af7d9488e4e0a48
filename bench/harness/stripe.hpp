// SPDX-License-Identifier: Apache-2.0
// The stripe that every contestant of a cell works on: same buffers, same layout for all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "bench/harness/arena.hpp"

namespace calpe::bench {

struct Shape {
  std::uint16_t data_shards = 0;
  std::uint16_t parity_shards = 0;
  bool operator==(const Shape&) const = default;
};

// Pointers into a StripeBuffers, which must outlive it.
struct StripeView {
  Shape shape;
  std::size_t shard_bytes = 0;
  std::span<std::byte* const> shards;   // k + m, data first; lost ones are not read by decode
  std::span<std::byte* const> rebuilt;  // m; decode writes the i-th lost shard to rebuilt[i]
};

class StripeBuffers {
 public:
  // Page-aligned shards, data filled with random bytes. Neighbours are shard_bytes apart at up to
  // 4 KiB and 4 KiB more above: power-of-two distances would put equal offsets of all shards into
  // the same cache sets, which no careful user does.
  static Result<StripeBuffers> create(Shape shape, std::size_t shard_bytes);

  StripeView view() const noexcept { return {shape_, shard_bytes_, shards_, rebuilt_}; }
  std::span<std::byte> memory() const noexcept { return arena_.bytes(); }
  void fill_data(std::uint64_t seed) const noexcept;

 private:
  StripeBuffers(Arena arena, Shape shape, std::size_t shard_bytes)
      : arena_(std::move(arena)), shape_(shape), shard_bytes_(shard_bytes) {}
  Arena arena_;
  Shape shape_;
  std::size_t shard_bytes_;
  std::vector<std::byte*> shards_;
  std::vector<std::byte*> rebuilt_;
};

// Fills with bytes that depend on the seed alone; all byte values occur.
void fill_random(std::span<std::byte> target, std::uint64_t seed) noexcept;

}  // namespace calpe::bench
