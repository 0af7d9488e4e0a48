// SPDX-License-Identifier: Apache-2.0
// Codec::tag and encode_tagged: the tags of parity are the parity of the tags, for every plan of
// every code over bytes.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

#include <calpe/codec.hpp>

#include "code/spec_rules.hpp"
#include "support/profile_lists.hpp"
#include "support/slow_tag.hpp"

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;
using Shards = std::vector<Bytes>;

Shards random_shards(std::size_t count, std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  Shards shards(count, Bytes(bytes));
  for (Bytes& shard : shards)
    std::ranges::generate(shard, [&] { return static_cast<std::byte>(random()); });
  return shards;
}

Shards tags_of(const Codec& codec, const Shards& shards) {
  Bytes tags(shards.size() * tag_bytes);
  EXPECT_TRUE(codec.tag(shards, tags));
  Shards all;
  for (std::size_t at = 0; at < tags.size(); at += tag_bytes) {
    const auto begin = tags.begin() + static_cast<std::ptrdiff_t>(at);
    all.emplace_back(begin, begin + tag_bytes);
  }
  return all;
}

// Codes over bytes and GF(2^8); others have no tags.
std::vector<CodeSpec> tagged_specs() {
  std::vector<CodeSpec> specs;
  for (const Profile& profile : tests::profiles_but({"custom"})) {
    CodeSpec spec{
        .family = profile.family, .layout = Layout::bytes, .data_shards = 4, .parity_shards = 2};
    if (profile.name == std::string_view("lrc")) {
      spec.parity_shards = 4;
      spec.local_groups = 2;
    }
    if (Codec::create(spec)) specs.push_back(spec);
  }
  specs.push_back({.family = CodeFamily::lch, .data_shards = 40, .parity_shards = 24});
  specs.push_back({.data_shards = 10, .parity_shards = 4, .polynomial = 0x11B});
  return specs;
}

TEST(CodecTags, of_parity_are_the_parity_of_tags) {
  const std::vector<CodeSpec> specs = tagged_specs();
  EXPECT_GE(specs.size(), 8U);
  for (const CodeSpec& spec : specs) {
    const Codec codec = *Codec::create(spec);
    const std::size_t k = codec.spec().data_shards;
    const std::size_t m = codec.spec().parity_shards;
    for (const std::size_t bytes : std::initializer_list<std::size_t>{0, 1, 777, 40'000}) {
      Shards data = random_shards(k, bytes, 1);
      Shards parity(m, Bytes(bytes));
      ASSERT_TRUE(codec.encode(data, parity));
      const Shards data_tags = tags_of(codec, data);
      const Shards parity_tags = tags_of(codec, parity);
      EXPECT_TRUE(codec.verify(data_tags, parity_tags)->empty());

      // Decoding: the tag of a lost shard from the tags of others.
      std::vector<ShardIndex> available(k + m - 1);
      std::iota(available.begin(), available.end(), ShardIndex{1});
      const Plan plan = *codec.plan_decode(available, std::array{ShardIndex{0}});
      Shards read;
      for (const ShardIndex shard : plan.reads())
        read.push_back(shard < k ? data_tags[shard] : parity_tags[shard - k]);
      Shards rebuilt(1, Bytes(tag_bytes));
      ASSERT_TRUE(codec.decode(plan, read, rebuilt));
      EXPECT_EQ(rebuilt.front(), data_tags.front());

      // Updating: old and new tag of one shard change those of parity.
      const Shards fresh = random_shards(1, bytes, 2);
      Shards updated = parity_tags;
      ASSERT_TRUE(codec.update({.data_index = 1, .shard_bytes = tag_bytes}, data_tags[1],
                               tags_of(codec, fresh).front(), updated));
      data[1] = fresh.front();
      ASSERT_TRUE(codec.encode(data, parity));
      EXPECT_EQ(updated, tags_of(codec, parity));
    }
  }
}

TEST(CodecTags, come_along_with_encode) {
  for (const unsigned threads : {1U, 2U}) {
    for (const CodeSpec& spec : tagged_specs()) {
      const Codec codec = *Codec::create(spec, {.threads = threads});
      const std::size_t k = codec.spec().data_shards;
      const std::size_t m = codec.spec().parity_shards;
      for (const std::size_t bytes : std::initializer_list<std::size_t>{0, 1, 5000, 100'001}) {
        const Shards data = random_shards(k, bytes, 3);
        Shards expected(m, Bytes(bytes));
        ASSERT_TRUE(codec.encode(data, expected));
        Shards parity(m, Bytes(bytes));
        Bytes tags((k + m) * tag_bytes);
        ASSERT_TRUE(codec.encode_tagged(data, parity, tags));
        EXPECT_EQ(parity, expected);
        Shards all = data;
        all.insert(all.end(), parity.begin(), parity.end());
        Bytes separate(tags.size());
        ASSERT_TRUE(codec.tag(all, separate));
        EXPECT_EQ(tags, separate);
      }
    }
  }
}

TEST(CodecTags, stream_long_stripes) {
  const Codec codec = *Codec::create({.data_shards = 3, .parity_shards = 2});
  const Shards data = random_shards(3, 3'000'000, 4);
  for (const Stores stores : {Stores::automatic, Stores::cached, Stores::streaming}) {
    Shards parity(2, Bytes(data.front().size()));
    Bytes tags(5 * tag_bytes);
    ASSERT_TRUE(codec.encode_tagged(data, parity, tags, {.stores = stores}));
    EXPECT_TRUE(codec.verify(data, parity)->empty());
    Shards all = data;
    all.insert(all.end(), parity.begin(), parity.end());
    Bytes separate(tags.size());
    ASSERT_TRUE(codec.tag(all, separate));
    EXPECT_EQ(tags, separate);
  }
}

TEST(CodecTags, accept_any_shards_of_any_lengths) {
  const Codec codec = *Codec::create({.data_shards = 3, .parity_shards = 2});
  const gf::FieldRef field = *gf::Field::create(8, 0);
  Shards shards;
  for (std::size_t i = 0; i < 300; ++i)
    shards.push_back(random_shards(1, 37 * i, static_cast<unsigned>(i)).front());
  const Shards tags = tags_of(codec, shards);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const tests::Tag expected = tests::slow_tag(*field, 6, shards[i]);
    EXPECT_EQ(tags[i], Bytes(expected.begin(), expected.end())) << i;
  }
}

std::string message(const Status& status) {
  return status ? std::string() : status.error().message;
}

TEST(CodecTags, refuse_what_has_none) {
  Codec codec = *Codec::create({.data_shards = 2, .parity_shards = 1});
  Shards data = random_shards(2, 100, 5);
  Shards parity(1, Bytes(100));
  Bytes tags(3 * tag_bytes);
  EXPECT_EQ(message(codec.tag(data, tags)),
            "tags has 24 bytes; expected 16, 8 for each of 2 shards");
  EXPECT_EQ(message(codec.encode_tagged(data, parity, std::span(tags).first(16))),
            "tags has 16 bytes; expected 24, 8 for each of 3 shards");
  EXPECT_EQ(message(codec.tag(std::span(data).first(1), std::span(data.front()).first(8))),
            "tags[0] overlaps shards[0]; expected separate memory");
  EXPECT_EQ(message(codec.encode_tagged(data, parity, std::span(parity.front()).first(24))),
            "tags[0] overlaps shards[2]; expected separate memory");
  EXPECT_EQ(message(codec.encode_tagged(data, parity, tags, {.accumulate = true})),
            "accumulate is set; expected parity to be overwritten, as its tags are those of the "
            "data");
  parity.front().resize(99);
  EXPECT_FALSE(codec.encode_tagged(data, parity, tags));
  const Codec packets = *Codec::create({.family = CodeFamily::cauchy,
                                        .layout = Layout::packets,
                                        .data_shards = 2,
                                        .parity_shards = 1});
  EXPECT_EQ(message(packets.tag(data, std::span(tags).first(16))),
            "tags are not defined for this code; expected layout bytes with word_bits 8");
  const Codec wide =
      *Codec::create({.family = CodeFamily::lch, .data_shards = 300, .parity_shards = 20});
  EXPECT_EQ(message(wide.tag(data, std::span(tags).first(16))),
            "tags are not defined for this code; expected layout bytes with word_bits 8");
  const Codec moved = std::move(codec);
  EXPECT_FALSE(codec.tag(data, tags));
  EXPECT_FALSE(codec.encode_tagged(data, parity, tags));
}

}  // namespace
}  // namespace calpe
