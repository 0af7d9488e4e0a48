// SPDX-License-Identifier: Apache-2.0
// Streams give the stripes of split() and encode_object(), and the object again after every loss,
// for all small lengths, in both forms and with any number of threads.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include <calpe/streams.hpp>

#include "support/stream_stripes.hpp"

namespace calpe {
namespace {

using namespace tests;

using testing::HasSubstr;

CodeSpec packets_of(CodeFamily family, std::uint32_t data, std::uint32_t parity) {
  return {.family = family,
          .layout = Layout::packets,
          .data_shards = data,
          .parity_shards = parity,
          .word_bits = 4,
          .packet_bytes = 8};
}

std::vector<CodeSpec> specs() {
  return {{.data_shards = 4, .parity_shards = 2},
          {.data_shards = 1, .parity_shards = 1},
          {.data_shards = 3, .parity_shards = 5},
          {.family = CodeFamily::lrc, .data_shards = 4, .parity_shards = 3, .local_groups = 2},
          packets_of(CodeFamily::cauchy, 3, 2),
          packets_of(CodeFamily::cauchy_good, 3, 2)};
}

template <class Outcome>
std::string refusal(const Outcome& outcome) {
  return outcome ? "accepted" : outcome.error().message;
}

// Lengths around 0, 1, 2 and 3 stripes.
std::vector<std::size_t> lengths_tried(std::size_t stripe_bytes) {
  std::vector<std::size_t> all;
  for (std::size_t bytes = 0; bytes <= 3 * stripe_bytes + 2; ++bytes)
    if (bytes < 70 || bytes % stripe_bytes < 2 || (bytes + 1) % stripe_bytes == 0)
      all.push_back(bytes);
  return all;
}

TEST(Streams, StripesAreThoseOfSplitAndEncodeObject) {
  for (const CodeSpec& spec : specs()) {
    const Codec codec = *Codec::create(spec);
    for (const std::size_t blocks : {1U, 3U}) {
      const std::size_t block_bytes = blocks * codec.shard_bytes_multiple();
      for (const std::size_t bytes : lengths_tried(block_bytes * spec.data_shards)) {
        const Bytes object = random_object(bytes);
        const std::vector<StoredStripe> expected = reference_stripes(codec, block_bytes, object);
        for (const unsigned depth : {1U, 2U, 5U}) {
          for (const std::size_t most : {std::size_t{1}, std::size_t{7}, bytes + 1}) {
            std::vector<StoredStripe> stripes;
            const auto done = encode_stream(codec, {.block_bytes = block_bytes, .depth = depth},
                                            reading_from(object, most), storing_to(stripes));
            ASSERT_TRUE(done) << done.error().message;
            ASSERT_EQ(*done, bytes);
            ASSERT_EQ(stripes, expected) << bytes << " bytes, depth " << depth;
          }
        }
        for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, bytes + 1}) {
          std::vector<StoredStripe> stripes;
          auto encoder =
              *StreamEncoder::create(codec, {.block_bytes = block_bytes}, storing_to(stripes));
          for (std::size_t at = 0; at < bytes; at += piece)
            ASSERT_TRUE(encoder.write(std::span(object).subspan(at, std::min(piece, bytes - at))));
          ASSERT_TRUE(encoder.write({}));
          const auto done = encoder.finish();
          ASSERT_TRUE(done) << done.error().message;
          ASSERT_EQ(*done, bytes);
          ASSERT_EQ(stripes, expected) << bytes << " bytes in pieces of " << piece;
        }
      }
    }
  }
}

// Every set of lost shards, another one in each stripe. Both forms succeed exactly if a plan
// exists.
TEST(Streams, ObjectsAreReadWithLostBlocks) {
  for (const CodeSpec& spec : specs()) {
    const Codec codec = *Codec::create(spec);
    const std::size_t block_bytes = 2 * codec.shard_bytes_multiple();
    const std::size_t stripe_bytes = block_bytes * spec.data_shards;
    const std::size_t shards = spec.data_shards + spec.parity_shards;
    for (const std::size_t bytes : {std::size_t{1}, stripe_bytes - 1, stripe_bytes,
                                    stripe_bytes + 1, 3 * stripe_bytes, 4 * stripe_bytes - 3}) {
      const Bytes object = random_object(bytes);
      const std::vector<StoredStripe> stored = reference_stripes(codec, block_bytes, object);
      for (unsigned set = 0; set < 1U << shards; ++set) {
        std::vector<StoredStripe> stripes = stored;
        bool is_readable = true;
        std::size_t first_lost = 0;
        for (std::size_t s = 0; s < stripes.size(); ++s) {
          lose_blocks(stripes[s], (set * (2 * s + 1)) % (1U << shards));
          if (is_readable && !has_plan(codec, stored[s], stripes[s])) {
            is_readable = false;
            first_lost = s;
          }
        }
        for (const unsigned depth : {1U, 3U}) {
          Bytes read;
          const Status done = decode_stream(codec, {.block_bytes = block_bytes, .depth = depth},
                                            bytes, reading_blocks(stripes), appending_to(read));
          ASSERT_EQ(done.has_value(), is_readable) << refusal(done) << ", lost " << set;
          if (is_readable) {
            ASSERT_EQ(read, object);
          } else {
            ASSERT_EQ(done.error().code, ErrorCode::unrecoverable);
            ASSERT_THAT(done.error().message,
                        HasSubstr("stripe " + std::to_string(first_lost) + " has lost"));
            ASSERT_EQ(read.size(), first_lost * stripe_bytes);  // those before it
          }
        }
        Bytes read;
        const Status done = push_stripes(codec, block_bytes, bytes, stripes, read);
        ASSERT_EQ(done.has_value(), is_readable) << refusal(done);
        if (is_readable) {
          ASSERT_EQ(read, object);
        }
      }
    }
  }
}

TEST(Streams, ReadOnlyTheBlocksThatAreNeeded) {
  const Codec codec = *Codec::create({.data_shards = 4, .parity_shards = 3});
  const Bytes object = random_object(3 * 4 * 8);
  std::vector<StoredStripe> stripes = reference_stripes(codec, 8, object);
  lose_blocks(stripes[1], 0b0010010);  // data 1 and the first parity
  std::vector<std::pair<std::uint64_t, unsigned>> asked;
  const ReadBlock from = reading_blocks(stripes);
  const ReadBlock read = [&](const StreamBlock& block, Shard to) {
    asked.emplace_back(block.stripe, block.shard);
    EXPECT_EQ(block.offset, block.stripe * 8);
    return from(block, to);
  };
  Bytes bytes;
  ASSERT_TRUE(decode_stream(codec, {.block_bytes = 8}, object.size(), read, appending_to(bytes)));
  EXPECT_EQ(bytes, object);
  const std::vector<std::pair<std::uint64_t, unsigned>> expected = {
      {0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2},
      {1, 3}, {1, 4}, {1, 5}, {2, 0}, {2, 1}, {2, 2}, {2, 3}};
  EXPECT_EQ(asked, expected);
}

TEST(Streams, ALocalLossReadsTheLocalParity) {
  const Codec codec = *Codec::create(
      {.family = CodeFamily::lrc, .data_shards = 6, .parity_shards = 4, .local_groups = 2});
  const Bytes object = random_object(6 * 8);
  std::vector<StoredStripe> stripes = reference_stripes(codec, 8, object);
  lose_blocks(stripes[0], 0b10000);  // data 4, in the second group
  std::vector<unsigned> parity;
  const ReadBlock from = reading_blocks(stripes);
  Bytes bytes;
  ASSERT_TRUE(decode_stream(
      codec, {.block_bytes = 8}, object.size(),
      [&](const StreamBlock& block, Shard to) {
        if (block.shard >= 6) parity.push_back(block.shard);
        return from(block, to);
      },
      appending_to(bytes)));
  EXPECT_EQ(bytes, object);
  EXPECT_EQ(parity, std::vector<unsigned>{7});
}

TEST(Streams, ErrorsNameStripeAndShards) {
  const Codec codec = *Codec::create({.data_shards = 4, .parity_shards = 2});
  const Bytes object = random_object(100);
  std::vector<StoredStripe> stripes = reference_stripes(codec, 8, object);
  lose_blocks(stripes[2], 0b10101);
  Bytes bytes;
  const Status done =
      decode_stream(codec, {.block_bytes = 8}, 100, reading_blocks(stripes), appending_to(bytes));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message,
              HasSubstr("stripe 2 has lost the blocks of shards 0, 2, 4: shards 0, 2 cannot be "
                        "rebuilt from 3 of 6 shards"));
}

TEST(Streams, UseTheCallersMemory) {
  const Codec codec = *Codec::create({.data_shards = 3, .parity_shards = 2});
  const Bytes object = random_object(200);
  StreamOptions options{.block_bytes = 10, .depth = 3};
  EXPECT_EQ(stream_memory_bytes(codec, options), 3U * 64);
  Bytes memory(stream_memory_bytes(codec, options) + 2, std::byte{0x55});
  options.memory = std::span(memory).subspan(1, memory.size() - 2);
  const auto is_inside = [&](ConstShard block) {
    return block.empty() || (block.data() >= options.memory.data() &&
                             block.data() + block.size() <= &options.memory.back() + 1);
  };
  std::vector<StoredStripe> stripes;
  const WriteStripe store = storing_to(stripes);
  const auto done =
      encode_stream(codec, options, reading_from(object, 9), [&](const StreamStripe& stripe) {
        EXPECT_TRUE(std::ranges::all_of(stripe.blocks, is_inside));
        return store(stripe);
      });
  ASSERT_TRUE(done);
  EXPECT_EQ(stripes, reference_stripes(codec, 10, object));
  lose_blocks(stripes[1], 0b11);
  Bytes bytes;
  const WriteBytes append = appending_to(bytes);
  ASSERT_TRUE(decode_stream(codec, options, 200, reading_blocks(stripes), [&](ConstShard some) {
    EXPECT_TRUE(is_inside(some));
    return append(some);
  }));
  EXPECT_EQ(bytes, object);
  EXPECT_EQ(memory.front(), std::byte{0x55});
  EXPECT_EQ(memory.back(), std::byte{0x55});
  options.memory = options.memory.first(3 * 64 - 1);
  EXPECT_EQ(refusal(encode_stream(codec, options, reading_from(object, 9), store)),
            "memory has 191 bytes; expected at least 192");
  EXPECT_TRUE(StreamEncoder::create(codec, options, store));  // needs one stripe
}

TEST(Streams, RefuseWrongOptions) {
  const Codec codec = *Codec::create({.data_shards = 4, .parity_shards = 2});
  const Codec jerasure = *Codec::create(packets_of(CodeFamily::cauchy_good, 3, 2));
  std::vector<StoredStripe> stripes;
  Bytes bytes;
  const auto asked = [&](const Codec& with, const StreamOptions& options) {
    const auto done = encode_stream(with, options, reading_from({}, 1), storing_to(stripes));
    EXPECT_EQ(refusal(decode_stream(with, options, 0, reading_blocks({}), appending_to(bytes))),
              refusal(done));
    EXPECT_EQ(refusal(StreamEncoder::create(with, options, storing_to(stripes))), refusal(done));
    EXPECT_EQ(refusal(StreamDecoder::create(with, options, 0, appending_to(bytes))), refusal(done));
    EXPECT_EQ(stream_memory_bytes(with, options) == 0, !done);
    return refusal(done);
  };
  EXPECT_EQ(asked(codec, {}), "accepted");
  EXPECT_THAT(asked(codec, {.block_bytes = 0}), HasSubstr("block_bytes is 0; expected 1 to "));
  EXPECT_THAT(asked(codec, {.block_bytes = std::numeric_limits<std::size_t>::max()}),
              HasSubstr("block_bytes is 1844"));
  EXPECT_EQ(asked(codec, {.depth = 0}), "depth is 0; expected 1 to 256");
  EXPECT_EQ(asked(codec, {.depth = 257}), "depth is 257; expected 1 to 256");
  EXPECT_EQ(asked(jerasure, {.block_bytes = 12}),
            "block_bytes is 12; expected a multiple of 32 as Jerasure does");
  Codec gone = codec;
  const Codec taken = std::move(gone);
  EXPECT_THAT(asked(gone, {}), HasSubstr("moved from"));
  const ReadBytes read = reading_from({}, 1);
  EXPECT_THAT(refusal(encode_stream(codec, {}, {}, storing_to(stripes))), HasSubstr("read is"));
  EXPECT_THAT(refusal(encode_stream(codec, {}, read, {})), HasSubstr("write is empty"));
  EXPECT_THAT(refusal(decode_stream(codec, {}, 0, {}, appending_to(bytes))), HasSubstr("read is"));
  EXPECT_THAT(refusal(decode_stream(codec, {}, 0, reading_blocks({}), {})), HasSubstr("write is"));
  EXPECT_THAT(refusal(StreamEncoder::create(codec, {}, {})), HasSubstr("write is empty"));
  EXPECT_THAT(refusal(StreamDecoder::create(codec, {}, 0, {})), HasSubstr("write is empty"));
}

TEST(Streams, EncodersEndWithFinish) {
  const Codec codec = *Codec::create({.data_shards = 2, .parity_shards = 1});
  std::vector<StoredStripe> stripes;
  auto encoder = *StreamEncoder::create(codec, {.block_bytes = 4}, storing_to(stripes));
  const Bytes object = random_object(9);
  ASSERT_TRUE(encoder.write(object));
  EXPECT_EQ(stripes.size(), 1U);
  EXPECT_EQ(*encoder.finish(), 9U);
  EXPECT_EQ(*encoder.finish(), 9U);
  EXPECT_EQ(stripes.size(), 2U);
  EXPECT_EQ(refusal(encoder.write(object)), "the stream is finished; create another one");
  EXPECT_EQ(*encoder.finish(), 9U);
  StreamEncoder moved = std::move(encoder);
  EXPECT_THAT(refusal(encoder.write(object)), HasSubstr("moved from"));
  EXPECT_THAT(refusal(encoder.finish()), HasSubstr("moved from"));
  EXPECT_EQ(*moved.finish(), 9U);
}

TEST(Streams, DecodersCheckTheirStripes) {
  const Codec codec = *Codec::create({.data_shards = 2, .parity_shards = 1});
  const Bytes object = random_object(11);
  const std::vector<StoredStripe> stripes = reference_stripes(codec, 4, object);
  Bytes bytes;
  auto decoder = *StreamDecoder::create(codec, {.block_bytes = 4}, 11, appending_to(bytes));
  EXPECT_EQ(decoder.block_bytes(0), 4U);
  EXPECT_EQ(decoder.block_bytes(3), 0U);
  std::vector<ConstShard> blocks = stripes[0].views();
  EXPECT_EQ(refusal(decoder.write(std::span(blocks).first(2))), "blocks has 2 entries; expected 3");
  blocks[2] = blocks[2].first(3);
  EXPECT_EQ(refusal(decoder.write(blocks)), "blocks[2] has 3 bytes; expected 4 in stripe 0");
  // Too little, and then enough.
  blocks = stripes[0].views();
  std::vector<ConstShard> few = {blocks[0], {}, {}};
  EXPECT_EQ(decoder.write(few).error().code, ErrorCode::unrecoverable);
  EXPECT_TRUE(bytes.empty());
  few[2] = blocks[2];
  ASSERT_TRUE(decoder.write(few));
  EXPECT_THAT(refusal(decoder.finish()), HasSubstr("1 of 2 stripes"));
  EXPECT_EQ(decoder.block_bytes(0), 2U);
  EXPECT_EQ(decoder.block_bytes(1), 1U);
  EXPECT_EQ(decoder.block_bytes(2), 2U);
  ASSERT_TRUE(decoder.write(stripes[1].views()));
  EXPECT_EQ(bytes, object);
  ASSERT_TRUE(decoder.finish());
  EXPECT_EQ(decoder.block_bytes(0), 0U);
  EXPECT_EQ(refusal(decoder.write(stripes[1].views())), "all 2 stripes of the object were written");
  ASSERT_TRUE(decoder.finish());
  StreamDecoder moved = std::move(decoder);
  EXPECT_THAT(refusal(decoder.write(blocks)), HasSubstr("moved from"));
  EXPECT_THAT(refusal(decoder.finish()), HasSubstr("moved from"));
  EXPECT_EQ(decoder.block_bytes(0), 0U);
}

}  // namespace
}  // namespace calpe
