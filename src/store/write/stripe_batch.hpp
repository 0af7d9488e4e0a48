// SPDX-License-Identifier: Apache-2.0
// Some consecutive stripes in memory, the blocks of a shard one after the other as its file has
// them: read, coded, checksummed, and hashed for those who want roots.
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
  std::size_t stripes = 0;  // at most
  bool with_leaves = false;

  std::size_t stripe_data_bytes() const noexcept { return data_shards * block_bytes; }
  std::size_t shard_count() const noexcept { return data_shards + parity_shards; }
};

class StripeBatch {
 public:
  explicit StripeBatch(const BatchShape& shape);  // throws std::bad_alloc

  // Takes the next bytes of the content, as many as fit, and zeros behind its end. Fails as the
  // content does.
  Status fill(ContentSource& content);
  // Parity, checksums and leaves of what is in; `first` names block 0 of the first stripe.
  Status code(const Codec& codec, const BlockName& first);

  // Fewer than fit only at the end.
  std::size_t content_bytes() const noexcept { return content_bytes_; }
  std::size_t stripe_count() const noexcept { return stripe_count_; }
  // Of all stripes that are in.
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
  Memory staging_;  // small blocks only: content as it comes
  std::vector<std::uint64_t> checksums_;
  std::vector<Digest> leaves_;
  Sha256 hash_;
  std::vector<ConstShard> data_;
  std::vector<Shard> parity_;
  std::size_t content_bytes_ = 0;
  std::size_t stripe_count_ = 0;
};

}  // namespace calpe::store
