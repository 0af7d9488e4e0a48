// SPDX-License-Identifier: Apache-2.0
// locate never reports "nothing is wrong" without redundancy: with all m parities used up, any k
// shards are a valid stripe.
#include <gtest/gtest.h>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;
using Indices = std::vector<ShardIndex>;

unsigned try_every_loss(const CodeSpec& spec) {
  const Codec codec = *Codec::create(spec);
  const std::size_t k = spec.data_shards;
  const std::size_t shards = k + spec.parity_shards;
  std::vector<Bytes> stripe(shards, Bytes(codec.parity_bytes(40)));
  for (std::size_t i = 0; i < k; ++i) {
    stripe[i].assign(40, static_cast<std::byte>(7 * i + 1));
  }
  const auto split = stripe.begin() + static_cast<std::ptrdiff_t>(k);
  EXPECT_TRUE(codec.encode(std::vector<ConstShard>(stripe.begin(), split),
                           std::vector<Shard>(split, stripe.end())));
  unsigned tried = 0;
  for (std::size_t bits = 0; bits < std::size_t{1} << shards; ++bits) {
    Indices missing;
    std::vector<ConstShard> all(stripe.begin(), stripe.end());
    for (std::size_t i = 0; i < shards; ++i) {
      if ((bits >> i & 1) == 0) continue;
      missing.push_back(static_cast<ShardIndex>(i));
      all[i] = {};
    }
    const auto sound = codec.locate(all, missing);
    if (missing.size() >= spec.parity_shards) {
      EXPECT_FALSE(sound) << testing::PrintToString(missing);
      if (!sound) {
        EXPECT_EQ(sound.error().code, ErrorCode::unrecoverable) << sound.error().message;
      }
    } else if (missing.size() <= codec.proof().losses) {
      EXPECT_TRUE(sound && sound->empty()) << testing::PrintToString(missing);
    }
    ++tried;
  }
  return tried;
}

TEST(LocateRedundancy, FailsWhenNoCheckIsLeft) {
  unsigned tried = 0;
  tried += try_every_loss({.data_shards = 4, .parity_shards = 3});
  tried += try_every_loss({.data_shards = 1, .parity_shards = 1});
  tried += try_every_loss({.family = CodeFamily::cauchy,
                           .layout = Layout::packets,
                           .data_shards = 5,
                           .parity_shards = 2});
  tried += try_every_loss(
      {.family = CodeFamily::lrc, .data_shards = 4, .parity_shards = 4, .local_groups = 2});
  std::cout << tried << " losses\n";
}

}  // namespace
}  // namespace calpe
