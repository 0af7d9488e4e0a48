// SPDX-License-Identifier: Apache-2.0
// The contract of codec.hpp: once the plan exists, the working calls do not allocate, on the
// caller's thread and with a pool, from C++ and from C.
#include <algorithm>
#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <calpe/calpe.h>
#include <calpe/codec.hpp>
#include <calpe/streams.hpp>

#include "support/out_of_memory.hpp"

namespace calpe {
namespace {

using namespace tests;

// Calls once to warm up, then counts.
template <class Call>
void allocates_nothing(const std::string& what, const Call& call) {
  ASSERT_EQ(call(), 0) << what;
  const long before = allocations::total;
  const std::int32_t code = call();
  const long after = allocations::total;
  EXPECT_EQ(code, 0) << what;
  EXPECT_EQ(after - before, 0) << what;
}

// Long enough for a pool to divide the work, and not a multiple of anything if allowed.
std::size_t length_for(const Codec& codec) {
  return codec.shard_bytes_multiple() == 1 ? 100'003 : codec.shard_bytes_multiple() * 1000;
}

class NoAllocation : public testing::TestWithParam<unsigned> {};

TEST_P(NoAllocation, Cpp) {
  for (const CodeSpec& spec : specs_tried()) {
    const Codec codec = must(Codec::create(spec, {.threads = GetParam()}));
    const std::string of = text_of(spec);
    const FormulaStripe stripe = make_stripe(codec, length_for(codec));
    const auto data = stripe.data();
    const auto parity = stripe.parity();
    allocates_nothing("encode" + of, [&] { return code_of(codec.encode(data, parity)); });

    const std::vector<ShardIndex> lost = {0, 1};
    std::vector<ShardIndex> left;
    for (std::size_t i = 2; i < stripe.shard_count(); ++i)
      left.push_back(static_cast<ShardIndex>(i));
    allocates_nothing("plan_decode from the cache" + of,
                      [&] { return code_of(codec.plan_decode(left, lost)); });
    const Plan plan = must(codec.plan_decode(left, lost));
    const FormulaStripe elsewhere = make_stripe(codec, length_for(codec));
    const std::vector<Shard> rebuilt = {elsewhere.shard(0), elsewhere.shard(1)};
    std::vector<ConstShard> survivors;
    for (const ShardIndex i : plan.reads())
      survivors.push_back(stripe.shard(i));
    allocates_nothing("decode" + of,
                      [&] { return code_of(codec.decode(plan, survivors, rebuilt)); });
    allocates_nothing("run" + of, [&] {
      return code_of(codec.run(plan, survivors, rebuilt, {.accumulate = true}));
    });
    const Stripe one{.inputs = survivors, .outputs = rebuilt};
    const std::vector<Stripe> batch(100, one);
    allocates_nothing("run_batch" + of, [&] { return code_of(codec.run_batch(plan, batch)); });
    std::vector<Shard> whole = {rebuilt[0], rebuilt[1]};
    for (const ShardIndex i : left)
      whole.push_back(stripe.shard(i));
    allocates_nothing("rebuild" + of, [&] { return code_of(codec.rebuild(whole, lost)); });
    const std::vector<std::span<const Shard>> stripes(100, whole);
    allocates_nothing("rebuild_batch" + of,
                      [&] { return code_of(codec.rebuild_batch(stripes, lost)); });
    const Codec::Change change{.data_index = 1, .offset = 5, .shard_bytes = data[0].size()};
    allocates_nothing("update" + of, [&] {
      return code_of(codec.update(change, data[1].first(data[1].size() - 9), parity));
    });
    allocates_nothing("update from old and new" + of, [&] {
      const std::size_t changed = data[1].size() - 9;
      return code_of(codec.update(change, data[1].first(changed), data[0].first(changed), parity));
    });
    std::vector<ConstShardPieces> in;
    std::vector<ShardPieces> out;
    for (const ConstShard& shard : survivors)
      in.push_back({&shard, 1});
    for (const Shard& shard : rebuilt)
      out.push_back({&shard, 1});
    allocates_nothing("run_pieces" + of, [&] { return code_of(codec.run_pieces(plan, in, out)); });
    allocates_nothing("add" + of, [&] { return code_of(add(rebuilt[0], survivors[0])); });
    // The last shards of the object are short and empty.
    const std::size_t shard_bytes = data[0].size();
    std::vector<std::byte> object(shard_bytes * (data.size() - 2) + 7);
    const std::vector<ConstShard> read(parity.begin(), parity.end());
    allocates_nothing("encode_object" + of,
                      [&] { return code_of(codec.encode_object(object, shard_bytes, parity)); });
    allocates_nothing("decode_object" + of, [&] {
      return code_of(codec.decode_object(plan, object, shard_bytes, read));
    });
  }
}

// A stream allocates at its start: ten times as many stripes need no more.
TEST_P(NoAllocation, StripesOfStreams) {
  for (const CodeSpec& spec : specs_tried()) {
    const Codec codec = must(Codec::create(spec, {.threads = GetParam()}));
    const std::size_t block_bytes = codec.shard_bytes_multiple() * 100;
    const std::size_t stripe_bytes = block_bytes * spec.data_shards;
    for (const unsigned depth : {1U, 3U}) {
      const StreamOptions options{.block_bytes = block_bytes, .depth = depth};
      const auto encode = [&](std::size_t stripes) {
        std::size_t left = stripes * stripe_bytes + 5;
        const long before = allocations::total;
        must(encode_stream(
            codec, options,
            [&](Shard to) -> Result<std::size_t> {
              const std::size_t count = std::min(left, to.size());
              left -= count;
              return count;
            },
            [](const StreamStripe&) -> Status { return Done{}; }));
        return allocations::total - before;
      };
      const auto decode = [&](std::size_t stripes) {
        const long before = allocations::total;
        must(decode_stream(
            codec, options, stripes * stripe_bytes + 5,
            [](const StreamBlock& block, Shard) -> Result<bool> { return block.shard != 0; },
            [](ConstShard) -> Status { return Done{}; }));
        return allocations::total - before;
      };
      decode(5);  // plans
      EXPECT_EQ(encode(50), encode(5)) << text_of(spec) << ", depth " << depth;
      EXPECT_EQ(decode(50), decode(5)) << text_of(spec) << ", depth " << depth;
    }
    const std::vector<std::byte> object(2 * stripe_bytes);
    auto encoder = must(StreamEncoder::create(
        codec, {.block_bytes = block_bytes}, [](const StreamStripe&) -> Status { return Done{}; }));
    allocates_nothing("StreamEncoder::write" + text_of(spec),
                      [&] { return code_of(encoder.write(std::span(object).subspan(1))); });
    auto decoder = must(StreamDecoder::create(codec, {.block_bytes = block_bytes}, 9 * stripe_bytes,
                                              [](ConstShard) -> Status { return Done{}; }));
    std::vector<ConstShard> blocks(spec.data_shards + spec.parity_shards);
    for (std::size_t i = 1; i < blocks.size(); ++i)
      blocks[i] = std::span(object).first(decoder.block_bytes(static_cast<ShardIndex>(i)));
    allocates_nothing("StreamDecoder::write" + text_of(spec),
                      [&] { return code_of(decoder.write(blocks)); });
  }
}

TEST_P(NoAllocation, C) {
  constexpr std::size_t bytes = 100'003;
  constexpr std::array<std::uint32_t, 2> layouts = {CALPE_LAYOUT_BYTES, CALPE_LAYOUT_PACKETS};
  for (const std::uint32_t layout : layouts) {
    calpe_spec spec{};
    spec.struct_size = sizeof spec;
    spec.family = CALPE_FAMILY_CAUCHY;
    spec.layout = layout;
    spec.data_shards = 3;
    spec.parity_shards = 2;
    calpe_options options{};
    options.struct_size = sizeof options;
    options.threads = GetParam();
    calpe_codec* codec = nullptr;
    ASSERT_EQ(calpe_codec_create(&spec, &options, &codec, nullptr), CALPE_OK);
    std::vector<std::vector<std::byte>> memory(7, std::vector<std::byte>(bytes + 8, std::byte{3}));
    const std::array<void*, 3> data = {memory[0].data(), memory[1].data(), memory[2].data()};
    const std::array<void*, 2> parity = {memory[3].data(), memory[4].data()};
    calpe_error error;
    allocates_nothing("calpe_encode", [&] {
      return calpe_encode(codec, data.data(), parity.data(), bytes, &error);
    });
    const std::array<std::uint16_t, 3> left = {2, 3, 4};
    const std::array<std::uint16_t, 2> lost = {0, 1};
    calpe_plan* plan = nullptr;
    ASSERT_EQ(calpe_plan_decode(codec, left.data(), 3, lost.data(), 2, nullptr, &plan, &error),
              CALPE_OK);
    const std::array<const void*, 3> in = {data[2], parity[0], parity[1]};
    const std::array<void*, 2> out = {memory[5].data(), memory[6].data()};
    allocates_nothing("calpe_decode", [&] {
      return calpe_decode(codec, plan, in.data(), out.data(), bytes, &error);
    });
    allocates_nothing("calpe_run", [&] {
      return calpe_run(codec, plan, in.data(), out.data(), bytes, CALPE_RUN_ACCUMULATE, &error);
    });
    const std::array<void*, 5> lossy = {out[0], out[1], data[2], parity[0], parity[1]};
    const std::array<std::uint8_t, 5> present = {0, 0, 1, 1, 1};
    allocates_nothing("calpe_rebuild", [&] {
      return calpe_rebuild(codec, lossy.data(), present.data(), bytes, 0, &error);
    });
    const std::vector<calpe_stripe> stripes(100, {in.data(), out.data(), bytes});
    allocates_nothing("calpe_run_batch", [&] {
      return calpe_run_batch(codec, plan, stripes.data(), stripes.size(), 0, &error);
    });
    allocates_nothing("calpe_update", [&] {
      return calpe_update(codec, 1, 5, memory[0].data(), bytes - 9, nullptr, 0, parity.data(),
                          bytes, &error);
    });
    allocates_nothing("calpe_update_from", [&] {
      return calpe_update_from(codec, 1, 5, memory[0].data(), memory[1].data(), bytes - 9, nullptr,
                               0, parity.data(), bytes, &error);
    });
    std::vector<std::byte> object(bytes + 7);
    allocates_nothing("calpe_encode_object", [&] {
      return calpe_encode_object(codec, object.data(), object.size(), parity.data(), bytes, &error);
    });
    const std::array<const void*, 2> checks = {parity[0], parity[1]};
    allocates_nothing("calpe_decode_object", [&] {
      return calpe_decode_object(codec, plan, object.data(), object.size(), checks.data(), bytes,
                                 &error);
    });
    allocates_nothing("calpe_add", [&] { return calpe_add(out[0], in[0], bytes, &error); });
    std::array<calpe_const_piece, 3> read = {};
    std::array<calpe_const_pieces, 3> from = {};
    for (std::size_t i = 0; i < read.size(); ++i) {  // shard 2 and two parities
      read[i] = {memory[i + 2].data(), i == 0 ? bytes : calpe_parity_bytes(codec, bytes)};
      from[i] = {&read[i], 1};
    }
    std::array<calpe_piece, 2> written = {};  // the rebuilt data
    std::array<calpe_pieces, 2> to = {};
    for (std::size_t i = 0; i < written.size(); ++i) {
      written[i] = {memory[i + 5].data(), bytes};
      to[i] = {&written[i], 1};
    }
    allocates_nothing("calpe_run_pieces", [&] {
      return calpe_run_pieces(codec, plan, from.data(), to.data(), 0, &error);
    });
    calpe_plan_destroy(plan);
    calpe_codec_destroy(codec);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, NoAllocation, testing::Values(1U, 3U));

}  // namespace
}  // namespace calpe
