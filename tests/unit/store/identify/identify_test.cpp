// SPDX-License-Identifier: Apache-2.0
#include "store/identify/identify.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace calpe::store {
namespace {

using Shards = std::vector<std::vector<std::byte>>;

Shards random_data(std::size_t count, std::size_t bytes) {
  std::mt19937 random(static_cast<unsigned>(count * 7919 + bytes));
  Shards shards(count, std::vector<std::byte>(bytes));
  for (auto& shard : shards)
    std::ranges::generate(shard, [&] { return std::byte(random()); });
  return shards;
}

Shards encoded(const CodeSpec& spec, std::size_t bytes) {
  const Codec codec = *Codec::create(spec);
  Shards shards = random_data(std::size_t{spec.data_shards} + spec.parity_shards, bytes);
  const std::vector<ConstShard> data(shards.begin(), shards.begin() + spec.data_shards);
  const std::vector<Shard> parity(shards.begin() + spec.data_shards, shards.end());
  EXPECT_TRUE(codec.encode(data, parity));
  return shards;
}

Result<Identification> identified(const Shards& shards, const IdentifyOptions& options = {}) {
  return identify(std::vector<ConstShard>(shards.begin(), shards.end()), options);
}

TEST(Identify, names_every_profile_and_layout_from_bytes_alone) {
  std::size_t named = 0;
  for (const Profile& profile : list_profiles()) {
    if (profile.family == CodeFamily::custom) continue;
    for (const Layout layout : {Layout::bytes, Layout::packets}) {
      if (layout == Layout::bytes ? !profile.bytes_layout : !profile.packets_layout) continue;
      for (const std::uint16_t parity : {std::uint16_t{2}, std::uint16_t{3}}) {
        CodeSpec spec = *find_profile(profile.name);
        spec.layout = layout;
        spec.data_shards = 6;
        spec.parity_shards = parity;
        if (layout == Layout::packets) spec.packet_bytes = 16;
        if (profile.family == CodeFamily::lrc) spec.local_groups = 2;
        if (profile.family == CodeFamily::lrc && parity == 2) continue;  // no global parity left
        const Result<Codec> codec = Codec::create(spec);
        if (!codec) continue;  // raid6 has exactly two parities
        const Shards shards = encoded(spec, 8 * 16 * 20);
        const Result<Identification> found = identified(shards, {.data_shards = 6});
        ASSERT_TRUE(found) << profile.name << ": " << found.error().message;
        EXPECT_EQ(found->spec.layout, layout) << profile.name;
        EXPECT_EQ(found->rows, *parity_rows(codec->spec())) << profile.name;
        if (profile.family == CodeFamily::lrc) continue;  // its groups do not show in the rows
        EXPECT_NE(std::ranges::find(found->profiles, profile.name), found->profiles.end())
            << profile.name << " " << unsigned(layout);
        ++named;
      }
    }
  }
  EXPECT_GE(named, 25);
  std::cout << named << " codes named\n";
}

TEST(Identify, finds_how_many_are_data_and_the_words_of_packets) {
  const Shards bytes =
      encoded({.family = CodeFamily::cauchy, .data_shards = 10, .parity_shards = 4}, 4096);
  const Result<Identification> of_bytes = identified(bytes);
  ASSERT_TRUE(of_bytes) << of_bytes.error().message;
  EXPECT_EQ(of_bytes->spec.data_shards, 10);
  EXPECT_EQ(of_bytes->spec.family, CodeFamily::cauchy);
  for (const unsigned w : {4U, 7U}) {
    const Shards packets = encoded({.family = CodeFamily::cauchy_good,
                                    .layout = Layout::packets,
                                    .data_shards = 5,
                                    .parity_shards = 2,
                                    .word_bits = static_cast<std::uint8_t>(w),
                                    .packet_bytes = 512},
                                   512 * w * 3);
    const Result<Identification> found = identified(packets);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->spec.word_bits, w);
    EXPECT_EQ(found->spec.packet_bytes, 512);
    EXPECT_EQ(found->spec.data_shards, 5);
    EXPECT_NE(std::ranges::find(found->profiles, "cauchy-good"), found->profiles.end());
  }
}

TEST(Identify, tells_the_field_and_rows_that_no_profile_has) {
  const CodeSpec spec{
      .family = CodeFamily::custom, .data_shards = 3, .parity_shards = 2, .polynomial = 0x11B};
  const std::vector<std::uint16_t> rows = {1, 2, 3, 7, 9, 200};
  const Codec codec = *Codec::create_from_matrix(spec, rows);
  Shards shards = random_data(5, 1000);
  const std::vector<ConstShard> data(shards.begin(), shards.begin() + 3);
  ASSERT_TRUE(codec.encode(data, std::vector<Shard>(shards.begin() + 3, shards.end())));
  const Result<Identification> found = identified(shards);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->spec.family, CodeFamily::custom);
  EXPECT_EQ(found->spec.polynomial, 0x11B);
  EXPECT_EQ(found->rows, rows);
  EXPECT_TRUE(found->profiles.empty());
}

TEST(Identify, says_when_it_cannot_tell) {
  const Shards zeros(5, std::vector<std::byte>(4096));
  EXPECT_EQ(identified(zeros, {.data_shards = 3}).error().code, ErrorCode::ambiguous);
  EXPECT_EQ(identified(random_data(5, 4096)).error().code, ErrorCode::unrecoverable);
  Shards damaged =
      encoded({.family = CodeFamily::hybrid, .data_shards = 3, .parity_shards = 2}, 400);
  for (std::byte& byte : damaged[4])
    byte ^= std::byte{1};
  EXPECT_FALSE(identified(damaged, {.data_shards = 3}));
  Shards uneven = random_data(3, 10);
  uneven[2].pop_back();
  EXPECT_EQ(identified(uneven).error().message, "shard 2 has 9 bytes; expected 10 as shard 0");
  EXPECT_EQ(identified(random_data(1, 10)).error().message,
            "the number of shards is 1; expected at least 2");
  EXPECT_EQ(identified(random_data(3, 10), {.data_shards = 3}).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace calpe::store
