// SPDX-License-Identifier: Apache-2.0
// Names and generation objects: what is written is read, and nothing else is accepted.
#include "remote/format/generation_object.hpp"

#include <gtest/gtest.h>

#include <calpe/codec.hpp>

#include "remote/format/object_names.hpp"

namespace calpe::remote {
namespace {

Generation sample() {
  Generation generation;
  CodeSpec spec = find_profile("default").value();
  spec.data_shards = 2;
  spec.parity_shards = 1;
  store::ShardHeader& header = generation.header;
  header.spec = Codec::create(spec).value().spec();
  header.uuid = random_uuid();
  header.generation = 7;
  header.block_bytes = 64;
  header.name = "photos";
  set_sizes(header, 1000, 300);
  generation.parent = 3;
  generation.segment_bytes = 512;
  generation.data.resize(2);
  generation.data[1].fill(std::byte{5});
  generation.manifest.resize(1);
  generation.labels = {"s3://one/p", "", "rclone:two:p"};
  return generation;
}

TEST(GenerationObject, IsReadAsWritten) {
  const Generation generation = sample();
  const auto bytes = to_bytes(generation);
  ASSERT_TRUE(bytes);
  const auto read = parse_generation(*bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->header, generation.header);
  EXPECT_EQ(read->parent, generation.parent);
  EXPECT_EQ(read->segment_bytes, generation.segment_bytes);
  EXPECT_EQ(read->data, generation.data);
  EXPECT_EQ(read->manifest, generation.manifest);
  EXPECT_EQ(read->labels, generation.labels);
  EXPECT_EQ(read->places_may_fail, generation.places_may_fail);
  const auto segments = all_segments(*read);
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_EQ(segments[0].bytes, 512U);
  EXPECT_EQ(segments[1].bytes, 488U);
  EXPECT_EQ(segments[2].bytes, 300U);
}

TEST(GenerationObject, MayLackTheNumberOfPlaces) {
  Generation generation = sample();
  for (const std::optional<std::uint16_t> losses :
       {std::optional<std::uint16_t>(), std::optional<std::uint16_t>(0),
        std::optional<std::uint16_t>(3)}) {
    generation.places_may_fail = losses;
    const auto read = parse_generation(to_bytes(generation).value());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->places_may_fail, losses);
  }
}

TEST(GenerationObject, IsRefusedWithAnyChange) {
  const auto bytes = to_bytes(sample());
  ASSERT_TRUE(bytes);
  for (std::size_t i = 0; i < bytes->size(); i += 13) {
    auto changed = *bytes;
    changed[i] ^= std::byte{1};
    EXPECT_FALSE(parse_generation(changed)) << i;
    EXPECT_FALSE(parse_generation(std::span(*bytes).first(i))) << i;
  }
}

TEST(SegmentBytes, AreWholeStripesFrom1To32MiB) {
  store::ShardHeader header = sample().header;
  header.block_bytes = 65536;
  constexpr std::uint64_t mib = 1U << 20U;
  EXPECT_EQ(choose_segment_bytes(header, 0), mib);
  EXPECT_EQ(choose_segment_bytes(header, 1024 * mib), 4 * mib);
  EXPECT_EQ(choose_segment_bytes(header, std::uint64_t{1} << 40U), 32 * mib);
  header.spec.data_shards = 1;
  header.spec.parity_shards = 7;
  EXPECT_EQ(choose_segment_bytes(header, std::uint64_t{1} << 40U), 8 * mib);
}

TEST(ObjectNames, AreReadAsWritten) {
  const Uuid uuid = random_uuid();
  const auto generation = parse_top_name(generation_name(uuid, 0x123456789abcdef0));
  ASSERT_TRUE(generation);
  EXPECT_EQ(generation->uuid, uuid);
  EXPECT_EQ(generation->generation, 0x123456789abcdef0);
  const auto begun = parse_top_name(begun_name(uuid));
  ASSERT_TRUE(begun);
  EXPECT_FALSE(begun->generation);
  Digest digest = {};
  digest[3] = std::byte{0xab};
  const auto segment = parse_segment_name(segment_name(digest, 12));
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->segment, digest);
  EXPECT_EQ(segment->shard, 12);
  for (const std::string& other :
       {std::string("photos"), set_folder(uuid), set_folder(uuid) + ".g1",
        segment_name(digest, 12) + "x", set_folder(uuid) + ".g123456789ABCDEF0"}) {
    EXPECT_FALSE(parse_top_name(other)) << other;
    EXPECT_FALSE(parse_segment_name(other)) << other;
  }
}

}  // namespace
}  // namespace calpe::remote
