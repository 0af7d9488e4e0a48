// SPDX-License-Identifier: Apache-2.0
// Consecutive stripes in memory, stored shard by shard as in the files: read, encoded, checksummed,
// and hashed if roots are wanted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "store/format/block_checksum.hpp"
#include "store/format/root_hash.hpp"
#include "store/tree/content.hpp"

namespace calpe::store {

struct BatchShape {
  std::size_t data_shards = 0;
  std::size_t parity_shards = 0;
  std::size_t block_bytes = 0;
  std::size_t stripes = 0;  // maximum
  bool with_leaves = false;

  std::size_t stripe_data_bytes() const noexcept { return data_shards * block_bytes; }
  std::size_t shard_count() const noexcept { return data_shards + parity_shards; }
};

class StripeBatch {
 public:
  explicit StripeBatch(const BatchShape& shape);  // throws std::bad_alloc

  // Reads as much content as fits, padded with zeros after the end. Fails as the content does.
  Status fill(ContentSource& content);
  // Computes parity, checksums and leaves. `first` identifies block 0 of the first stripe.
  Status code(const Codec& codec, const BlockName& first);

  // Less than the capacity only at the end.
  std::size_t content_bytes() const noexcept { return content_bytes_; }
  std::size_t stripe_count() const noexcept { return stripe_count_; }
  // Blocks of all stripes in the batch.
  std::span<const std::byte> blocks(std::size_t shard) const noexcept;
  std::span<const std::uint64_t> checksums(std::size_t shard) const noexcept;
  std::span<const Digest> leaves(std::size_t shard) const noexcept;  // empty unless asked for

 private:
  struct Freer {
    void operator()(std::byte* bytes) const noexcept;
  };
  using Memory = std::unique_ptr<std::byte[], Freer>;
  static Memory allocate(std::size_t bytes);

  std::span<std::byte> block(std::size_t shard, std::size_t stripe) const noexcept;
  Result<std::size_t> fill_blocks(ContentSource& content);
  Result<std::size_t> fill_small_blocks(ContentSource& content);

  BatchShape shape_;
  Memory memory_;
  Memory staging_;  // for small blocks only: content in input order
  std::vector<std::uint64_t> checksums_;
  std::vector<Digest> leaves_;
  Sha256 hash_;
  std::vector<ConstShard> data_;
  std::vector<Shard> parity_;
  std::size_t content_bytes_ = 0;
  std::size_t stripe_count_ = 0;
};

}  // namespace calpe::store
