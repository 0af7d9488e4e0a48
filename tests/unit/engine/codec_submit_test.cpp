// SPDX-License-Identifier: Apache-2.0
// Batches and asynchronous work through the public API, on the CPU and on several devices at once.
#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <random>

#include <calpe/codec.hpp>

#include "support/environment_scope.hpp"
#include "support/log_lines.hpp"

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;

// Stripes of the given lengths, with buffers for parity.
struct Stripes {
  Stripes(const Codec& codec, std::span<const std::size_t> lengths) {
    std::mt19937 rng(11);
    const CodeSpec& spec = codec.spec();
    shards.resize(lengths.size());
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      for (unsigned i = 0; i < spec.data_shards; ++i) {
        Bytes& shard = shards[s].emplace_back(lengths[s]);
        std::ranges::generate(shard, [&] { return std::byte(rng()); });
      }
      for (unsigned i = 0; i < spec.parity_shards; ++i)
        shards[s].emplace_back(codec.parity_bytes(lengths[s]));
    }
    inputs.resize(lengths.size());
    outputs.resize(lengths.size());
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      for (unsigned i = 0; i < shards[s].size(); ++i) {
        if (i < spec.data_shards) {
          inputs[s].emplace_back(shards[s][i]);
        } else {
          outputs[s].emplace_back(shards[s][i]);
        }
      }
      list.push_back({.inputs = inputs[s], .outputs = outputs[s]});
    }
  }
  std::vector<std::vector<Bytes>> shards;
  std::vector<std::vector<ConstShard>> inputs;
  std::vector<std::vector<Shard>> outputs;
  std::vector<Stripe> list;
};

CodeSpec spec_of(Layout layout) {
  CodeSpec spec = *find_profile("cauchy");
  spec.layout = layout;
  spec.data_shards = 5;
  spec.parity_shards = 3;
  if (layout == Layout::packets) spec.packet_bytes = 64;
  return spec;
}

// Whole groups, ragged ends, empty shards, and many of one length that are not adjacent.
std::vector<std::size_t> mixed_lengths() {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 300; ++i)
    lengths.push_back(std::vector<std::size_t>{1000, 512, 0, 17, 4096}[i % 5]);
  return lengths;
}

class CodecSubmit : public testing::TestWithParam<std::tuple<Layout, const char*>> {
 protected:
  Codec codec() const {
    return *Codec::create(spec_of(std::get<0>(GetParam())), {.backend = std::get<1>(GetParam())});
  }
  std::vector<std::vector<Bytes>> expected(std::span<const std::size_t> lengths) const {
    const Codec reference =
        *Codec::create(spec_of(std::get<0>(GetParam())), {.backend = "reference"});
    Stripes stripes(reference, lengths);
    for (std::size_t s = 0; s < lengths.size(); ++s)
      EXPECT_TRUE(reference.encode(stripes.inputs[s], stripes.outputs[s]));
    return stripes.shards;
  }
};

TEST_P(CodecSubmit, WritesWhatEncodeWrites) {
  const Codec c = codec();
  EXPECT_EQ(c.runs_on_caller(), c.backend().find('+') == std::string_view::npos);
  const auto lengths = mixed_lengths();
  const auto right = expected(lengths);
  Stripes stripes(c, lengths);
  Result<Pending> pending = c.submit(c.plan_encode(), stripes.list);
  ASSERT_TRUE(pending);
  EXPECT_TRUE(pending->wait());
  EXPECT_TRUE(pending->wait());  // further calls return the same result
  EXPECT_EQ(stripes.shards, right);

  Stripes batch(c, lengths);
  EXPECT_TRUE(c.run_batch(c.plan_encode(), batch.list));
  EXPECT_EQ(batch.shards, right);
  // Adding it twice cancels out.
  EXPECT_TRUE(c.run_batch(c.plan_encode(), batch.list, {.accumulate = true}));
  EXPECT_TRUE(c.run_batch(c.plan_encode(), batch.list, {.accumulate = true}));
  EXPECT_EQ(batch.shards, right);
}

TEST_P(CodecSubmit, OutlivesCodecAndWaitsWhenDropped) {
  const auto lengths = mixed_lengths();
  const auto right = expected(lengths);
  std::optional<Codec> c = codec();
  Stripes first(*c, lengths);
  Stripes second(*c, lengths);
  {
    Pending kept = *c->submit(c->plan_encode(), first.list);
    kept = *c->submit(c->plan_encode(), second.list);  // waits for the first
    EXPECT_EQ(first.shards, right);
    second.list.clear();
    c.reset();
  }
  EXPECT_EQ(second.shards, right);
}

TEST_P(CodecSubmit, RefusesAtOnce) {
  const Codec c = codec();
  const std::vector<std::size_t> lengths = {100, 100};
  Stripes stripes(c, lengths);
  stripes.list[1].outputs = stripes.list[1].outputs.first(1);
  const auto refused = c.submit(c.plan_encode(), stripes.list);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(c.submit(c.plan_encode(), {})->wait());
}

TEST_P(CodecSubmit, EveryCallWorks) {
  const Codec c = codec();
  const std::vector<std::size_t> lengths = {3000};
  Stripes stripes(c, lengths);
  ASSERT_TRUE(c.encode(stripes.inputs[0], stripes.outputs[0]));
  EXPECT_EQ(stripes.shards, expected(lengths));
  const std::vector<ConstShard> parity(stripes.outputs[0].begin(), stripes.outputs[0].end());
  EXPECT_TRUE(c.verify(stripes.inputs[0], parity)->empty());
  stripes.shards[0][6][5] ^= std::byte{1};
  EXPECT_EQ(*c.verify(stripes.inputs[0], parity), (std::vector<ShardIndex>{6}));
  stripes.shards[0][6][5] ^= std::byte{1};

  const std::vector<ShardIndex> left = {1, 2, 4, 5, 7};
  const std::vector<ShardIndex> lost = {0, 3, 6};
  const Plan plan = *c.plan_decode(left, lost);
  std::vector<ConstShard> survivors;
  for (const ShardIndex i : left)
    survivors.emplace_back(stripes.shards[0][i]);
  std::vector<Bytes> rebuilt;
  std::vector<Shard> out;
  for (const ShardIndex i : lost)
    rebuilt.emplace_back(stripes.shards[0][i].size());
  for (Bytes& shard : rebuilt)
    out.emplace_back(shard);
  ASSERT_TRUE(c.decode(plan, survivors, out));
  for (std::size_t i = 0; i < lost.size(); ++i)
    EXPECT_EQ(rebuilt[i], stripes.shards[0][lost[i]]);

  const Bytes change(100, std::byte{0x33});
  for (std::size_t i = 0; i < 100; ++i)
    stripes.shards[0][2][500 + i] ^= change[i];
  EXPECT_TRUE(
      c.update({.data_index = 2, .offset = 500, .shard_bytes = 3000}, change, stripes.outputs[0]));
  EXPECT_TRUE(c.verify(stripes.inputs[0], parity)->empty());
}

INSTANTIATE_TEST_SUITE_P(Backends, CodecSubmit,
                         testing::Combine(testing::Values(Layout::bytes, Layout::packets),
                                          testing::Values("auto", "cpu+reference",
                                                          "reference+cpu+auto")));

TEST(LogHandler, IsCalledUntilItIsReplaced) {
  std::vector<std::string> lines;
  set_log_handler(
      [](const char* line, void* user) {
        static_cast<std::vector<std::string>*>(user)->emplace_back(line);
      },
      &lines);
  logging::write("first");
  set_log_handler(nullptr, nullptr);
  testing::internal::CaptureStderr();
  logging::write("second");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(lines, std::vector<std::string>{"first"});
}

TEST(LogHandlerDeathTest, EnvironmentAsksForStderr) {
  EXPECT_EXIT(
      {
        const tests::EnvironmentScope to_stderr("CALPE_LOG", "stderr");
        logging::write("told");
        std::exit(0);
      },
      testing::ExitedWithCode(0), "calpe: told");
}

}  // namespace
}  // namespace calpe
