// SPDX-License-Identifier: Apache-2.0
// The digests of docs/format.md, "Roots": a tree of SHA-256 over blocks, groups, shards and the
// set, by libcrypto. Fails with out_of_memory or device_failed where libcrypto does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "store/format/shard_header.hpp"

// Of libcrypto, whose headers only the source needs.
using EVP_MD_CTX = struct evp_md_ctx_st;

namespace calpe::store {

// One digest after the other. What fails on the way is told at the end.
class Sha256 {
 public:
  Sha256& begin(std::uint8_t kind);  // the first byte: no digest of one kind is one of another
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
// Of header: uuid and generation.
Result<Digest> shard_digest(Sha256& hash, const ShardHeader& header, ShardIndex index,
                            std::span<const Digest> groups);
Result<Digest> node_digest(Sha256& hash, const Digest& left, const Digest& right);
// Of header: what all shards have in common.
Result<Digest> set_digest(Sha256& hash, const ShardHeader& header, const Digest& top);

// Where a shard's root and its path lead to: `top` of the tree, if they are what they claim.
Result<Digest> climb_path(Sha256& hash, const ShardHeader& header);

inline constexpr std::size_t key_bytes_min = 16;  // what cannot be guessed
inline constexpr std::size_t key_bytes_max = 4096;
// Fails with invalid_argument.
Status check_key_bytes(std::span<const std::byte> key);

// Digests are compared in a time that tells nothing.
Result<Digest> hmac_digest(std::span<const std::byte> key, const Digest& set_root);
bool is_equal_digest(const Digest& a, const Digest& b) noexcept;

// The root of one shard from its blocks in order, without memory for what lies between.
class ShardHasher {
 public:
  ShardHasher(const ShardHeader& header, ShardIndex index);
  // Called with the leaves of each group and its digest, for those who keep them. Set before the
  // first block.
  using OnGroup = std::function<void(std::vector<Digest> leaves, const Digest& group)>;
  void on_group(OnGroup on_group) { on_group_ = std::move(on_group); }
  // Whole blocks, one after the other.
  Status add(std::span<const std::byte> blocks);
  Result<Digest> finish();

 private:
  Status end_group();

  std::size_t block_bytes_;
  std::uint64_t stripes_ = 0;  // of the group
  OnGroup on_group_;
  std::vector<Digest> leaves_;  // of the group, if the caller keeps them
  Sha256 leaf_;
  Sha256 group_;
  Sha256 shard_;
};

std::string to_text(const Digest& digest);  // 64 hexadecimal digits

}  // namespace calpe::store
