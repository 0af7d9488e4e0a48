// SPDX-License-Identifier: Apache-2.0
// Many streams at once, with many threads each, share one codec. Callbacks use plain variables,
// which only the order of calls protects. Meant for the tsan build; other builds still compare
// bytes.
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include <calpe/streams.hpp>

#include "support/stream_stripes.hpp"

namespace {

using namespace calpe;
using namespace calpe::tests;

constexpr std::size_t block_bytes = 512;
constexpr std::size_t stream_count = 4;

// Encodes an object, loses blocks in every stripe, and decodes it.
void stream_once(const Codec& codec, unsigned depth, std::size_t object_bytes) {
  const StreamOptions options{.block_bytes = block_bytes, .depth = depth};
  const Bytes object = random_object(object_bytes);
  std::vector<StoredStripe> stripes;
  const auto done = encode_stream(codec, options, reading_from(object, 1000), storing_to(stripes));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*done, object_bytes);
  EXPECT_EQ(stripes, reference_stripes(codec, block_bytes, object));
  const unsigned shards = codec.spec().data_shards + codec.spec().parity_shards;
  for (StoredStripe& stripe : stripes)
    lose_blocks(stripe, std::uint64_t{1} << stripe.number % shards |
                            std::uint64_t{1} << stripe.number / 3 % shards);
  Bytes read;
  const Status decoded =
      decode_stream(codec, options, object_bytes, reading_blocks(stripes), appending_to(read));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(read, object);
}

void stream_side_by_side(unsigned codec_threads) {
  const Codec codec = *Codec::create({.data_shards = 4, .parity_shards = 2},
                                     {.threads = codec_threads, .plan_cache_entries = 5});
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < stream_count; ++i) {
    threads.emplace_back([&codec, i] {
      for (unsigned depth = 1; depth <= 8; depth += 1 + depth / 2)
        stream_once(codec, depth, 150'000 + 1777 * i);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST(StreamThreads, ShareACodec) {
  stream_side_by_side(1);
}

TEST(StreamThreads, ShareAPool) {
  stream_side_by_side(3);
}

// Failures at different places, so that other threads read, wait and write when they happen.
TEST(StreamThreads, StopAtAFailure) {
  const Codec codec = *Codec::create({.data_shards = 4, .parity_shards = 2});
  const Bytes object = random_object(100'000);
  for (std::uint64_t at = 0; at < 49; at += 3) {
    for (const bool in_read : {false, true}) {
      std::vector<StoredStripe> stripes;
      const ReadBytes from = reading_from(object, 2048);
      const WriteStripe to = storing_to(stripes);
      std::uint64_t reads = 0;
      const auto done = encode_stream(
          codec, {.block_bytes = block_bytes, .depth = 6},
          [&](Shard space) -> Result<std::size_t> {
            if (in_read && reads++ == at) return Error{ErrorCode::io, "read"};
            return from(space);
          },
          [&](const StreamStripe& stripe) -> Status {
            if (!in_read && stripe.number == at) return Error{ErrorCode::io, "write"};
            return to(stripe);
          });
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().message, in_read ? "read" : "write");
      EXPECT_EQ(stripes.size(), at);
    }
  }
}

}  // namespace
