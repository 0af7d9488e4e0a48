// SPDX-License-Identifier: Apache-2.0
#include "engine/stream_shape.hpp"

#include <algorithm>
#include <new>

#include "base/text.hpp"
#include "engine/codec_impl.hpp"

namespace calpe {

namespace engine {

namespace {

constexpr unsigned depth_max = 256;
// No cache line belongs to two stripes, which different threads write.
constexpr std::size_t stripe_alignment = 64;
// Memory that the library allocates begins at a page, as direct I/O needs it.
constexpr std::align_val_t stream_alignment{4096};
constexpr std::size_t stream_bytes_max = PTRDIFF_MAX;

}  // namespace

Result<StreamShape> StreamShape::create(const Codec& codec, const StreamOptions& options) {
  if (codec.spec().data_shards == 0) return moved_from();
  if (options.depth == 0 || options.depth > depth_max) {
    return invalid("depth is ", options.depth, "; expected 1 to ", depth_max);
  }
  StreamShape shape(codec);
  // Bounds the products below. With packets, parity is at most w - 1 bytes longer than data.
  const std::size_t block_bytes_max =
      stream_bytes_max / options.depth / (shape.shards() + 1) - 2 * stripe_alignment;
  const std::size_t multiple = codec.shard_bytes_multiple();
  if (options.block_bytes == 0 || options.block_bytes > block_bytes_max) {
    return invalid("block_bytes is ", options.block_bytes, "; expected 1 to ", block_bytes_max);
  }
  if (options.block_bytes % multiple != 0) {
    return invalid("block_bytes is ", options.block_bytes, "; expected a multiple of ", multiple,
                   " as Jerasure does");
  }
  shape.block_bytes_ = options.block_bytes;
  shape.parity_block_bytes_ = codec.parity_bytes(options.block_bytes);
  const std::size_t packed =
      shape.data_shards() * shape.block_bytes_ + shape.parity_shards() * shape.parity_block_bytes_;
  shape.stripe_memory_bytes_ =
      (packed + stripe_alignment - 1) / stripe_alignment * stripe_alignment;
  return shape;
}

StripeLengths StreamShape::lengths(std::size_t data_bytes) const noexcept {
  return {.data_bytes = data_bytes, .shard_bytes = codec_->shard_bytes_for(data_bytes)};
}

StripeLengths StreamShape::lengths(std::uint64_t object_bytes,
                                   std::uint64_t stripe) const noexcept {
  if (stripe >= stripe_count(object_bytes)) return {};
  const std::uint64_t left = object_bytes - stripe * whole_data_bytes();
  return lengths(static_cast<std::size_t>(std::min<std::uint64_t>(left, whole_data_bytes())));
}

std::uint64_t StreamShape::stripe_count(std::uint64_t object_bytes) const noexcept {
  return object_bytes / whole_data_bytes() + (object_bytes % whole_data_bytes() == 0 ? 0 : 1);
}

std::size_t StreamShape::block_bytes(const StripeLengths& lengths,
                                     std::size_t shard) const noexcept {
  if (lengths.data_bytes == 0 || shard >= shards()) return 0;
  if (shard >= data_shards()) return codec_->parity_bytes(lengths.shard_bytes);
  const std::size_t begin = shard * lengths.shard_bytes;
  return begin >= lengths.data_bytes ? 0
                                     : std::min(lengths.shard_bytes, lengths.data_bytes - begin);
}

std::uint64_t StreamShape::block_offset(std::uint64_t stripe, std::size_t shard) const noexcept {
  return stripe * (shard < data_shards() ? block_bytes_ : parity_block_bytes_);
}

Shard StreamShape::parity_block(std::byte* stripe_memory, const StripeLengths& lengths,
                                std::size_t parity) const noexcept {
  return {stripe_memory + whole_data_bytes() + parity * parity_block_bytes_,
          codec_->parity_bytes(lengths.shard_bytes)};
}

Result<StreamMemory> StreamMemory::create(const StreamShape& shape, std::size_t stripes,
                                          Shard given) {
  StreamMemory memory;
  memory.stripe_bytes_ = shape.stripe_memory_bytes();
  const std::size_t bytes = stripes * memory.stripe_bytes_;
  if (given.data() != nullptr || !given.empty()) {
    if (given.data() == nullptr || given.size() < bytes) {
      return invalid("memory has ", given.size(), " bytes; expected at least ", bytes);
    }
    memory.start_ = given.data();
    return memory;
  }
  memory.own_.reset(static_cast<std::byte*>(::operator new(bytes, stream_alignment)));
  memory.start_ = memory.own_.get();
  return memory;
}

void StreamMemory::Free::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, stream_alignment);
}

}  // namespace engine

std::size_t stream_memory_bytes(const Codec& codec, const StreamOptions& options) noexcept {
  try {  // an error's text may need memory
    const auto shape = engine::StreamShape::create(codec, options);
    return shape ? options.depth * shape->stripe_memory_bytes() : 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace calpe
