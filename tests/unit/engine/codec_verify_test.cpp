// SPDX-License-Identifier: Apache-2.0
// Codec::verify at every length: an intact stripe passes, and a changed byte is found wherever it
// is. Random damage is in tests/property.
#include <gtest/gtest.h>
#include <vector>

#include <calpe/codec.hpp>

#include "support/random_choice.hpp"

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;

struct VerifiedStripe {
  std::vector<Bytes> data;
  std::vector<Bytes> parity;

  VerifiedStripe(const Codec& codec, std::size_t bytes)
      : data(codec.spec().data_shards, Bytes(bytes)),
        parity(codec.spec().parity_shards, Bytes(codec.parity_bytes(bytes))) {
    conformance::Random random(bytes);
    for (Bytes& shard : data)
      random.fill(shard);
    EXPECT_TRUE(codec.encode(std::vector<ConstShard>(data.begin(), data.end()),
                             std::vector<Shard>(parity.begin(), parity.end())));
  }
  std::vector<ShardIndex> wrong(const Codec& codec) const {
    const auto found = codec.verify(std::vector<ConstShard>(data.begin(), data.end()),
                                    std::vector<ConstShard>(parity.begin(), parity.end()));
    EXPECT_TRUE(found);
    return *found;
  }
};

class CodecVerify : public testing::TestWithParam<std::pair<unsigned, unsigned>> {
 protected:
  const Codec codec_ =
      *Codec::create({.data_shards = GetParam().first, .parity_shards = GetParam().second});
};

TEST_P(CodecVerify, finds_every_changed_byte) {
  for (const std::size_t bytes : {1UL, 63UL, 64UL, 129UL, 300UL}) {
    VerifiedStripe stripe(codec_, bytes);
    ASSERT_EQ(stripe.wrong(codec_), std::vector<ShardIndex>()) << bytes;
    for (std::size_t at = 0; at < bytes; ++at) {
      for (std::size_t i = 0; i < stripe.parity.size(); ++i) {
        stripe.parity[i][at] ^= std::byte{0x10};
        const auto shard = static_cast<ShardIndex>(stripe.data.size() + i);
        ASSERT_EQ(stripe.wrong(codec_), std::vector<ShardIndex>{shard}) << bytes << " at " << at;
        stripe.parity[i][at] ^= std::byte{0x10};
      }
      stripe.data.back()[at] ^= std::byte{0x01};
      ASSERT_FALSE(stripe.wrong(codec_).empty()) << bytes << " at " << at;
      stripe.data.back()[at] ^= std::byte{0x01};
    }
  }
}

// Long shards are compared in blocks.
TEST_P(CodecVerify, finds_a_byte_in_any_block) {
  const std::size_t bytes = 200'001;
  VerifiedStripe stripe(codec_, bytes);
  ASSERT_EQ(stripe.wrong(codec_), std::vector<ShardIndex>());
  for (const std::size_t at : {0UL, 65'535UL, 65'536UL, 131'072UL, 199'999UL, 200'000UL}) {
    stripe.parity.back()[at] ^= std::byte{0x80};
    const auto last = static_cast<ShardIndex>(stripe.data.size() + stripe.parity.size() - 1);
    ASSERT_EQ(stripe.wrong(codec_), std::vector<ShardIndex>{last}) << at;
    stripe.parity.back()[at] ^= std::byte{0x80};
  }
}

INSTANTIATE_TEST_SUITE_P(codes, CodecVerify,
                         testing::Values(std::pair{1U, 1U}, std::pair{4U, 2U}, std::pair{8U, 3U},
                                         std::pair{10U, 4U}, std::pair{6U, 5U}, std::pair{40U, 3U},
                                         std::pair{3U, 14U}));

}  // namespace
}  // namespace calpe
