// SPDX-License-Identifier: Apache-2.0
// A device that fails at any part of the work: the error is returned, and no further work is
// submitted.
#include "engine/run/executor.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <utility>

#include "code/code.hpp"
#include "engine/compile.hpp"
#include "support/unruly_device.hpp"

namespace calpe::engine {
namespace {

using tests::Behaviour;
using tests::UnrulyDevice;
using Bytes = std::vector<std::byte>;

CodeSpec packets_3_2() {
  CodeSpec spec = *find_profile("cauchy");
  spec.data_shards = 3;
  spec.parity_shards = 2;
  spec.layout = Layout::packets;
  spec.word_bits = 4;
  spec.packet_bytes = 8;
  return spec;
}

CodeSpec bytes_3_2() {
  CodeSpec spec = *find_profile("cauchy");
  spec.data_shards = 3;
  spec.parity_shards = 2;
  return spec;
}

// Two stripes of 3+2 on a device with injected behaviour.
struct Trial {
  Trial(const CodeSpec& spec, std::size_t data_bytes, unsigned fail_at, ThreadPool* pool = nullptr)
      : code(*code::make_code(spec)),
        lengths{.data = data_bytes, .parity = parity_length(code.spec, data_bytes)},
        device(*backend::open_device("cpu"), behaviour),
        recipe(plan::encode_recipe(code)),
        executor(code.spec, device, pool) {
    behaviour->runs_on_caller = true;
    behaviour->fail_submit_at = fail_at;
    kernel = *compile(code, recipe, device, Effort::fast);
    task = {.kernel = kernel.get(), .reads = recipe.reads, .writes = recipe.writes};
    for (std::size_t i = 0; i < 6; ++i) {
      data.emplace_back(lengths.data, static_cast<std::byte>(17 * i + 3));
      std::iota(reinterpret_cast<unsigned char*>(data[i].data()),
                reinterpret_cast<unsigned char*>(data[i].data() + data[i].size()),
                static_cast<unsigned char>(i));
      inputs.push_back(data[i].data());
    }
    parity.assign(4, Bytes(lengths.parity));
    for (Bytes& shard : parity)
      outputs.push_back(shard.data());
  }
  StripePointers stripes() const {
    return {.inputs = inputs.data(), .outputs = outputs.data(), .lengths = lengths};
  }

  std::shared_ptr<Behaviour> behaviour = std::make_shared<Behaviour>();
  code::Code code;
  ShardLengths lengths;
  UnrulyDevice device;
  plan::Recipe recipe;
  Executor executor;
  backend::KernelRef kernel;
  Task task;
  std::vector<Bytes> data;
  std::vector<Bytes> parity;
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
};

// The first stripe, with each shard cut at `cut`.
Status run_in_pieces(Trial& trial, std::size_t cut) {
  std::vector<std::vector<ConstShard>> in;
  std::vector<std::vector<Shard>> out;
  for (std::size_t i = 0; i < 3; ++i) {
    const ConstShard whole(trial.data[i]);
    in.push_back({whole.first(cut + i), whole.subspan(cut + i)});
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const Shard whole(trial.parity[i]);
    out.push_back({whole.first(cut), Shard(), whole.subspan(cut)});
  }
  const std::vector<ConstShardPieces> inputs(in.begin(), in.end());
  const std::vector<ShardPieces> written(out.begin(), out.end());
  return trial.executor.run_pieces(trial.task, inputs, written, trial.lengths);
}

// Changes data shard 1 of the first stripe.
Status run_change(Trial& trial, ConstShard delta, std::size_t offset) {
  const plan::Recipe one = *plan::update_recipe(trial.code, 1, {}, 1);
  const auto kernel = *compile(trial.code, one, trial.device, Effort::fast);
  const Task task = {
      .kernel = kernel.get(), .reads = one.reads, .writes = one.writes, .accumulate = true};
  const std::vector<Shard> shards = {Shard(trial.parity[0]), Shard(trial.parity[1])};
  const std::vector<ShardPieces> outputs = {ShardPieces(&shards[0], 1), ShardPieces(&shards[1], 1)};
  return trial.executor.run_change(task, delta, offset, outputs, trial.lengths);
}

// From the middle of the first group to the ragged end.
Status run_one_change(Trial& trial) {
  return run_change(trial, ConstShard(trial.data[1]).subspan(20), 20);
}

// Runs without a failure, then with the first, second, .. submit failing.
void expect_each_failure_told(const CodeSpec& spec, std::size_t data_bytes, unsigned submits,
                              const std::function<Status(Trial&)>& run) {
  Trial sound(spec, data_bytes, Behaviour::never);
  ASSERT_TRUE(run(sound).has_value());
  ASSERT_EQ(sound.behaviour->submits, submits);
  for (unsigned at = 0; at < submits; ++at) {
    Trial trial(spec, data_bytes, at);
    const Status done = run(trial);
    ASSERT_FALSE(done.has_value()) << at;
    EXPECT_EQ(done.error().code, ErrorCode::device_failed);
    EXPECT_EQ(done.error().message, "injected at submit " + std::to_string(at));
    EXPECT_EQ(trial.behaviour->submits, at + 1) << "it continued after the error";
  }
}

// 75 bytes: two groups of 4 x 8, then 11 bytes: packets of 3, of which 2 columns are in all shards.
constexpr std::size_t ragged_bytes = 75;

TEST(Executor, EveryRegionOfPacketsMayFail) {
  // Whole groups and last group of both stripes at once, ragged columns stripe by stripe.
  expect_each_failure_told(packets_3_2(), ragged_bytes, 4, [](Trial& trial) {
    return trial.executor.run_equal(trial.task, 2, trial.stripes());
  });
}

TEST(Executor, EveryStagedBlockMayFail) {
  // Each group is a block; the last one has two parts.
  expect_each_failure_told(packets_3_2(), ragged_bytes, 4,
                           [](Trial& trial) { return run_in_pieces(trial, 30); });
  expect_each_failure_told(packets_3_2(), ragged_bytes, 4, run_one_change);
}

TEST(Executor, EveryRunOfPiecesMayFail) {
  // Cuts at 30, 31 and 32 of the inputs, and at 30 of the outputs.
  expect_each_failure_told(bytes_3_2(), ragged_bytes, 4,
                           [](Trial& trial) { return run_in_pieces(trial, 30); });
}

TEST(Executor, PiecesGiveTheBytesOfWholeShards) {
  for (const CodeSpec& spec : {packets_3_2(), bytes_3_2()}) {
    Trial whole(spec, ragged_bytes, Behaviour::never);
    ASSERT_TRUE(whole.executor.run(whole.task, whole.stripes()).has_value());
    for (std::size_t cut = 1; cut < ragged_bytes - 2; ++cut) {
      Trial pieces(spec, ragged_bytes, Behaviour::never);
      ASSERT_TRUE(run_in_pieces(pieces, cut).has_value());
      EXPECT_EQ(pieces.parity, whole.parity) << cut;
    }
  }
}

// Changes of shards with whole groups, a last group, ragged columns, or some of them.
TEST(Executor, ChangesGiveTheBytesOfWholeShards) {
  for (std::size_t bytes = 1; bytes <= ragged_bytes; ++bytes) {
    Trial whole(packets_3_2(), bytes, Behaviour::never);
    ASSERT_TRUE(whole.executor.run(whole.task, whole.stripes()).has_value());
    Trial changed(packets_3_2(), bytes, Behaviour::never);
    const Bytes delta = std::exchange(changed.data[1], Bytes(bytes));
    changed.inputs[1] = changed.data[1].data();
    ASSERT_TRUE(changed.executor.run(changed.task, changed.stripes()).has_value());
    for (std::size_t begin = 0; begin < bytes;) {
      const std::size_t end = std::min(bytes, begin + 1 + begin % 13);
      ASSERT_TRUE(run_change(changed, ConstShard(delta).subspan(begin, end - begin), begin));
      begin = end;
    }
    EXPECT_EQ(changed.parity, whole.parity) << bytes;
  }
}

// Empty pieces change neither the result nor the number of runs, wherever they are.
TEST(Executor, EmptyPiecesAreSkipped) {
  Trial whole(bytes_3_2(), ragged_bytes, Behaviour::never);
  ASSERT_TRUE(whole.executor.run(whole.task, whole.stripes()).has_value());
  for (unsigned places = 0; places < 64; ++places) {
    // Bits 0 to 2: two empty pieces of each input before, between and after. Bits 3 to 5: of
    // outputs.
    const auto cut = [](auto shard, unsigned empty) {
      std::vector<decltype(shard)> pieces;
      const auto add_empty = [&](unsigned place) {
        if ((empty >> place & 1U) != 0) pieces.insert(pieces.end(), 2, decltype(shard)());
      };
      add_empty(0);
      pieces.push_back(shard.first(30));
      add_empty(1);
      pieces.push_back(shard.subspan(30));
      add_empty(2);
      return pieces;
    };
    Trial trial(bytes_3_2(), ragged_bytes, Behaviour::never);
    std::vector<std::vector<ConstShard>> in;
    std::vector<std::vector<Shard>> out;
    for (std::size_t i = 0; i < 3; ++i)
      in.push_back(cut(ConstShard(trial.data[i]), places));
    for (std::size_t i = 0; i < 2; ++i)
      out.push_back(cut(Shard(trial.parity[i]), places >> 3U));
    const std::vector<ConstShardPieces> inputs(in.begin(), in.end());
    const std::vector<ShardPieces> outputs(out.begin(), out.end());
    ASSERT_TRUE(trial.executor.run_pieces(trial.task, inputs, outputs, trial.lengths).has_value());
    EXPECT_EQ(trial.parity, whole.parity) << places;
    EXPECT_EQ(trial.behaviour->submits, 2U) << places;
  }
}

// When a part on another thread fails, the others complete and the error is returned.
TEST(Executor, APartOfThePoolMayFail) {
  ThreadPool pool(2);
  constexpr std::size_t large = std::size_t{1} << 18U;
  Trial sound(bytes_3_2(), large, Behaviour::never, &pool);
  ASSERT_TRUE(sound.executor.run(sound.task, sound.stripes()).has_value());
  const unsigned parts = sound.behaviour->submits;
  ASSERT_EQ(parts, 3U) << "one for the caller and one for each helper";
  Trial alone(bytes_3_2(), large, Behaviour::never);
  ASSERT_TRUE(alone.executor.run(alone.task, alone.stripes()).has_value());
  EXPECT_EQ(sound.parity, alone.parity);
  for (unsigned at = 0; at < parts; ++at) {
    Trial trial(bytes_3_2(), large, at, &pool);
    const Status done = trial.executor.run(trial.task, trial.stripes());
    ASSERT_FALSE(done.has_value()) << at;
    EXPECT_EQ(done.error().message, "injected at submit " + std::to_string(at));
    EXPECT_EQ(trial.behaviour->submits, parts);
  }
}

TEST(Executor, WithoutOutputsThereIsNothingToDo) {
  for (const CodeSpec& spec : {packets_3_2(), bytes_3_2()}) {
    Trial trial(spec, ragged_bytes, 0);
    trial.task.writes = {};
    EXPECT_TRUE(trial.executor.run_equal(trial.task, 2, trial.stripes()).has_value());
    const ConstShard one(trial.data[0]);
    const std::vector<ConstShardPieces> inputs(3, ConstShardPieces(&one, 1));
    EXPECT_TRUE(trial.executor.run_pieces(trial.task, inputs, {}, trial.lengths).has_value());
    std::vector<backend::Completion> under_way;
    trial.behaviour->runs_on_caller = false;
    EXPECT_TRUE(trial.executor.start_equal(trial.task, 2, trial.stripes(), under_way).has_value());
    EXPECT_TRUE(under_way.empty());
    EXPECT_EQ(trial.behaviour->submits, 0U);
  }
}

}  // namespace
}  // namespace calpe::engine
