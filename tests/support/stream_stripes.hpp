// SPDX-License-Identifier: Apache-2.0
// Stripes of streams in memory, made by split() and encode_object() alone, and callbacks for them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <vector>

#include <calpe/streams.hpp>

#include "support/random_choice.hpp"

namespace calpe::tests {

using Bytes = std::vector<std::byte>;

// A stripe with copies of its blocks.
struct StoredStripe {
  std::uint64_t number = 0;
  std::size_t data_bytes = 0;
  std::size_t shard_bytes = 0;
  std::vector<Bytes> blocks = {};
  std::vector<bool> is_lost = {};
  bool operator==(const StoredStripe&) const = default;

  // For StreamDecoder: lost blocks have no address, empty ones may have any.
  std::vector<ConstShard> views() const {
    std::vector<ConstShard> all;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      all.push_back(is_lost[i] ? ConstShard() : ConstShard(blocks[i]));
    return all;
  }
};

inline Bytes random_object(std::size_t bytes) {
  Bytes object(bytes);
  conformance::Random(bytes + 77).fill(object);
  return object;
}

inline std::vector<StoredStripe> reference_stripes(const Codec& codec, std::size_t block_bytes,
                                                   ConstShard object) {
  const std::size_t k = codec.spec().data_shards;
  const std::size_t m = codec.spec().parity_shards;
  std::vector<StoredStripe> stripes;
  while (!object.empty()) {
    const ConstShard part = object.first(std::min(object.size(), k * block_bytes));
    object = object.subspan(part.size());
    const std::size_t shard_bytes =
        object.empty() ? codec.shard_bytes_for(part.size()) : block_bytes;
    std::vector<ConstShard> data(k);
    EXPECT_TRUE(codec.split(part, shard_bytes, data));
    StoredStripe stripe{.number = stripes.size(),
                        .data_bytes = part.size(),
                        .shard_bytes = shard_bytes,
                        .is_lost = std::vector<bool>(k + m)};
    for (const ConstShard& block : data)
      stripe.blocks.emplace_back(block.begin(), block.end());
    stripe.blocks.resize(k + m, Bytes(codec.parity_bytes(shard_bytes)));
    const std::vector<Shard> parity(stripe.blocks.begin() + static_cast<std::ptrdiff_t>(k),
                                    stripe.blocks.end());
    EXPECT_TRUE(codec.encode_object(part, shard_bytes, parity));
    stripes.push_back(std::move(stripe));
  }
  return stripes;
}

// Loses the blocks of a set of shards, and fills them with wrong bytes.
inline void lose_blocks(StoredStripe& stripe, std::uint64_t set) {
  for (std::size_t i = 0; i < stripe.blocks.size(); ++i) {
    if ((set >> i & 1U) == 0) continue;
    stripe.is_lost[i] = true;
    std::ranges::fill(stripe.blocks[i], std::byte{0xEE});
  }
}

// Whether the lost data blocks of a stripe can be rebuilt. Empty blocks cannot be lost.
inline bool has_plan(const Codec& codec, const StoredStripe& whole, const StoredStripe& stripe) {
  std::vector<ShardIndex> available;
  std::vector<ShardIndex> wanted;
  for (std::size_t i = 0; i < stripe.blocks.size(); ++i) {
    const auto index = static_cast<ShardIndex>(i);
    if (!stripe.is_lost[i] || whole.blocks[i].empty()) {
      available.push_back(index);
    } else if (i < codec.spec().data_shards) {
      wanted.push_back(index);
    }
  }
  return wanted.empty() || codec.plan_decode(available, wanted).has_value();
}

// Reads at most `most` bytes at a time. Fails the test if it is called after the end.
inline ReadBytes reading_from(ConstShard object, std::size_t most) {
  return [object, most, has_ended = std::make_shared<bool>(false),
          at = std::make_shared<std::size_t>(0)](Shard to) -> Result<std::size_t> {
    EXPECT_FALSE(*has_ended);
    EXPECT_FALSE(to.empty());
    const std::size_t count = std::min({most, to.size(), object.size() - *at});
    std::ranges::copy(object.subspan(*at, count), to.begin());
    *at += count;
    *has_ended = count == 0;
    return count;
  };
}

inline WriteStripe storing_to(std::vector<StoredStripe>& stripes) {
  return [&stripes](const StreamStripe& stripe) -> Status {
    StoredStripe stored{.number = stripe.number,
                        .data_bytes = stripe.data_bytes,
                        .shard_bytes = stripe.shard_bytes,
                        .is_lost = std::vector<bool>(stripe.blocks.size())};
    for (const ConstShard& block : stripe.blocks)
      stored.blocks.emplace_back(block.begin(), block.end());
    stripes.push_back(std::move(stored));
    return Done{};
  };
}

inline ReadBlock reading_blocks(const std::vector<StoredStripe>& stripes) {
  return [&stripes](const StreamBlock& block, Shard to) -> Result<bool> {
    const StoredStripe& stripe = stripes.at(block.stripe);
    EXPECT_EQ(stripe.blocks.at(block.shard).size(), to.size());
    EXPECT_FALSE(to.empty());
    if (stripe.is_lost[block.shard]) return false;
    std::ranges::copy(stripe.blocks[block.shard], to.begin());
    return true;
  };
}

inline WriteBytes appending_to(Bytes& bytes) {
  return [&bytes](ConstShard some) -> Status {
    EXPECT_FALSE(some.empty());
    bytes.insert(bytes.end(), some.begin(), some.end());
    return Done{};
  };
}

// Decodes with StreamDecoder.
inline Status push_stripes(const Codec& codec, std::size_t block_bytes, std::uint64_t object_bytes,
                           const std::vector<StoredStripe>& stripes, Bytes& to) {
  auto decoder =
      StreamDecoder::create(codec, {.block_bytes = block_bytes}, object_bytes, appending_to(to));
  if (!decoder) return decoder.error();
  for (const StoredStripe& stripe : stripes) {
    for (std::size_t i = 0; i < stripe.blocks.size(); ++i)
      EXPECT_EQ(decoder->block_bytes(static_cast<ShardIndex>(i)), stripe.blocks[i].size());
    if (Status done = decoder->write(stripe.views()); !done) return done;
  }
  return decoder->finish();
}

}  // namespace calpe::tests
