// SPDX-License-Identifier: Apache-2.0
// The stripes of a stream: their lengths, and their places in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <calpe/streams.hpp>

namespace calpe::engine {

// The bytes of the object in one stripe, and the length of its shards.
struct StripeLengths {
  std::size_t data_bytes = 0;
  std::size_t shard_bytes = 0;
  bool operator==(const StripeLengths&) const = default;
};

// Checked options of a stream. `codec` must outlive it.
class StreamShape {
 public:
  static Result<StreamShape> create(const Codec& codec, const StreamOptions& options);

  const Codec& codec() const noexcept { return *codec_; }
  std::size_t data_shards() const noexcept { return codec_->spec().data_shards; }
  std::size_t parity_shards() const noexcept { return codec_->spec().parity_shards; }
  std::size_t shards() const noexcept { return data_shards() + parity_shards(); }

  // Bytes of the object in a whole stripe.
  std::size_t whole_data_bytes() const noexcept { return data_shards() * block_bytes_; }
  // Memory of a stripe: data blocks, then parity blocks.
  std::size_t stripe_memory_bytes() const noexcept { return stripe_memory_bytes_; }

  // Any stripe with this many bytes of the object.
  StripeLengths lengths(std::size_t data_bytes) const noexcept;
  // A stripe of an object with this many bytes; nothing after the last.
  StripeLengths lengths(std::uint64_t object_bytes, std::uint64_t stripe) const noexcept;
  std::uint64_t stripe_count(std::uint64_t object_bytes) const noexcept;

  std::size_t block_bytes(const StripeLengths& lengths, std::size_t shard) const noexcept;
  std::uint64_t block_offset(std::uint64_t stripe, std::size_t shard) const noexcept;
  // Place of a parity block in the memory of a stripe.
  Shard parity_block(std::byte* stripe_memory, const StripeLengths& lengths,
                     std::size_t parity) const noexcept;

 private:
  explicit StreamShape(const Codec& codec) noexcept : codec_(&codec) {}

  const Codec* codec_;
  std::size_t block_bytes_ = 0;
  std::size_t parity_block_bytes_ = 0;
  std::size_t stripe_memory_bytes_ = 0;
};

// Memory for some stripes: the caller's or its own. Not initialised.
class StreamMemory {
 public:
  static Result<StreamMemory> create(const StreamShape& shape, std::size_t stripes, Shard given);
  std::byte* stripe(std::size_t index) const noexcept { return start_ + index * stripe_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  StreamMemory() = default;

  std::unique_ptr<std::byte, Free> own_;
  std::byte* start_ = nullptr;
  std::size_t stripe_bytes_ = 0;
};

}  // namespace calpe::engine
