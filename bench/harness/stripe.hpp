// SPDX-License-Identifier: Apache-2.0
// The stripes of a cell. All contestants use the same buffers and layout.
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
  std::uint32_t data_shards = 0;
  std::uint32_t parity_shards = 0;
  bool operator==(const Shape&) const = default;
};

// Pointers into a StripeBuffers, which must outlive this view.
struct StripeView {
  Shape shape;
  std::size_t shard_bytes = 0;
  std::span<std::byte* const> shards;   // k + m, data first; decode does not read lost ones
  std::span<std::byte* const> rebuilt;  // m; decode writes the i-th lost shard to rebuilt[i]

  std::span<std::byte* const> data() const { return shards.first(shape.data_shards); }
  std::span<std::byte* const> parity() const { return shards.subspan(shape.data_shards); }
};

// Placement of shards. The first one starts on a page boundary.
enum class ShardLayout : std::uint8_t {
  // On huge pages, with a stride of shard_bytes up to 4 KiB and shard_bytes + 4 KiB above.
  // Power-of-two strides would map equal offsets of all shards to the same cache sets.
  padded,
  // On 4 KiB pages, with the next power of two as stride, as callers get without tuning.
  power2,
  // One directly after the other on the system's default pages, as in a buffer of malloc(). The
  // others give each shard its own pages; with thousands of short shards, these fill the TLB.
  contiguous,
};

struct BufferOptions {
  ShardLayout layout = ShardLayout::padded;
  std::size_t stripe_count = 1;
};

// Bytes from one stripe to the next.
std::size_t stripe_distance(Shape shape, std::size_t shard_bytes, ShardLayout layout) noexcept;

// One stripe, or many used in turn.
class StripeBuffers {
 public:
  // Fills the first stripe with random data, the others with zeros. Coder speed is independent of
  // the data.
  static Result<StripeBuffers> create(Shape shape, std::size_t shard_bytes,
                                      BufferOptions options = {});

  std::size_t count() const noexcept { return count_; }
  StripeView view(std::size_t stripe = 0) const noexcept;
  std::span<std::byte> memory(std::size_t stripe = 0) const noexcept;
  void fill_data(std::size_t stripe, std::uint64_t seed) const noexcept;

  // The stripe for the next call. All contestants share the turn, so that none finds in a cache
  // what another has just used. Not thread-safe.
  std::size_t next() const noexcept {
    const std::size_t stripe = next_;
    next_ = stripe + 1 == count_ ? 0 : stripe + 1;
    return stripe;
  }
  void rewind() const noexcept { next_ = 0; }

 private:
  StripeBuffers(Arena arena, Shape shape, std::size_t shard_bytes)
      : arena_(std::move(arena)), shape_(shape), shard_bytes_(shard_bytes) {}
  Arena arena_;
  Shape shape_;
  std::size_t shard_bytes_;
  std::size_t count_ = 0;
  std::size_t distance_ = 0;
  mutable std::size_t next_ = 0;
  std::vector<std::byte*> shards_;   // k + m per stripe
  std::vector<std::byte*> rebuilt_;  // m per stripe
};

// The pointers of each stripe in a library's own form, used in turn.
template <class Pointers>
class PerStripe {
 public:
  // `make` turns a StripeView into Pointers.
  template <class Make>
  PerStripe(const StripeBuffers& stripes, const Make& make) : stripes_(&stripes) {
    pointers_.reserve(stripes.count());
    for (std::size_t i = 0; i < stripes.count(); ++i)
      pointers_.push_back(make(stripes.view(i)));
  }
  Pointers& next() noexcept { return pointers_[stripes_->next()]; }

 private:
  const StripeBuffers* stripes_;
  std::vector<Pointers> pointers_;
};

// Fills with bytes that depend only on the seed; all byte values occur.
void fill_random(std::span<std::byte> target, std::uint64_t seed) noexcept;

}  // namespace calpe::bench
