// SPDX-License-Identifier: Apache-2.0
// Codec::prepare: the same bytes as run() for all lengths, codes and backends, and nothing behind
// the end of a shard.
#include <array>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include <calpe/codec.hpp>

#include "support/random_choice.hpp"

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t border = 64;
constexpr std::byte unwritten{0xA5};

CodeSpec spec_of(const char* profile, unsigned data, unsigned parity) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = data;
  spec.parity_shards = parity;
  return spec;
}

// Stripes of a plan. Outputs hold `unwritten` before and a border behind each shard.
struct Stripes {
  std::size_t stripe_count;
  std::vector<Bytes> from;
  std::vector<Bytes> to;
  std::vector<std::size_t> lengths;  // of the outputs
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;

  Stripes(const Codec& codec, const Plan& plan, std::size_t bytes, std::size_t count)
      : stripe_count(count) {
    conformance::Random random(bytes + count);
    const auto length = [&](ShardIndex shard) {
      return shard < codec.spec().data_shards ? bytes : codec.parity_bytes(bytes);
    };
    for (std::size_t s = 0; s < count; ++s) {
      for (const ShardIndex shard : plan.reads()) {
        from.emplace_back(length(shard));
        random.fill(from.back());
      }
      for (const ShardIndex shard : plan.writes()) {
        to.emplace_back(length(shard) + border, unwritten);
        lengths.push_back(length(shard));
      }
    }
    for (const Bytes& each : from)
      inputs.push_back(each.data());
    for (Bytes& each : to)
      outputs.push_back(each.data());
  }

  void run_each(const Codec& codec, const Plan& plan, RunOptions options) {
    const std::size_t reads = plan.reads().size();
    const std::size_t writes = plan.writes().size();
    std::vector<ConstShard> read(from.begin(), from.end());
    std::vector<Shard> written;
    for (std::size_t i = 0; i < to.size(); ++i)
      written.emplace_back(to[i].data(), lengths[i]);
    for (std::size_t s = 0; s < stripe_count; ++s) {
      ASSERT_TRUE(codec.run(plan, std::span(read).subspan(s * reads, reads),
                            std::span(written).subspan(s * writes, writes), options));
    }
  }
};

void expect_same(const Codec& codec, const Plan& plan, std::size_t bytes, RunOptions options) {
  Stripes expected(codec, plan, bytes, 3);
  expected.run_each(codec, plan, options);
  const Result<PreparedPlan> prepared = codec.prepare(plan, bytes, options);
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_EQ(prepared->shard_bytes(), bytes);

  Stripes single(codec, plan, bytes, 3);
  for (std::size_t s = 0; s < 3; ++s) {
    ASSERT_TRUE(prepared->run(single.inputs.data() + s * plan.reads().size(),
                              single.outputs.data() + s * plan.writes().size()));
  }
  EXPECT_EQ(single.to, expected.to) << bytes;
  Stripes batch(codec, plan, bytes, 3);
  ASSERT_TRUE(prepared->run_batch(3, batch.inputs.data(), batch.outputs.data()));
  EXPECT_EQ(batch.to, expected.to) << bytes;
}

Plan decode_plan(const Codec& codec, std::size_t losses) {
  std::vector<ShardIndex> lost;
  std::vector<ShardIndex> left;
  const std::size_t shards = codec.spec().data_shards + codec.spec().parity_shards;
  for (std::size_t i = 0; i < shards; ++i)
    (i < losses ? lost : left).push_back(static_cast<ShardIndex>(i));
  return *codec.plan_decode(left, lost);
}

TEST(CodecPrepare, writes_what_run_writes_at_every_length) {
  for (const auto& spec :
       {spec_of("hybrid", 4, 2), spec_of("cauchy", 10, 4), spec_of("hybrid", 6, 5)}) {
    const Codec codec = *Codec::create(spec);
    const Plan decode = decode_plan(codec, spec.parity_shards);
    for (std::size_t bytes = 0; bytes <= 330; ++bytes) {
      for (const bool accumulate : {false, true}) {
        expect_same(codec, codec.plan_encode(), bytes, {.accumulate = accumulate});
        expect_same(codec, decode, bytes, {.accumulate = accumulate});
      }
    }
  }
}

// Around the lengths at which other kernels and paths take over.
TEST(CodecPrepare, writes_what_run_writes_at_the_limits) {
  for (const auto& [data, parity] : {std::pair{2U, 1U},
                                     {4U, 2U},
                                     {5U, 5U},
                                     {8U, 8U},
                                     {16U, 5U},
                                     {20U, 10U},
                                     {40U, 3U},
                                     {3U, 14U}}) {
    const Codec codec = *Codec::create({.data_shards = data, .parity_shards = parity});
    const Plan decode = decode_plan(codec, std::min(data, parity));
    for (const std::size_t at :
         {460UL, 512UL, 614UL, 1024UL, 2340UL, 4096UL, 5461UL, 8192UL, 20000UL}) {
      for (std::size_t bytes = at - 1; bytes <= at + 1; ++bytes) {
        expect_same(codec, codec.plan_encode(), bytes, {});
        expect_same(codec, decode, bytes, {.stores = Stores::cached});
        expect_same(codec, *codec.plan_update(1), bytes, {.accumulate = true});
      }
    }
    expect_same(codec, codec.plan_encode(), 4096, {.stores = Stores::streaming});
  }
}

TEST(CodecPrepare, every_backend_and_layout_has_prepared_plans) {
  for (const BackendInfo& backend : list_backends()) {
    if (!backend.available || backend.name == "auto") continue;
    const Result<Codec> bytes =
        Codec::create(spec_of("cauchy", 5, 3), {.backend = backend.name, .threads = 2});
    if (!bytes) continue;  // a backend for one layout only
    expect_same(*bytes, bytes->plan_encode(), 333, {});
  }
  CodeSpec packets = spec_of("cauchy", 5, 3);
  packets.layout = Layout::packets;
  packets.word_bits = 4;
  packets.packet_bytes = 8;
  const Codec codec = *Codec::create(packets);
  for (std::size_t bytes = 0; bytes < 100; ++bytes)
    expect_same(codec, codec.plan_encode(), bytes, {});
}

TEST(CodecPrepare, large_batches_use_the_threads_of_the_codec) {
  const Codec codec = *Codec::create(spec_of("cauchy", 4, 2), {.threads = 4});
  Stripes expected(codec, codec.plan_encode(), 4096, 300);
  expected.run_each(codec, codec.plan_encode(), {});
  Stripes batch(codec, codec.plan_encode(), 4096, 300);
  const PreparedPlan prepared = *codec.prepare(codec.plan_encode(), 4096);
  ASSERT_TRUE(prepared.run_batch(300, batch.inputs.data(), batch.outputs.data()));
  EXPECT_EQ(batch.to, expected.to);
}

TEST(CodecPrepare, strides_may_differ_and_overlap_inputs) {
  const Codec codec = *Codec::create(spec_of("cauchy", 3, 2));
  Bytes memory(1000);
  conformance::Random(7).fill(memory);
  const PreparedPlan prepared = *codec.prepare(codec.plan_encode(), 50);
  Bytes parity(4 * 120, unwritten);
  // Neighbouring stripes read some of the same bytes.
  ASSERT_TRUE(
      prepared.run_strided(4, {.base = memory.data(), .shard_stride = 60, .stripe_stride = 90},
                           {.base = parity.data(), .shard_stride = 55, .stripe_stride = 120}));
  for (std::size_t s = 0; s < 4; ++s) {
    std::vector<ConstShard> data;
    for (std::size_t i = 0; i < 3; ++i)
      data.emplace_back(memory.data() + s * 90 + i * 60, 50);
    std::vector<Bytes> expected(2, Bytes(50));
    ASSERT_TRUE(codec.encode(data, std::vector<Shard>(expected.begin(), expected.end())));
    for (std::size_t i = 0; i < 2; ++i) {
      const auto at = parity.begin() + static_cast<std::ptrdiff_t>(s * 120 + i * 55);
      EXPECT_TRUE(std::equal(expected[i].begin(), expected[i].end(), at));
    }
    EXPECT_EQ(parity[s * 120 + 50], unwritten);
    EXPECT_EQ(parity[s * 120 + 105], unwritten);
  }
}

// Every placement of two inputs and two outputs of 3 bytes in 16: run_short() accepts only what
// run() accepts, and writes the same.
TEST(CodecRunShort, agrees_with_run_for_every_placement) {
  const Codec codec = *Codec::create(spec_of("cauchy", 2, 2));
  const std::size_t room = 16;
  const std::size_t bytes = 3;
  std::size_t accepted = 0;
  for (std::size_t places = 0; places < 14 * 14 * 14 * 14; ++places) {
    Bytes memory(room);
    conformance::Random(1).fill(memory);
    Bytes other = memory;
    const std::array at = {places % 14, places / 14 % 14, places / 196 % 14, places / 2744};
    const std::vector<const std::byte*> inputs = {&memory[at[0]], &memory[at[1]]};
    const std::vector<std::byte*> outputs = {&memory[at[2]], &memory[at[3]]};
    const std::vector<ConstShard> from = {{&other[at[0]], bytes}, {&other[at[1]], bytes}};
    const std::vector<Shard> to = {{&other[at[2]], bytes}, {&other[at[3]], bytes}};
    const Bytes before = memory;
    const bool is_done = codec.run_short(codec.plan_encode(), inputs.data(), outputs.data(), bytes);
    const bool is_valid = codec.encode(from, to).has_value();
    ASSERT_TRUE(is_valid || !is_done) << at[0] << " " << at[1] << " " << at[2] << " " << at[3];
    ASSERT_EQ(memory, is_done ? other : before);
    accepted += is_done ? 1 : 0;
  }
  EXPECT_GT(accepted, 100U);
}

TEST(CodecRunShort, leaves_everything_else_to_run) {
  const Codec codec = *Codec::create(spec_of("cauchy", 2, 1));
  Bytes memory(3 * 20000);
  std::vector<const std::byte*> inputs = {memory.data(), memory.data() + 20000};
  std::vector<std::byte*> outputs = {memory.data() + 40000};
  const auto is_taken = [&](std::size_t bytes, RunOptions options = {}) {
    return codec.run_short(codec.plan_encode(), inputs.data(), outputs.data(), bytes, options);
  };
  EXPECT_TRUE(is_taken(64));
  EXPECT_FALSE(is_taken(0));
  EXPECT_FALSE(is_taken(20000));
  EXPECT_FALSE(is_taken(~std::size_t{0}));
  EXPECT_FALSE(is_taken(64, {.stores = Stores::streaming}));
  EXPECT_FALSE(codec.run_short(codec.plan_encode(), nullptr, outputs.data(), 64));
  EXPECT_FALSE(codec.run_short(codec.plan_encode(), inputs.data(), nullptr, 64));
  EXPECT_FALSE(codec.run_short(Plan(), inputs.data(), outputs.data(), 64));
  inputs[1] = nullptr;
  EXPECT_FALSE(is_taken(64));
  inputs[1] = memory.data();
  outputs[0] = nullptr;
  EXPECT_FALSE(is_taken(64));
}

TEST(CodecPrepare, outlives_codec_and_plan) {
  PreparedPlan prepared;
  std::vector<const std::byte*> inputs(2);
  std::vector<std::byte*> outputs(1);
  const Bytes data(64, std::byte{3});
  Bytes parity(64);
  inputs = {data.data(), data.data()};
  outputs = {parity.data()};
  EXPECT_EQ(prepared.run(inputs.data(), outputs.data()).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(prepared.run_strided(1, {}, {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(prepared.shard_bytes(), 0U);
  {
    const Codec codec = *Codec::create({.data_shards = 2, .parity_shards = 1});
    prepared = *codec.prepare(codec.plan_encode(), 64);
  }
  const PreparedPlan moved = std::move(prepared);
  ASSERT_TRUE(prepared.run(inputs.data(), outputs.data()));  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(parity, Bytes(64));
  ASSERT_TRUE(moved.run(inputs.data(), outputs.data()));
}

TEST(CodecPrepare, refuses_lengths_and_plans_that_do_not_fit) {
  const Codec codec = *Codec::create({.data_shards = 4, .parity_shards = 2});
  EXPECT_EQ(codec.prepare(codec.plan_encode(), ~std::size_t{0}).error().code,
            ErrorCode::invalid_argument);
  const Codec other = *Codec::create({.data_shards = 5, .parity_shards = 2});
  EXPECT_EQ(codec.prepare(other.plan_encode(), 64).error().code, ErrorCode::invalid_argument);
  const Codec jerasure = *Codec::create(spec_of("cauchy-good", 4, 2));
  EXPECT_EQ(jerasure.prepare(jerasure.plan_encode(), 64 + 1).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace calpe
