// SPDX-License-Identifier: Apache-2.0
// Fails every allocation of every call of the C++ API once. The call must return out_of_memory,
// leak nothing, and work the next time. out_of_memory_c_test.cpp tests the C ABI.
#include "support/out_of_memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

#include <calpe/codec.hpp>
#include <calpe/galois.hpp>
#include <calpe/streams.hpp>

namespace calpe {
namespace {

using namespace tests;

constexpr std::int32_t ok = 0;

// A codec with an encoded stripe whose data shard 0 is damaged, and the arguments of all calls.
struct Stage {
  explicit Stage(const CodeSpec& spec, const CodecOptions& options = {},
                 std::size_t bytes = 4 * 24 * 3)
      : codec(must(Codec::create(spec, options))),
        stripe(make_stripe(codec, bytes)),
        data(stripe.data()),
        parity(stripe.parity()),
        checks(parity.begin(), parity.end()) {
    must(codec.encode(data, parity));
    stripe.shard(0)[5] ^= std::byte{1};
    for (std::size_t i = 0; i < stripe.shard_count(); ++i) {
      shards.push_back(stripe.shard(i));
      whole.push_back(stripe.shard(i));
      if (i >= lost.size()) left.push_back(static_cast<ShardIndex>(i));
    }
    for (const ConstShard& shard : data)
      input_pieces.push_back({&shard, 1});
    for (const Shard& shard : parity)
      output_pieces.push_back({&shard, 1});
  }
  Codec codec;
  FormulaStripe stripe;
  std::vector<ConstShard> data;
  std::vector<Shard> parity;
  std::vector<ConstShard> checks;  // the parity again, as inputs
  std::vector<ConstShard> shards;
  std::vector<Shard> whole;  // the same, as outputs
  std::vector<ShardIndex> lost = {0, 1};
  std::vector<ShardIndex> left;
  std::vector<ConstShardPieces> input_pieces;
  std::vector<ShardPieces> output_pieces;
};

int nothing() {
  return 0;
}

TEST(OutOfMemory, MakingCodecs) {
  for (const CodeSpec& spec : specs_tried()) {
    const std::string of = text_of(spec);
    survives("create" + of, ok, nothing, [&](int) { return code_of(Codec::create(spec)); });
    survives("prove" + of, ok, nothing, [&](int) { return code_of(prove(spec)); });
    const auto rows = must(parity_rows(spec));
    CodeSpec custom = spec;
    custom.family = CodeFamily::custom;
    custom.local_groups = 0;
    const CodecOptions options{.allow_unproven = true};
    survives("create_from_matrix" + of, ok, nothing,
             [&](int) { return code_of(Codec::create_from_matrix(custom, rows, options)); });
  }
  const CodecOptions threads{.threads = 3};
  survives("create with threads", ok, nothing, [&](int) {
    return code_of(Codec::create(bytes_of(CodeFamily::cauchy, 3, 2), threads));
  });
  survives("create unproven", number(ErrorCode::unproven), nothing, [](int) {
    return code_of(Codec::create(bytes_of(CodeFamily::vandermonde_isal, 10, 5)));
  });
  survives("create malformed", number(ErrorCode::invalid_argument), nothing,
           [](int) { return code_of(Codec::create(bytes_of(CodeFamily::raid6, 3, 3))); });
}

TEST(OutOfMemory, AskingAboutCodes) {
  const CodeSpec spec = bytes_of(CodeFamily::lrc, 6, 4, 2);
  survives("parity_rows", ok, nothing, [&](int) { return code_of(parity_rows(spec)); });
  survives("count_recoverable", ok, nothing, [&](int) { return code_of(count_recoverable(spec)); });
  survives("find_profile", number(ErrorCode::invalid_argument), nothing,
           [](int) { return code_of(find_profile("no such profile")); });
}

TEST(OutOfMemory, MakingPlans) {
  for (const CodeSpec& spec : specs_tried()) {
    const std::string of = text_of(spec);
    for (const std::size_t entries : {std::size_t{0}, std::size_t{1}, std::size_t{64}}) {
      const auto make = [&] { return Stage(spec, {.plan_cache_entries = entries}); };
      survives("plan_decode" + of, ok, make,
               [](const Stage& s) { return code_of(s.codec.plan_decode(s.left, s.lost)); });
      survives("plan_decode of too much" + of, number(ErrorCode::unrecoverable), make,
               [](const Stage& s) {
                 return code_of(s.codec.plan_decode(std::span(s.left).first(1), s.lost));
               });
      survives("plan_update" + of, ok, make,
               [](const Stage& s) { return code_of(s.codec.plan_update(1)); });
      survives("plan_partial" + of, ok, make, [](const Stage& s) {
        return code_of(s.codec.plan_partial(s.codec.plan_encode(), s.lost));
      });
    }
  }
}

TEST(OutOfMemory, DoingTheWork) {
  for (const CodeSpec& spec : specs_tried()) {
    const std::string of = text_of(spec);
    const auto make = [&] { return Stage(spec, {.threads = 2, .plan_cache_entries = 2}); };
    survives("encode" + of, ok, make,
             [](const Stage& s) { return code_of(s.codec.encode(s.data, s.parity)); });
    survives("run_batch" + of, ok, make, [](const Stage& s) {
      const std::array batch = {Stripe{.inputs = s.data, .outputs = s.parity}};
      return code_of(s.codec.run_batch(s.codec.plan_encode(), batch));
    });
    survives("run_pieces" + of, ok, make, [](const Stage& s) {
      return code_of(s.codec.run_pieces(s.codec.plan_encode(), s.input_pieces, s.output_pieces));
    });
    survives("update" + of, ok, make, [](const Stage& s) {
      const Codec::Change change{.data_index = 1, .offset = 2, .shard_bytes = s.data[0].size()};
      return code_of(s.codec.update(change, s.data[1].first(3), s.parity));
    });
    survives("update from old and new" + of, ok, make, [](const Stage& s) {
      const Codec::Change change{.data_index = 1, .offset = 2, .shard_bytes = s.data[0].size()};
      return code_of(s.codec.update(change, s.data[1].first(3), s.data[0].first(3), s.parity));
    });
    survives("rebuild" + of, ok, make,
             [](const Stage& s) { return code_of(s.codec.rebuild(s.whole, s.lost)); });
    survives("rebuild_batch" + of, ok, make, [](const Stage& s) {
      const std::array<std::span<const Shard>, 1> batch = {s.whole};
      return code_of(s.codec.rebuild_batch(batch, s.lost));
    });
    survives("verify" + of, ok, make,
             [](const Stage& s) { return code_of(s.codec.verify(s.data, s.checks)); });
    survives("locate" + of, ok, make,
             [](const Stage& s) { return code_of(s.codec.locate(s.shards)); });
  }
}

// Callbacks do not allocate. Threads that cannot be started are done without.
TEST(OutOfMemory, Streams) {
  for (const CodeSpec& spec :
       {bytes_of(CodeFamily::cauchy, 4, 2), bytes_of(CodeFamily::lrc, 4, 3, 2),
        packets_of(CodeFamily::hybrid, 4, 2)}) {
    const std::string of = text_of(spec);
    const auto make = [&] { return must(Codec::create(spec, {.plan_cache_entries = 2})); };
    const StreamOptions options{.block_bytes = 96, .depth = 2};
    constexpr std::size_t object_bytes = 1000;
    const auto write_stripe = [](const StreamStripe&) -> Status { return Done{}; };
    const auto write_bytes = [](ConstShard) -> Status { return Done{}; };
    const auto encode = [&](const Codec& codec) {
      std::size_t left = object_bytes;
      return encode_stream(
          codec, options,
          [&](Shard to) -> Result<std::size_t> {
            const std::size_t count = std::min(left, to.size());
            left -= count;
            return count;
          },
          write_stripe);
    };
    const auto decode = [&](const Codec& codec, bool loses_all) {
      return decode_stream(
          codec, options, object_bytes,
          [&](const StreamBlock& block, Shard) -> Result<bool> {
            return !loses_all && block.shard != 1;
          },
          write_bytes);
    };
    survives("encode_stream" + of, ok, make, [&](const Codec& c) { return code_of(encode(c)); });
    survives("decode_stream" + of, ok, make,
             [&](const Codec& c) { return code_of(decode(c, false)); });
    survives("decode_stream of too little" + of, number(ErrorCode::unrecoverable), make,
             [&](const Codec& c) { return code_of(decode(c, true)); });
    const std::vector<std::byte> object(object_bytes);
    survives("StreamEncoder" + of, ok, make, [&](const Codec& c) {
      auto encoder = StreamEncoder::create(c, options, write_stripe);
      if (!encoder) return code_of(encoder);
      if (const Status done = encoder->write(object); !done) return code_of(done);
      return code_of(encoder->finish());
    });
    survives("StreamDecoder" + of, ok, make, [&](const Codec& c) {
      auto decoder = StreamDecoder::create(c, options, 96, write_bytes);
      if (!decoder) return code_of(decoder);
      std::array<ConstShard, 7> blocks;
      const auto all = std::span(blocks).first(spec.data_shards + spec.parity_shards);
      for (std::size_t i = 1; i < all.size(); ++i)
        all[i] = std::span(object).first(decoder->block_bytes(static_cast<ShardIndex>(i)));
      if (const Status done = decoder->write(all); !done) return code_of(done);
      return code_of(decoder->finish());
    });
  }
}

// The reference backend allocates while it works, here on threads other than the caller's.
TEST(OutOfMemory, WorkingInAPool) {
  const auto make = [] {
    return Stage(bytes_of(CodeFamily::cauchy, 2, 2), {.backend = "reference", .threads = 2},
                 70'000);
  };
  survives("encode in a pool", ok, make,
           [](const Stage& s) { return code_of(s.codec.encode(s.data, s.parity)); });
}

// An error needs memory for its message.
TEST(OutOfMemory, RefusingWork) {
  const auto make = [] { return Stage(specs_tried().front(), {.plan_cache_entries = 0}); };
  const std::int32_t refused = number(ErrorCode::invalid_argument);
  survives("run", refused, make, [](const Stage& s) {
    return code_of(s.codec.run(s.codec.plan_encode(), std::span(s.data).first(1), s.parity));
  });
  survives("run_pieces", refused, make, [](const Stage& s) {
    return code_of(s.codec.run_pieces(s.codec.plan_encode(), {}, s.output_pieces));
  });
  survives("update", refused, make, [](const Stage& s) {
    return code_of(s.codec.update({.offset = 9, .shard_bytes = 3}, s.data[1], s.parity));
  });
  survives("verify", refused, make,
           [](const Stage& s) { return code_of(s.codec.verify(s.data, {})); });
  survives("locate", refused, make, [](const Stage& s) { return code_of(s.codec.locate({})); });
  survives("rebuild", refused, make,
           [](const Stage& s) { return code_of(s.codec.rebuild({}, {})); });
  survives("rebuild_batch", refused, make, [](const Stage& s) {
    const std::array<std::span<const Shard>, 1> batch;
    return code_of(s.codec.rebuild_batch(batch, s.lost));
  });
  survives("add", refused, make,
           [](const Stage& s) { return code_of(add(s.parity[0], s.data[0].first(3))); });
}

TEST(OutOfMemory, FieldArithmetic) {
  const auto make = [] { return must(GaloisField::create()); };
  const std::vector<std::uint16_t> matrix = {1, 2, 3, 5};
  survives("create", ok, nothing, [](int) { return code_of(GaloisField::create(5)); });
  survives("invert_matrix", ok, make,
           [&](const GaloisField& f) { return code_of(f.invert_matrix(matrix, 2)); });
  const std::int32_t refused = number(ErrorCode::invalid_argument);
  survives("create refused", refused, nothing,
           [](int) { return code_of(GaloisField::create(8, 0x100)); });
  survives("multiply refused", refused, make,
           [](const GaloisField& f) { return code_of(f.multiply(256, 1)); });
  survives("inverse refused", refused, make,
           [](const GaloisField& f) { return code_of(f.inverse(0)); });
}

}  // namespace
}  // namespace calpe
