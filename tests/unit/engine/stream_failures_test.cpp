// SPDX-License-Identifier: Apache-2.0
// Callbacks of streams that fail or throw at every call: the stream stops, and the result is that
// error, after all stripes before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

#include <calpe/streams.hpp>

#include "support/stream_stripes.hpp"

namespace calpe {
namespace {

using namespace tests;
using testing::HasSubstr;

enum class How { returns, throws };

// Counts the calls of a callback. Call number `at` fails, and no further call may come.
struct Trap {
  std::size_t at = 0;
  How how = How::returns;
  std::size_t calls = 0;

  Status spring() {
    EXPECT_LE(calls, at) << "called after its failure";
    if (calls++ != at) return Done{};
    if (how == How::throws) throw std::runtime_error("trap");
    return Error{ErrorCode::io, "trap"};
  }
  bool has_sprung() const { return calls > at; }
};

// Returns "trap" for both ways to fail.
template <class Call>
std::string outcome_of(const Call& call) {
  try {
    const auto done = call();
    EXPECT_TRUE(done || done.error().code == ErrorCode::io);
    return done ? "done" : done.error().message;
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

struct Stage {
  Codec codec = *Codec::create({.data_shards = 3, .parity_shards = 2});
  Bytes object = random_object(3 * 8 * 5 + 7);
  std::vector<StoredStripe> whole = reference_stripes(codec, 8, object);
  std::vector<StoredStripe> stripes = whole;

  // Parity is read in some stripes.
  Stage() {
    lose_blocks(stripes[1], 0b00101);
    lose_blocks(stripes[4], 0b01010);
  }
};

// Calls run(trap, depth) with a trap at every call, until it is not reached any more.
template <class Run>
void spring_everywhere(const Run& run) {
  for (const How how : {How::returns, How::throws}) {
    for (const unsigned depth : {1U, 2U, 4U}) {
      std::size_t sprung = 0;
      for (std::size_t at = 0;; ++at) {
        Trap trap{.at = at, .how = how};
        const std::string outcome = run(trap, depth);
        ASSERT_EQ(outcome, trap.has_sprung() ? "trap" : "done") << at << ", depth " << depth;
        if (!trap.has_sprung()) break;
        ++sprung;
      }
      EXPECT_GE(sprung, 6U);
    }
  }
}

bool begins_with(const Bytes& whole, const Bytes& part) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

TEST(StreamFailures, OfReadingBytes) {
  const Stage stage;
  spring_everywhere([&](Trap& trap, unsigned depth) {
    std::vector<StoredStripe> stripes;
    const ReadBytes from = reading_from(stage.object, 5);
    const ReadBytes read = [&](Shard to) -> Result<std::size_t> {
      if (Status done = trap.spring(); !done) return done.error();
      return from(to);
    };
    const std::string outcome = outcome_of([&] {
      return encode_stream(stage.codec, {.block_bytes = 8, .depth = depth}, read,
                           storing_to(stripes));
    });
    const std::size_t whole_stripes = std::min<std::size_t>(trap.at / 5, 5);  // 5 calls for each
    EXPECT_EQ(stripes.size(), outcome == "done" ? 6 : whole_stripes);
    stripes.resize(std::min(stripes.size(), stage.whole.size()));
    EXPECT_TRUE(std::equal(stripes.begin(), stripes.end(), stage.whole.begin()));
    return outcome;
  });
}

TEST(StreamFailures, OfWritingStripes) {
  const Stage stage;
  spring_everywhere([&](Trap& trap, unsigned depth) {
    std::vector<StoredStripe> stripes;
    const WriteStripe store = storing_to(stripes);
    const std::string outcome = outcome_of([&] {
      return encode_stream(stage.codec, {.block_bytes = 8, .depth = depth},
                           reading_from(stage.object, 5),
                           [&](const StreamStripe& stripe) -> Status {
                             if (Status done = trap.spring(); !done) return done;
                             return store(stripe);
                           });
    });
    EXPECT_EQ(stripes.size(), std::min<std::size_t>(trap.at, 6));
    return outcome;
  });
}

TEST(StreamFailures, OfReadingBlocks) {
  const Stage stage;
  spring_everywhere([&](Trap& trap, unsigned depth) {
    Bytes bytes;
    const ReadBlock from = reading_blocks(stage.stripes);
    const std::string outcome = outcome_of([&] {
      return decode_stream(
          stage.codec, {.block_bytes = 8, .depth = depth}, stage.object.size(),
          [&](const StreamBlock& block, Shard to) -> Result<bool> {
            if (Status done = trap.spring(); !done) return done.error();
            return from(block, to);
          },
          appending_to(bytes));
    });
    EXPECT_TRUE(begins_with(stage.object, bytes));
    EXPECT_EQ(bytes == stage.object, outcome == "done");
    return outcome;
  });
}

TEST(StreamFailures, OfWritingBytes) {
  const Stage stage;
  spring_everywhere([&](Trap& trap, unsigned depth) {
    Bytes bytes;
    const WriteBytes append = appending_to(bytes);
    const std::string outcome = outcome_of([&] {
      return decode_stream(stage.codec, {.block_bytes = 8, .depth = depth}, stage.object.size(),
                           reading_blocks(stage.stripes), [&](ConstShard some) -> Status {
                             if (Status done = trap.spring(); !done) return done;
                             return append(some);
                           });
    });
    EXPECT_EQ(bytes.size(), std::min(trap.at * 24, stage.object.size()));
    EXPECT_TRUE(begins_with(stage.object, bytes));
    return outcome;
  });
}

TEST(StreamFailures, OfEncodersThatArePushed) {
  const Stage stage;
  spring_everywhere([&](Trap& trap, unsigned) {
    std::vector<StoredStripe> stripes;
    const WriteStripe store = storing_to(stripes);
    auto encoder = *StreamEncoder::create(stage.codec, {.block_bytes = 8},
                                          [&](const StreamStripe& stripe) -> Status {
                                            if (Status done = trap.spring(); !done) return done;
                                            return store(stripe);
                                          });
    const std::string outcome = outcome_of([&]() -> Result<std::uint64_t> {
      if (Status done = encoder.write(stage.object); !done) return done.error();
      return encoder.finish();
    });
    if (outcome == "trap") {  // and remains so
      EXPECT_FALSE(encoder.write(stage.object));
      EXPECT_FALSE(encoder.finish());
      EXPECT_THAT(encoder.finish().error().message,
                  trap.how == How::throws ? HasSubstr("its function threw") : HasSubstr("trap"));
    }
    EXPECT_EQ(stripes.size(), std::min<std::size_t>(trap.at, 6));
    return outcome;
  });
}

TEST(StreamFailures, OfDecodersThatArePushed) {
  const Stage stage;
  spring_everywhere([&](Trap& trap, unsigned) {
    Bytes bytes;
    const WriteBytes append = appending_to(bytes);
    auto decoder = *StreamDecoder::create(stage.codec, {.block_bytes = 8}, stage.object.size(),
                                          [&](ConstShard some) -> Status {
                                            if (Status done = trap.spring(); !done) return done;
                                            return append(some);
                                          });
    const std::string outcome = outcome_of([&]() -> Status {
      for (const StoredStripe& stripe : stage.stripes)
        if (Status done = decoder.write(stripe.views()); !done) return done;
      return decoder.finish();
    });
    if (outcome == "trap") {
      EXPECT_FALSE(decoder.write(stage.stripes[0].views()));
      EXPECT_FALSE(decoder.finish());
    }
    EXPECT_TRUE(begins_with(stage.object, bytes));
    return outcome;
  });
}

TEST(StreamFailures, OfAReaderThatReturnsTooMuch) {
  const Stage stage;
  for (const unsigned depth : {1U, 3U}) {
    std::vector<StoredStripe> stripes;
    const auto done = encode_stream(
        stage.codec, {.block_bytes = 8, .depth = depth},
        [](Shard to) -> Result<std::size_t> { return to.size() + 1; }, storing_to(stripes));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(done.error().message, "read returned 25 bytes; expected at most 24");
    EXPECT_TRUE(stripes.empty());
  }
}

TEST(StreamFailures, OfACallbackThatUsesItsStream) {
  const Stage stage;
  StreamEncoder* own = nullptr;
  std::string refused;
  auto encoder =
      *StreamEncoder::create(stage.codec, {.block_bytes = 8}, [&](const StreamStripe&) -> Status {
        const Status done = own->write({});
        if (!done) refused = done.error().message;
        return Done{};
      });
  own = &encoder;
  ASSERT_TRUE(encoder.write(stage.object));
  EXPECT_THAT(refused, HasSubstr("or calls the stream"));
  EXPECT_TRUE(encoder.finish());
}

}  // namespace
}  // namespace calpe
