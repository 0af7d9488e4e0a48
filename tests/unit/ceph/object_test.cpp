// SPDX-License-Identifier: Apache-2.0
#include "ceph/object.hpp"

#include "support/ceph_stripes.hpp"

namespace calpe::ceph {
namespace {

constexpr std::size_t chunk = 512;
constexpr std::size_t stripes = 5;

using tests::ceph_shards;
using tests::random_content;

std::vector<CodeSpec> specs() {
  const auto spec = [](CodeFamily family, Layout layout, unsigned data, unsigned parity) {
    return CodeSpec{.family = family,
                    .layout = layout,
                    .data_shards = static_cast<std::uint16_t>(data),
                    .parity_shards = static_cast<std::uint16_t>(parity),
                    .packet_bytes = layout == Layout::packets ? 16U : 0U};
  };
  return {spec(CodeFamily::hybrid, Layout::bytes, 4, 2),
          spec(CodeFamily::cauchy, Layout::bytes, 8, 3),
          spec(CodeFamily::vandermonde_jerasure, Layout::bytes, 5, 2),
          spec(CodeFamily::vandermonde_isal, Layout::bytes, 4, 3),
          spec(CodeFamily::cauchy_orig, Layout::packets, 4, 2),
          spec(CodeFamily::cauchy_good, Layout::packets, 6, 3)};
}

TEST(CephObject, finds_and_corrects_a_wrong_shard_in_every_position) {
  unsigned seed = 0;
  for (const CodeSpec& spec : specs()) {
    const Codec codec = *Codec::create(spec);
    const auto content = random_content(stripes * chunk * spec.data_shards - 100, ++seed);
    const CephShards sound = ceph_shards(codec, chunk, content);
    ASSERT_TRUE(check_object(codec, chunk, sound)->is_consistent());
    for (ShardIndex shard = 0; shard < sound.size(); ++shard) {
      for (std::size_t stripe = 0; stripe < stripes; ++stripe) {
        CephShards shards = sound;
        (*shards[shard])[stripe * chunk + (shard * 37 + stripe) % chunk] ^= std::byte{0x10};
        const Result<ObjectCheck> check = check_object(codec, chunk, shards);
        ASSERT_TRUE(check) << check.error().message;
        ASSERT_EQ(check->wrong.size(), 1) << "shard " << shard << " stripe " << stripe;
        EXPECT_EQ(check->wrong[0].shard, shard);
        EXPECT_EQ(check->wrong[0].stripes, std::vector<std::uint64_t>{stripe});
        EXPECT_TRUE(check->unexplained.empty());
        ASSERT_TRUE(correct_object(codec, chunk, *check, shards));
        EXPECT_EQ(shards, sound);
      }
    }
  }
}

TEST(CephObject, different_stripes_may_have_different_wrong_shards) {
  const Codec codec = *Codec::create(specs()[0]);
  const CephShards sound = ceph_shards(codec, chunk, random_content(stripes * chunk * 4, 1));
  CephShards shards = sound;
  for (std::size_t s = 0; s < stripes; ++s)
    (*shards[s + 1])[s * chunk + 3] ^= std::byte{1};
  const ObjectCheck check = *check_object(codec, chunk, shards);
  ASSERT_EQ(check.wrong.size(), stripes);
  for (std::size_t s = 0; s < stripes; ++s) {
    EXPECT_EQ(check.wrong[s].shard, s + 1);
    EXPECT_EQ(check.wrong[s].stripes, std::vector<std::uint64_t>{s});
  }
  ASSERT_TRUE(correct_object(codec, chunk, check, shards));
  EXPECT_EQ(shards, sound);
}

TEST(CephObject, reports_no_shard_when_damage_is_ambiguous) {
  const Codec codec = *Codec::create(specs()[0]);
  CephShards shards = ceph_shards(codec, chunk, random_content(stripes * chunk * 4, 2));
  for (const std::size_t shard : {0U, 3U}) {
    for (std::size_t i = 0; i < chunk; ++i)
      (*shards[shard])[2 * chunk + i] ^= std::byte(i * 31 + shard * 7 + 1);
  }
  const ObjectCheck two = *check_object(codec, chunk, shards);
  EXPECT_TRUE(two.wrong.empty());
  EXPECT_EQ(two.unexplained, std::vector<std::uint64_t>{2});
  EXPECT_EQ(correct_object(codec, chunk, two, shards).error().code, ErrorCode::ambiguous);
  EXPECT_EQ(object_content(codec, chunk, shards, {}).error().code, ErrorCode::corrupt);

  // Stripes after an unexplained one are checked as well.
  (*shards[5])[4 * chunk + 9] ^= std::byte{4};
  for (std::size_t i = 0; i < chunk; ++i) {
    for (const std::size_t shard : {0U, 3U})
      (*shards[shard])[3 * chunk + i] ^= std::byte(i * 31 + shard * 7 + 1);
  }
  const ObjectCheck more = *check_object(codec, chunk, shards);
  EXPECT_EQ(more.unexplained, (std::vector<std::uint64_t>{2, 3}));
  ASSERT_EQ(more.wrong.size(), 1);
  EXPECT_EQ(more.wrong[0].shard, 5);
  EXPECT_EQ(more.wrong[0].stripes, std::vector<std::uint64_t>{4});

  const Codec single = *Codec::create(
      {.family = CodeFamily::vandermonde_isal, .data_shards = 3, .parity_shards = 1});
  CephShards few = ceph_shards(single, chunk, random_content(chunk * 6, 3));
  (*few[1])[chunk] ^= std::byte{1};
  const ObjectCheck check = *check_object(single, chunk, few);
  EXPECT_TRUE(check.wrong.empty());
  EXPECT_EQ(check.unexplained, std::vector<std::uint64_t>{1});
}

TEST(CephObject, missing_shards_reduce_what_can_be_located) {
  const Codec codec = *Codec::create(specs()[1]);  // 8+3
  const CephShards sound = ceph_shards(codec, chunk, random_content(stripes * chunk * 8, 4));
  CephShards shards = sound;
  shards[2].reset();
  (*shards[5])[4 * chunk + 9] ^= std::byte{4};
  const ObjectCheck check = *check_object(codec, chunk, shards);
  EXPECT_EQ(check.missing, std::vector<ShardIndex>{2});
  ASSERT_EQ(check.wrong.size(), 1);
  EXPECT_EQ(check.wrong[0].shard, 5);
  ASSERT_TRUE(correct_object(codec, chunk, check, shards));
  EXPECT_EQ(shards[5], sound[5]);
  EXPECT_FALSE(shards[2]);
  shards[0].reset();
  (*shards[5])[0] ^= std::byte{4};
  EXPECT_EQ(check_object(codec, chunk, shards)->unexplained, std::vector<std::uint64_t>{0});
  shards[1].reset();
  EXPECT_FALSE(check_object(codec, chunk, shards)->is_checked);
  shards[3].reset();
  EXPECT_EQ(check_object(codec, chunk, shards).error().message,
            "only 7 of 11 shards are usable; expected at least 8");
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (s != 5) shards[s].reset();
  }
  EXPECT_EQ(check_object(codec, chunk, shards).error().message,
            "only 1 of 11 shards are usable; expected at least 8")
      << "a single shard is always consistent";
}

TEST(CephObject, a_shard_with_a_different_length_is_wrong) {
  const Codec codec = *Codec::create(specs()[0]);
  const CephShards sound = ceph_shards(codec, chunk, random_content(stripes * chunk * 4, 5));
  for (const std::size_t bytes :
       {std::size_t{0}, chunk, stripes * chunk - 1, stripes * chunk + 7}) {
    CephShards shards = sound;
    shards[4]->resize(bytes);
    const ObjectCheck check = *check_object(codec, chunk, shards);
    ASSERT_EQ(check.wrong.size(), 1);
    EXPECT_EQ(check.wrong[0].shard, 4);
    EXPECT_TRUE(check.wrong[0].has_other_length);
    ASSERT_TRUE(correct_object(codec, chunk, check, shards));
    EXPECT_EQ(shards, sound);
  }
  CephShards halves = sound;
  for (std::size_t s = 0; s < 3; ++s)
    halves[s]->resize(chunk);
  EXPECT_EQ(check_object(codec, chunk, halves).error().code, ErrorCode::corrupt);
  EXPECT_EQ(check_object(codec, chunk + 1, sound).error().code, ErrorCode::corrupt);
}

TEST(CephObject, is_restored_from_any_k_shards) {
  unsigned seed = 10;
  for (const CodeSpec& spec : specs()) {
    const Codec codec = *Codec::create(spec);
    const auto content = random_content(stripes * chunk * spec.data_shards - 77, ++seed);
    const CephShards sound = ceph_shards(codec, chunk, content);
    for (std::size_t first = 0; first < sound.size(); ++first) {
      for (std::size_t second = first + 1; second < sound.size(); ++second) {
        CephShards shards = sound;
        shards[first].reset();
        shards[second].reset();
        EXPECT_EQ(*object_content(codec, chunk, shards, content.size()), content);
      }
    }
    auto padded = content;
    padded.resize(stripes * chunk * spec.data_shards);
    EXPECT_EQ(*object_content(codec, chunk, sound, {}), padded);
    EXPECT_EQ(object_content(codec, chunk, sound, padded.size() + 1).error().code,
              ErrorCode::corrupt);
  }
}

TEST(CephObject, an_empty_object_is_sound) {
  const Codec codec = *Codec::create(specs()[0]);
  const CephShards empty = ceph_shards(codec, chunk, {});
  EXPECT_TRUE(check_object(codec, chunk, empty)->is_consistent());
  EXPECT_TRUE(object_content(codec, chunk, empty, 0)->empty());
  EXPECT_EQ(check_object(codec, chunk, CephShards(5)).error().message,
            "number of shards is 5; expected 6");
}

}  // namespace
}  // namespace calpe::ceph
