// SPDX-License-Identifier: Apache-2.0
// Encode ten shards, lose four, get them back.
#include <cstdio>
#include <vector>

#include <calpe/codec.hpp>

int main() {
  auto codec = calpe::Codec::create({.data_shards = 10, .parity_shards = 4});
  if (!codec) return std::fprintf(stderr, "%s\n", codec.error().message.c_str()), 1;

  std::vector<std::vector<std::byte>> shards(14, std::vector<std::byte>(100'000));
  for (std::size_t i = 0; i < 10; ++i)
    shards[i].assign(100'000, std::byte(i + 1));
  std::vector<calpe::ConstShard> data(shards.begin(), shards.begin() + 10);
  std::vector<calpe::Shard> parity(shards.begin() + 10, shards.end());
  if (auto done = codec->encode(data, parity); !done) return 1;

  // Shards 0, 3, 7 and 12 are gone; 0, 3 and 7 are wanted back. The plan says which shards to read.
  const std::vector<calpe::ShardIndex> available = {1, 2, 4, 5, 6, 8, 9, 10, 11, 13};
  const std::vector<calpe::ShardIndex> wanted = {0, 3, 7};
  auto plan = codec->plan_decode(available, wanted);
  if (!plan) return std::fprintf(stderr, "%s\n", plan.error().message.c_str()), 1;

  std::vector<calpe::ConstShard> survivors;
  for (calpe::ShardIndex i : plan->reads())
    survivors.push_back(shards[i]);
  std::vector<std::vector<std::byte>> rebuilt(3, std::vector<std::byte>(100'000));
  std::vector<calpe::Shard> outputs(rebuilt.begin(), rebuilt.end());
  if (auto done = codec->decode(*plan, survivors, outputs); !done) return 1;

  const bool same = rebuilt[0] == shards[0] && rebuilt[1] == shards[3] && rebuilt[2] == shards[7];
  std::printf("%s\n", same ? "rebuilt 3 of 3 shards" : "wrong bytes");
  return same ? 0 : 1;
}
