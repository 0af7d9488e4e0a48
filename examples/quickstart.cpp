// SPDX-License-Identifier: Apache-2.0
// Encodes 4+2, loses two shards and rebuilds them. README.md shows this file.
#include <cstdio>
#include <vector>

#include <calpe/codec.hpp>

int main() {
  const auto codec = calpe::Codec::create({.data_shards = 4, .parity_shards = 2});
  if (!codec) return std::puts(codec.error().message.c_str()), 1;

  std::vector<std::vector<std::byte>> shards(6, std::vector<std::byte>(100'000));
  for (std::size_t i = 0; i < 4; ++i)
    shards[i].assign(100'000, std::byte(i + 1));
  const std::vector<calpe::ConstShard> data(shards.begin(), shards.begin() + 4);
  const std::vector<calpe::Shard> parity(shards.begin() + 4, shards.end());
  if (!codec->encode(data, parity)) return 1;

  const std::vector<calpe::ShardIndex> left = {0, 2, 4, 5}, lost = {1, 3};
  const auto plan = codec->plan_decode(left, lost);  // made once for a loss, used for every stripe
  const std::vector<calpe::ConstShard> survivors = {shards[0], shards[2], shards[4], shards[5]};
  std::vector<std::vector<std::byte>> back(2, std::vector<std::byte>(100'000));
  const std::vector<calpe::Shard> rebuilt(back.begin(), back.end());
  if (!plan || !codec->decode(*plan, survivors, rebuilt)) return 1;
  std::puts(back[0] == shards[1] && back[1] == shards[3] ? "rebuilt 2 of 2 shards" : "wrong bytes");
}
