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

  const auto whole = shards;
  const std::vector<calpe::ShardIndex> lost = {1, 3};
  for (const auto i : lost)
    shards[i].assign(100'000, std::byte{0});
  const std::vector<calpe::Shard> all(shards.begin(), shards.end());
  if (!codec->rebuild(all, lost)) return 1;  // writes the lost shards in place
  std::puts(shards == whole ? "rebuilt 2 of 2 shards" : "wrong bytes");
}
