// SPDX-License-Identifier: Apache-2.0
#include "ceph/shard_ends.hpp"

#include "support/ceph_stripes.hpp"

namespace calpe::ceph {
namespace {

using tests::ceph_shards;
using tests::random_content;

constexpr std::size_t data = 4;

Codec codec() {
  return *Codec::create(
      {.family = CodeFamily::vandermonde_isal, .data_shards = data, .parity_shards = 2});
}

ObjectLayout layout(std::uint64_t chunk, std::optional<std::uint64_t> object_bytes) {
  return {.data_shards = data, .chunk_bytes = chunk, .object_bytes = object_bytes};
}

// Shards as an optimised pool stores them.
CephShards trimmed_shards(std::uint64_t chunk, const std::vector<std::byte>& content) {
  CephShards shards = ceph_shards(codec(), chunk, content);
  for (ShardIndex s = 0; s < shards.size(); ++s)
    shards[s]->resize(trimmed_bytes(layout(chunk, {}), content.size(), s));
  return shards;
}

std::vector<std::uint64_t> lengths(std::uint64_t chunk, std::uint64_t object_bytes) {
  std::vector<std::uint64_t> out;
  for (ShardIndex s = 0; s < data + 2; ++s)
    out.push_back(trimmed_bytes(layout(chunk, {}), object_bytes, s));
  return out;
}

const std::vector<std::uint64_t> chunks = {4096, 16384};

std::vector<std::size_t> sizes(std::size_t chunk) {
  const std::size_t width = data * chunk;
  return {1,     100,       chunk - 1, chunk,     chunk + 1,         2 * chunk,
          width, width - 1, width + 1, 3 * width, 3 * width + chunk, 3 * width + chunk + 5000};
}

// Lengths that Ceph 20.2.4 stored.
TEST(CephShardEnds, are_those_of_optimised_pools) {
  using Lengths = std::vector<std::uint64_t>;
  EXPECT_EQ(lengths(4096, 0), (Lengths{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(lengths(4096, 1), (Lengths{4096, 0, 0, 0, 4096, 4096}));
  EXPECT_EQ(lengths(4096, 4097), (Lengths{4096, 4096, 0, 0, 4096, 4096}));
  EXPECT_EQ(lengths(4096, 16384), (Lengths{4096, 4096, 4096, 4096, 4096, 4096}));
  EXPECT_EQ(lengths(4096, 20000), (Lengths{8192, 4096, 4096, 4096, 8192, 8192}));
  EXPECT_EQ(lengths(16384, 5000), (Lengths{8192, 0, 0, 0, 8192, 8192}));
  EXPECT_EQ(lengths(16384, 65536 + 16384 + 1), (Lengths{32768, 20480, 16384, 16384, 32768, 32768}));
}

TEST(CephShardEnds, objects_of_every_size_are_sound_and_restored) {
  for (const std::uint64_t chunk : chunks) {
    for (const std::size_t size : sizes(chunk)) {
      const auto content = random_content(size, static_cast<unsigned>(size));
      for (const bool is_sized : {true, false}) {
        CephShards shards = trimmed_shards(chunk, content);
        const ObjectLayout how =
            layout(chunk, is_sized ? std::optional<std::uint64_t>(size) : std::nullopt);
        const std::size_t last = size % (data * chunk);
        EXPECT_EQ(*is_trimmed(codec(), how, shards), is_sized || (last != 0 && last <= 3 * chunk))
            << chunk << " " << size;
        ASSERT_TRUE(extend_shards(how, shards));
        const ObjectCheck check = *check_object(codec(), chunk, shards);
        EXPECT_TRUE(check.is_consistent() && check.is_checked);
        shards[0].reset();
        shards[2].reset();
        EXPECT_EQ(*object_content(codec(), chunk, shards, size), content);
      }
    }
  }
}

TEST(CephShardEnds, a_wrong_byte_anywhere_is_located_and_corrected) {
  for (const std::uint64_t chunk : chunks) {
    for (const std::size_t size : sizes(chunk)) {
      const CephShards sound = trimmed_shards(chunk, random_content(size, 7));
      for (ShardIndex s = 0; s < sound.size(); ++s) {
        if (sound[s]->empty()) continue;
        CephShards shards = sound;
        const std::size_t at = (size * 31 + s * 4093) % sound[s]->size();
        (*shards[s])[at] ^= std::byte{0x21};
        const ShardEnds ends = *extend_shards(layout(chunk, size), shards);
        const ObjectCheck check = *check_object(codec(), chunk, shards);
        ASSERT_EQ(check.wrong.size(), 1) << size << " shard " << s;
        EXPECT_EQ(check.wrong[0].shard, s);
        EXPECT_EQ(check.wrong[0].stripes, std::vector<std::uint64_t>{at / chunk});
        ASSERT_TRUE(correct_object(codec(), chunk, check, shards));
        EXPECT_EQ(*trimmed(ends, s, *shards[s]), *sound[s]);
      }
    }
  }
}

TEST(CephShardEnds, a_length_that_does_not_fit_the_size_is_wrong) {
  const std::size_t size = 20000;
  const CephShards sound = trimmed_shards(4096, random_content(size, 3));
  for (ShardIndex s = 0; s < sound.size(); ++s) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{4095}, std::size_t{12288}}) {
      CephShards shards = sound;
      shards[s]->resize(bytes);
      const ShardEnds ends = *extend_shards(layout(4096, size), shards);
      const ObjectCheck check = *check_object(codec(), 4096, shards);
      ASSERT_EQ(check.wrong.size(), 1);
      EXPECT_EQ(check.wrong[0].shard, s);
      EXPECT_TRUE(check.wrong[0].has_other_length);
      ASSERT_TRUE(correct_object(codec(), 4096, check, shards));
      EXPECT_EQ(*trimmed(ends, s, *shards[s]), *sound[s]);
    }
  }
  CephShards halves = sound;
  for (std::size_t s = 0; s < 3; ++s)
    halves[s]->resize(100);
  EXPECT_EQ(extend_shards(layout(4096, size), halves).error().message,
            "3 of 6 shards have a length that does not fit an object of 20000 bytes; check the "
            "size and the stripe unit");
}

TEST(CephShardEnds, objects_from_before_the_option_stay_padded) {
  const std::size_t size = 20000;
  const auto content = random_content(size, 4);
  const CephShards padded = ceph_shards(codec(), 4096, content);
  CephShards shards = padded;
  (*shards[3])[4096 + 5] ^= std::byte{1};
  const ShardEnds ends = *extend_shards(layout(4096, size), shards);
  const ObjectCheck check = *check_object(codec(), 4096, shards);
  ASSERT_EQ(check.wrong.size(), 1);
  EXPECT_FALSE(check.wrong[0].has_other_length);
  ASSERT_TRUE(correct_object(codec(), 4096, check, shards));
  EXPECT_EQ(*trimmed(ends, 3, *shards[3]), *padded[3]) << "keeps its length";
}

TEST(CephShardEnds, a_wrong_length_of_a_padded_object_becomes_the_padded_one) {
  const std::size_t size = 20000;
  const CephShards padded = ceph_shards(codec(), 4096, random_content(size, 5));
  for (ShardIndex s = 0; s < padded.size(); ++s) {
    CephShards shards = padded;
    shards[s]->resize(100);
    const ShardEnds ends = *extend_shards(layout(4096, size), shards);
    const ObjectCheck check = *check_object(codec(), 4096, shards);
    ASSERT_EQ(check.wrong.size(), 1);
    ASSERT_TRUE(correct_object(codec(), 4096, check, shards));
    EXPECT_EQ(*trimmed(ends, s, *shards[s]), *padded[s]);
  }
}

TEST(CephShardEnds, trimmed_and_padded_shards_of_one_object_agree) {
  const std::size_t size = 20000;  // as after a change that left out shard 3
  for (const std::optional<std::uint64_t> known : {std::optional<std::uint64_t>(size), {}}) {
    CephShards shards = ceph_shards(codec(), 4096, random_content(size, 10));
    shards[2]->resize(4096);
    EXPECT_TRUE(*is_trimmed(codec(), layout(4096, known), shards));
    ASSERT_TRUE(extend_shards(layout(4096, known), shards));
    EXPECT_TRUE(check_object(codec(), 4096, shards)->is_consistent());
  }
}

TEST(CephShardEnds, data_after_the_end_means_that_others_are_wrong) {
  const std::size_t size = 5000;  // shards 2 and 3 are empty
  CephShards shards = trimmed_shards(4096, random_content(size, 5));
  const ShardEnds ends = *extend_shards(layout(4096, size), shards);
  // Change both parity shards as a change of shard 2 would.
  CephShards changed = shards;
  (*changed[2])[9] ^= std::byte{3};
  const Plan plan =
      *codec().plan_decode(std::vector<ShardIndex>{0, 1, 2, 3}, std::vector<ShardIndex>{4, 5});
  ASSERT_TRUE(codec().decode(
      plan, std::vector<ConstShard>{*changed[0], *changed[1], *changed[2], *changed[3]},
      std::vector<Shard>{*shards[4], *shards[5]}));
  const ObjectCheck check = *check_object(codec(), 4096, shards);
  ASSERT_EQ(check.wrong.size(), 1);
  EXPECT_EQ(check.wrong[0].shard, 2);
  ASSERT_TRUE(correct_object(codec(), 4096, check, shards));
  EXPECT_EQ(trimmed(ends, 2, *shards[2]).error().message,
            "shard 2 would have data after its end, byte 0; too many shards are wrong to tell "
            "which ones");
}

TEST(CephShardEnds, a_truncated_file_grows_when_the_size_is_unknown) {
  const std::size_t size = 3 * data * 4096;
  const CephShards sound = trimmed_shards(4096, random_content(size, 6));
  CephShards shards = sound;
  shards[3]->resize(2 * 4096 + 10);
  EXPECT_TRUE(*is_trimmed(codec(), layout(4096, {}), shards)) << "looks like a shorter object";
  const ShardEnds ends = *extend_shards(layout(4096, {}), shards);
  const ObjectCheck check = *check_object(codec(), 4096, shards);
  ASSERT_EQ(check.wrong.size(), 1);
  EXPECT_EQ(check.wrong[0].shard, 3);
  EXPECT_EQ(check.wrong[0].stripes, std::vector<std::uint64_t>{2});
  ASSERT_TRUE(correct_object(codec(), 4096, check, shards));
  EXPECT_EQ(*trimmed(ends, 3, *shards[3]), *sound[3]);
}

TEST(CephShardEnds, one_wrong_length_never_makes_the_short_shards_the_right_ones) {
  for (const std::size_t size : sizes(4096)) {
    const CephShards sound = trimmed_shards(4096, random_content(size, 8));
    const CephShards padded = ceph_shards(codec(), 4096, random_content(size, 8));
    EXPECT_FALSE(*is_trimmed(codec(), layout(4096, {}), padded));
    if (sound == padded) continue;
    for (std::size_t s = 0; s < sound.size(); ++s) {
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{4096}, std::size_t{40960}}) {
        CephShards shards = sound;
        shards[s]->resize(bytes);
        const Result<bool> found = is_trimmed(codec(), layout(4096, {}), shards);
        if (found && *found) continue;
        if (!found) {
          EXPECT_EQ(found.error().code, ErrorCode::ambiguous);
          continue;
        }
        // Taken for padded shards: then most must have the length of the parity shards.
        EXPECT_GT(
            std::ranges::count_if(
                shards, [&](const auto& shard) { return shard->size() == padded[0]->size(); }),
            data)
            << size << " shard " << s << " " << bytes;
      }
    }
  }
  CephShards shards = ceph_shards(codec(), 4096, random_content(40000, 9));
  shards[1]->resize(1);
  EXPECT_FALSE(*is_trimmed(codec(), layout(4096, {}), shards))
      << "five of six have the same length";
}

TEST(CephShardEnds, shards_that_were_not_extended_are_not_cut) {
  const std::vector<std::byte> bytes(100);
  EXPECT_EQ(*trimmed({}, 3, bytes), bytes);
}

}  // namespace
}  // namespace calpe::ceph
