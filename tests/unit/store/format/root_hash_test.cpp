// SPDX-License-Identifier: Apache-2.0
// Compares digests with those of Python's hashlib and hmac for docs/format.md, "Roots".
#include "store/format/root_hash.hpp"

#include <gtest/gtest.h>
#include <string_view>

#include "store/read/set_roots.hpp"
#include "support/sample_header.hpp"
#include "support/without_sha256.hpp"

namespace calpe::store {
namespace {

std::vector<std::byte> block(unsigned number) {
  std::vector<std::byte> bytes(64);
  for (unsigned i = 0; i < 64; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + number);
  }
  return bytes;
}

ShardHeader sample() {
  ShardHeader header = sample_header();
  header.root_kind = RootKind::hmac;
  return header;
}

constexpr const char* set_root = "9698bf4c4f3fead8132698d3397a8f82d413c4aebb7d06a8e276ecd1a6f1a284";

std::vector<Digest> numbered(std::size_t count) {
  std::vector<Digest> digests(count);
  for (std::size_t i = 0; i < count; ++i) {
    digests[i].fill(static_cast<std::byte>(i));
  }
  return digests;
}

TEST(RootHash, GoldenDigests) {
  Sha256 hash;
  std::vector<Digest> leaves;
  for (unsigned i = 0; i < 3; ++i) {
    leaves.push_back(*leaf_digest(hash, block(i)));
  }
  EXPECT_EQ(to_text(leaves[0]), "de6ff9156c948e122000dbad42a0de17be3cb80dc797705825f0deeae567b74e");
  const Digest group = *group_digest(hash, leaves);
  EXPECT_EQ(to_text(group), "48f4e3165e0d30ed2e94a6bc7e6b5ef19086eff3af8838256692312221d69cc0");
  const std::vector<Digest> groups = {group, leaves[0]};
  EXPECT_EQ(to_text(*shard_digest(hash, sample(), 11, groups)),
            "4f440e32cf2b2773714faf50bfb7dd18ab98f205f6bf4e7f0ecde399d47f27da");
}

TEST(RootHash, AShardOfTwoGroupsInPieces) {
  ShardHeader header = sample();
  header.block_bytes = 64;
  for (const unsigned piece : {1U, 7U, 512U, 515U}) {
    ShardHasher hasher(header, 2);
    for (unsigned first = 0; first < 515; first += piece) {
      std::vector<std::byte> blocks;
      for (unsigned i = first; i < std::min(first + piece, 515U); ++i) {
        const auto one = block(i & 255U);
        blocks.insert(blocks.end(), one.begin(), one.end());
      }
      ASSERT_TRUE(hasher.add(blocks).has_value());
    }
    EXPECT_EQ(to_text(*hasher.finish()),
              "afe801ff2f4a0179e4ba093529cb15d7aff296e1e16a98e9a50d270343e9320b");
  }
}

TEST(RootHash, GoldenSetRootAndHmac) {
  const auto roots = make_set_roots(sample(), numbered(14));
  ASSERT_TRUE(roots.has_value());
  EXPECT_EQ(to_text(roots->set), set_root);
  EXPECT_EQ(roots->hmac, Digest{});
  SetRoots with_hmac = *roots;
  const std::string_view key = "0123456789abcdef\n";
  ASSERT_TRUE(add_hmac(with_hmac, sample(), std::as_bytes(std::span(key))).has_value());
  EXPECT_EQ(to_text(with_hmac.hmac),
            "41176bd4d2c0ea8e5ad663e8d1c5ac5c805d1dc5224b5f2d87d12bbce3e51ce3");
  EXPECT_EQ(add_hmac(with_hmac, sample(), {}).error().code, ErrorCode::invalid_argument);
}

TEST(RootHash, EveryPathLeadsToTheTop) {
  Sha256 hash;
  for (const unsigned shards : {2U, 3U, 4U, 5U, 8U, 14U, 129U, 256U}) {
    ShardHeader header = sample();
    header.spec.data_shards = static_cast<std::uint16_t>(shards - 1);
    header.spec.parity_shards = 1;
    const SetRoots roots = *make_set_roots(header, numbered(shards));
    for (unsigned i = 0; i < shards; ++i) {
      const ShardHeader own = header_with_roots(header, roots, static_cast<ShardIndex>(i));
      EXPECT_EQ(own.shard_index, i);
      EXPECT_EQ(*set_digest(hash, own, *climb_path(hash, own)), own.set_root) << shards << " " << i;
      for (std::size_t level = root_levels(header.spec); level < 8; ++level) {
        EXPECT_EQ(own.root_path[level], Digest{});
      }
      ShardHeader moved = own;
      moved.shard_index = static_cast<ShardIndex>(i == 0 ? 1 : i - 1);
      EXPECT_NE(*climb_path(hash, moved), *climb_path(hash, own));
    }
  }
}

// All header fields that are the same in every shard.
TEST(RootHash, CoversTheCommonHeaderFields) {
  Sha256 hash;
  const Digest top = {};
  const Digest before = *set_digest(hash, sample(), top);
  const std::vector<void (*)(ShardHeader&)> changes = {
      [](ShardHeader& h) { h.uuid[0] ^= std::byte{1}; },
      [](ShardHeader& h) { ++h.generation; },
      [](ShardHeader& h) { h.kind = SetKind::originals; },
      [](ShardHeader& h) { h.root_kind = RootKind::sha256; },
      [](ShardHeader& h) { h.block_bytes += 64; },
      [](ShardHeader& h) { ++h.stripe_count; },
      [](ShardHeader& h) { --h.content_bytes; },
      [](ShardHeader& h) { --h.manifest_offset; },
      [](ShardHeader& h) { ++h.manifest_bytes; },
      [](ShardHeader& h) { h.spec.family = CodeFamily::cauchy; },
      [](ShardHeader& h) { ++h.spec.parity_shards; },
      [](ShardHeader& h) { ++h.spec.matrix_hash; },
      [](ShardHeader& h) { h.name = "photo"; },
      [](ShardHeader& h) { h.name.assign(255, 'x'); },
      [](ShardHeader& h) {
        h.name.assign(255, 'x');
        h.name.back() = 'y';
      }};
  std::vector<Digest> seen = {before};
  for (const auto& change : changes) {
    ShardHeader header = sample();
    change(header);
    const Digest after = *set_digest(hash, header, top);
    EXPECT_EQ(std::find(seen.begin(), seen.end(), after), seen.end()) << seen.size();
    seen.push_back(after);
  }
  ShardHeader other_shard = sample();
  other_shard.shard_index = 2;
  other_shard.shard_root[3] = other_shard.set_root[3] = other_shard.hmac[3] = std::byte{1};
  other_shard.root_path[2][3] = std::byte{1};
  EXPECT_EQ(*set_digest(hash, other_shard, top), before);
}

// A failed hash must never yield a digest.
TEST(RootHash, WithoutSha256EveryDigestIsAnError) {
  const ShardHeader header = sample();
  ShardHasher begun_before(header, 0);
  const auto is_refused = [](const auto& result) {
    return !result.has_value() && result.error().code == ErrorCode::device_failed &&
           result.error().message == "libcrypto cannot compute SHA-256";
  };
  {
    const tests::WithoutSha256 without;
    Sha256 hash;
    EXPECT_TRUE(is_refused(leaf_digest(hash, block(0))));
    EXPECT_TRUE(is_refused(leaf_digest(hash, block(0)))) << "again";
    EXPECT_TRUE(is_refused(climb_path(hash, header)));
    EXPECT_TRUE(is_refused(set_digest(hash, header, Digest{})));
    EXPECT_TRUE(is_refused(hmac_digest(block(1), Digest{})));
    EXPECT_TRUE(is_refused(make_set_roots(header, numbered(14))));
    ShardHasher hasher(header, 0);
    EXPECT_TRUE(is_refused(hasher.add(std::vector<std::byte>(header.block_bytes))));
    EXPECT_TRUE(is_refused(hasher.finish()));
    EXPECT_TRUE(is_refused(begun_before.add(std::vector<std::byte>(header.block_bytes))));
  }
  Sha256 hash;
  EXPECT_TRUE(leaf_digest(hash, block(0)).has_value());
  EXPECT_TRUE(is_refused(hash.finish())) << "a digest can be taken once";
}

TEST(RootHash, ChecksTheKeyLength) {
  for (const std::size_t bytes : {0U, 15U, 4097U}) {
    EXPECT_FALSE(check_key_bytes(std::vector<std::byte>(bytes)).has_value()) << bytes;
  }
  for (const std::size_t bytes : {16U, 4096U}) {
    EXPECT_TRUE(check_key_bytes(std::vector<std::byte>(bytes)).has_value()) << bytes;
  }
}

}  // namespace
}  // namespace calpe::store
