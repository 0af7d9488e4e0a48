// SPDX-License-Identifier: Apache-2.0
// The digests of docs/format.md, "Roots": a SHA-256 tree over blocks, groups, shards and the set,
// computed by libcrypto. Fails with out_of_memory or device_failed when libcrypto does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "store/format/shard_header.hpp"

// Declared here so that only the source file needs the libcrypto headers.
using EVP_MD_CTX = struct evp_md_ctx_st;

namespace calpe::store {

// Computes one digest after another. Errors are reported by the final call.
class Sha256 {
 public:
  Sha256& begin(std::uint8_t kind);  // first byte hashed; separates the kinds of digests
  Sha256& add(std::span<const std::byte> bytes);
  Result<Digest> finish();

 private:
  struct Freer {
    void operator()(EVP_MD_CTX* context) const noexcept;
  };
  std::unique_ptr<EVP_MD_CTX, Freer> context_;
  bool is_good_ = false;
};

Result<Digest> leaf_digest(Sha256& hash, std::span<const std::byte> block);
Result<Digest> group_digest(Sha256& hash, std::span<const Digest> leaves);
// Hashes the uuid and generation of `header`.
Result<Digest> shard_digest(Sha256& hash, const ShardHeader& header, ShardIndex index,
                            std::span<const Digest> groups);
Result<Digest> node_digest(Sha256& hash, const Digest& left, const Digest& right);
// Hashes the fields of `header` that all shards share.
Result<Digest> set_digest(Sha256& hash, const ShardHeader& header, const Digest& top);

// Computes the root of the tree from a shard's root and path. It equals `top` if both are valid.
Result<Digest> climb_path(Sha256& hash, const ShardHeader& header);

inline constexpr std::size_t key_bytes_min = 16;  // enough to resist guessing
inline constexpr std::size_t key_bytes_max = 4096;
// Fails with invalid_argument.
Status check_key_bytes(std::span<const std::byte> key);

// is_equal_digest() takes constant time.
Result<Digest> hmac_digest(std::span<const std::byte> key, const Digest& set_root);
bool is_equal_digest(const Digest& a, const Digest& b) noexcept;

// Computes the root of one shard from its blocks in order, in constant memory.
class ShardHasher {
 public:
  ShardHasher(const ShardHeader& header, ShardIndex index);
  // Receives the leaves and the digest of each group. Set it before the first block.
  using OnGroup = std::function<void(std::vector<Digest> leaves, const Digest& group)>;
  void on_group(OnGroup on_group) { on_group_ = std::move(on_group); }
  // Adds whole blocks, in order.
  Status add(std::span<const std::byte> blocks);
  Result<Digest> finish();

 private:
  Status end_group();

  std::size_t block_bytes_;
  std::uint64_t stripes_ = 0;  // in the current group
  OnGroup on_group_;
  std::vector<Digest> leaves_;  // of the current group, if the caller wants them
  Sha256 leaf_;
  Sha256 group_;
  Sha256 shard_;
};

std::string to_text(const Digest& digest);  // 64 hexadecimal digits

}  // namespace calpe::store
