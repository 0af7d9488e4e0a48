// SPDX-License-Identifier: Apache-2.0
#include "store/format/root_hash.hpp"

#include <algorithm>
#include <cstring>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <utility>

#include "base/hex_digits.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/geometry.hpp"

namespace calpe::store {

namespace {

constexpr std::uint8_t kind_leaf = 0;
constexpr std::uint8_t kind_group = 1;
constexpr std::uint8_t kind_shard = 2;
constexpr std::uint8_t kind_node = 3;
constexpr std::uint8_t kind_set = 4;
// Bytes up to the end of the name.
constexpr std::size_t common_bytes = 465;
static_assert(sizeof(Digest) == 32, "SHA-256 of libcrypto writes 32 bytes");

Error hash_failed() {
  return {ErrorCode::device_failed, "libcrypto cannot compute SHA-256"};
}

template <class T>
std::span<const std::byte> bytes_of(const Little<T>& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Starts a shard digest; the digests of all groups follow.
void begin_shard(Sha256& hash, const ShardHeader& header, ShardIndex index) {
  const Little generation(header.generation);
  const Little shard(index);
  hash.begin(kind_shard).add(header.uuid).add(bytes_of(generation)).add(bytes_of(shard));
}

}  // namespace

void Sha256::Freer::operator()(EVP_MD_CTX* context) const noexcept {
  EVP_MD_CTX_free(context);
}

Sha256& Sha256::begin(std::uint8_t kind) {
  if (!context_) {
    context_.reset(EVP_MD_CTX_new());
    is_good_ = context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  } else {
    // Reuses the algorithm: looking it up takes longer than hashing a small block.
    is_good_ = EVP_DigestInit_ex(context_.get(), nullptr, nullptr) == 1;
  }
  return add(bytes_of(Little(kind)));
}

Sha256& Sha256::add(std::span<const std::byte> bytes) {
  is_good_ = is_good_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
  return *this;
}

Result<Digest> Sha256::finish() {
  Digest digest = {};
  const bool is_done =
      is_good_ && EVP_DigestFinal_ex(context_.get(),
                                     reinterpret_cast<unsigned char*>(digest.data()), nullptr) == 1;
  is_good_ = false;
  if (!is_done) return hash_failed();
  return digest;
}

Result<Digest> leaf_digest(Sha256& hash, std::span<const std::byte> block) {
  return hash.begin(kind_leaf).add(block).finish();
}

Result<Digest> group_digest(Sha256& hash, std::span<const Digest> leaves) {
  return hash.begin(kind_group).add(std::as_bytes(leaves)).finish();
}

Result<Digest> shard_digest(Sha256& hash, const ShardHeader& header, ShardIndex index,
                            std::span<const Digest> groups) {
  begin_shard(hash, header, index);
  return hash.add(std::as_bytes(groups)).finish();
}

Result<Digest> node_digest(Sha256& hash, const Digest& left, const Digest& right) {
  return hash.begin(kind_node).add(left).add(right).finish();
}

Result<Digest> set_digest(Sha256& hash, const ShardHeader& header, const Digest& top) {
  ShardHeader common = header;
  common.shard_index = 0;
  common.shard_root = {};
  common.set_root = {};
  common.hmac = {};
  const HeaderBytes bytes = to_bytes(common);
  return hash.begin(kind_set).add(std::span(bytes).first(common_bytes)).add(top).finish();
}

Result<Digest> climb_path(Sha256& hash, const ShardHeader& header) {
  Digest node = header.shard_root;
  for (std::size_t level = 0; level < root_levels(header.spec); ++level) {
    const Digest& other = header.root_path[level];
    const bool is_right = (header.shard_index >> level & 1U) != 0;
    CALPE_TRY(node, is_right ? node_digest(hash, other, node) : node_digest(hash, node, other));
  }
  return node;
}

Status check_key_bytes(std::span<const std::byte> key) {
  if (key.size() >= key_bytes_min && key.size() <= key_bytes_max) return Done{};
  return invalid("the key has ", key.size(), " bytes; expected ", key_bytes_min, " .. ",
                 key_bytes_max);
}

Result<Digest> hmac_digest(std::span<const std::byte> key, const Digest& set_root) {
  Digest digest = {};
  const unsigned char* const done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(set_root.data()), set_root.size(),
           reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  if (done == nullptr) return hash_failed();
  return digest;
}

bool is_equal_digest(const Digest& a, const Digest& b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

ShardHasher::ShardHasher(const ShardHeader& header, ShardIndex index)
    : block_bytes_(header.block_bytes) {
  begin_shard(shard_, header, index);
}

Status ShardHasher::add(std::span<const std::byte> blocks) {
  for (; !blocks.empty(); blocks = blocks.subspan(block_bytes_)) {
    if (stripes_ == 0) group_.begin(kind_group);
    CALPE_TRY(const Digest leaf, leaf_digest(leaf_, blocks.first(block_bytes_)));
    group_.add(leaf);
    if (on_group_) leaves_.push_back(leaf);
    if (++stripes_ == group_stripes) CALPE_CHECK(end_group());
  }
  return Done{};
}

Status ShardHasher::end_group() {
  CALPE_TRY(const Digest group, group_.finish());
  shard_.add(group);
  if (on_group_) on_group_(std::exchange(leaves_, {}), group);
  stripes_ = 0;
  return Done{};
}

Result<Digest> ShardHasher::finish() {
  if (stripes_ != 0) CALPE_CHECK(end_group());
  return shard_.finish();
}

std::string to_text(const Digest& digest) {
  return hex_digits(digest);
}

}  // namespace calpe::store
