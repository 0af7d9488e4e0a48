// SPDX-License-Identifier: Apache-2.0
#include "store/write/stripe_batch.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/divide_up.hpp"
#include "base/try.hpp"

namespace calpe::store {

namespace {

constexpr std::align_val_t page_alignment{4096};
// From this size on, one read per block costs less than an extra copy.
constexpr std::size_t own_read_bytes = 16384;

}  // namespace

void StripeBatch::Freer::operator()(std::byte* bytes) const noexcept {
  ::operator delete[](bytes, page_alignment);
}

StripeBatch::Memory StripeBatch::allocate(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(::operator new[](bytes, page_alignment)));
}

StripeBatch::StripeBatch(const BatchShape& shape)
    : shape_(shape),
      memory_(allocate(shape.shard_count() * shape.stripes * shape.block_bytes)),
      checksums_(shape.shard_count() * shape.stripes),
      leaves_(shape.with_leaves ? shape.shard_count() * shape.stripes : 0),
      data_(shape.data_shards),
      parity_(shape.parity_shards) {
  if (shape.block_bytes < own_read_bytes) {
    staging_ = allocate(shape.stripes * shape.stripe_data_bytes());
  }
}

std::span<std::byte> StripeBatch::block(std::size_t shard, std::size_t stripe) const noexcept {
  return {memory_.get() + (shard * shape_.stripes + stripe) * shape_.block_bytes,
          shape_.block_bytes};
}

std::span<const std::byte> StripeBatch::blocks(std::size_t shard) const noexcept {
  return {block(shard, 0).data(), stripe_count_ * shape_.block_bytes};
}

std::span<const std::uint64_t> StripeBatch::checksums(std::size_t shard) const noexcept {
  return std::span(checksums_).subspan(shard * shape_.stripes, stripe_count_);
}

std::span<const Digest> StripeBatch::leaves(std::size_t shard) const noexcept {
  if (!shape_.with_leaves) return {};
  return std::span(leaves_).subspan(shard * shape_.stripes, stripe_count_);
}

Status StripeBatch::fill(ContentSource& content) {
  stripe_count_ = 0;
  CALPE_TRY(content_bytes_, staging_ ? fill_small_blocks(content) : fill_blocks(content));
  const std::size_t stripe_bytes = shape_.stripe_data_bytes();
  CALPE_ASSERT(stripe_bytes != 0);
  stripe_count_ = divide_up(content_bytes_, stripe_bytes);
  return Done{};
}

Result<std::size_t> StripeBatch::fill_blocks(ContentSource& content) {
  std::size_t bytes = 0;
  for (std::size_t stripe = 0; stripe < shape_.stripes; ++stripe) {
    const std::size_t before = bytes;
    for (std::size_t shard = 0; shard < shape_.data_shards; ++shard) {
      const std::span<std::byte> target = block(shard, stripe);
      std::size_t got = 0;
      // Do not read again after the end.
      if (bytes == (stripe * shape_.data_shards + shard) * shape_.block_bytes) {
        CALPE_TRY(got, content.read(target));
        bytes += got;
      }
      if (bytes == before) return bytes;  // ends with the previous stripe
      std::memset(target.data() + got, 0, target.size() - got);
    }
    if (bytes - before < shape_.stripe_data_bytes()) break;
  }
  return bytes;
}

Result<std::size_t> StripeBatch::fill_small_blocks(ContentSource& content) {
  const std::size_t stripe_bytes = shape_.stripe_data_bytes();
  const std::span<std::byte> all(staging_.get(), shape_.stripes * stripe_bytes);
  CALPE_TRY(const std::size_t bytes, content.read(all));
  const std::size_t stripes = divide_up(bytes, stripe_bytes);
  std::memset(all.data() + bytes, 0, stripes * stripe_bytes - bytes);
  const std::byte* source = all.data();
  for (std::size_t stripe = 0; stripe < stripes; ++stripe) {
    for (std::size_t shard = 0; shard < shape_.data_shards; ++shard) {
      std::memcpy(block(shard, stripe).data(), source, shape_.block_bytes);
      source += shape_.block_bytes;
    }
  }
  return bytes;
}

Status StripeBatch::code(const Codec& codec, const BlockName& first) {
  for (std::size_t stripe = 0; stripe < stripe_count_; ++stripe) {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      data_[i] = block(i, stripe);
    }
    for (std::size_t i = 0; i < parity_.size(); ++i) {
      parity_[i] = block(data_.size() + i, stripe);
    }
    // One stripe at a time, so that its blocks are still in the cache for the checksums.
    CALPE_CHECK(codec.encode(data_, parity_, {.stores = Stores::cached}));
    BlockName name = first;
    name.stripe += stripe;
    for (std::size_t shard = 0; shard < shape_.shard_count(); ++shard) {
      name.shard = shard;
      const std::size_t at = shard * shape_.stripes + stripe;
      checksums_[at] = block_checksum(name, block(shard, stripe));
      if (!shape_.with_leaves) continue;
      CALPE_TRY(leaves_[at], leaf_digest(hash_, block(shard, stripe)));
    }
  }
  return Done{};
}

}  // namespace calpe::store
