// SPDX-License-Identifier: Apache-2.0
// An object as stored in a pool: cut into chunks, with every stripe encoded separately.
#pragma once
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "ceph/object.hpp"

namespace calpe::tests {

inline std::vector<std::byte> random_content(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> content(bytes);
  std::ranges::generate(content, [&] { return std::byte(random()); });
  return content;
}

inline ceph::CephShards ceph_shards(const Codec& codec, std::size_t chunk_bytes,
                                    std::vector<std::byte> content) {
  const std::size_t data = codec.spec().data_shards;
  const std::size_t count = data + codec.spec().parity_shards;
  const std::size_t width = data * chunk_bytes;
  const std::size_t stripes = (content.size() + width - 1) / width;
  content.resize(stripes * width);
  ceph::CephShards shards(count);
  for (auto& shard : shards)
    shard.emplace(stripes * chunk_bytes);
  for (std::size_t stripe = 0; stripe < stripes; ++stripe) {
    std::vector<ConstShard> inputs;
    std::vector<Shard> outputs;
    for (std::size_t s = 0; s < count; ++s) {
      const Shard chunk = std::span(*shards[s]).subspan(stripe * chunk_bytes, chunk_bytes);
      if (s >= data) {
        outputs.push_back(chunk);
        continue;
      }
      const auto from = std::span(content).subspan(stripe * width + s * chunk_bytes, chunk_bytes);
      std::ranges::copy(from, chunk.begin());
      inputs.emplace_back(chunk);
    }
    EXPECT_TRUE(codec.encode(inputs, outputs));
  }
  return shards;
}

}  // namespace calpe::tests
