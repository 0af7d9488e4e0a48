// SPDX-License-Identifier: Apache-2.0
// All forms of a call give the same bytes: pieces, batches and ranges. Overlaps are refused. 68,000
// random cases.
#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "support/trial_stripe.hpp"

namespace calpe {
namespace {

using namespace tests;

// Cuts anywhere, with empty pieces in between.
template <class Bytes>
std::vector<Bytes> cut(Random& random, Bytes whole) {
  std::vector<Bytes> pieces;
  std::size_t done = 0;
  while (done < whole.size() && pieces.size() < 12) {
    const std::size_t rest = whole.size() - done;
    const std::size_t bytes = random.one_in(5) ? 0 : random.below(std::min(rest, rest / 3 + 9) + 1);
    pieces.push_back(whole.subspan(done, bytes));
    done += bytes;
  }
  pieces.push_back(whole.subspan(done));
  if (random.one_in(4)) pieces.push_back({});
  return pieces;
}

template <class Bytes>
std::vector<std::vector<Bytes>> cut_all(Random& random, const std::vector<Bytes>& shards) {
  std::vector<std::vector<Bytes>> pieces;
  for (const Bytes& shard : shards)
    pieces.push_back(cut(random, shard));
  return pieces;
}

TEST(CallFormsProperty, PiecesEqualWholeShards) {
  check_cases(
      22'000, [](Draw& draw) { return draw_case(draw); },
      [](const CodecCase& c) {
        Trial trial(c);
        const Plan plan = trial.random_plan();
        RunOptions options{.accumulate = trial.random.coin(), .stores = trial.any_stores()};
        const auto inputs = trial.pick(trial.stripe, plan.reads());
        const auto outputs = trial.blanks(plan.writes());
        const auto expected = trial.copies(outputs);
        must(trial.codec.run(plan, inputs, expected, options));

        const auto input_pieces = cut_all(trial.random, inputs);
        const auto output_pieces = cut_all(trial.random, outputs);
        const std::vector<ConstShardPieces> in(input_pieces.begin(), input_pieces.end());
        const std::vector<ShardPieces> out(output_pieces.begin(), output_pieces.end());
        options.stores = trial.any_stores();
        must(trial.codec.run_pieces(plan, in, out, options));
        for (std::size_t i = 0; i < outputs.size(); ++i)
          require(equal_bytes(outputs[i], expected[i]), "output " + std::to_string(i) + " differs");
        trial.require_unchanged();
      });
}

TEST(CallFormsProperty, BatchEqualsStripeByStripe) {
  const auto draw_short = [](Draw& draw) { return draw_case(draw, {.shard_bytes_max = 9000}); };
  check_cases(11'000, draw_short, [](const CodecCase& c) {
    Trial trial(c);
    const Plan plan = trial.random_plan();
    RunOptions options{.accumulate = trial.random.coin(), .stores = trial.any_stores()};
    const std::size_t count = trial.random.below(trial.random.one_in(8) ? 40 : 6);
    std::vector<std::vector<ConstShard>> inputs(count);
    std::vector<std::vector<Shard>> outputs(count);
    std::vector<std::vector<Shard>> expected(count);
    std::vector<Stripe> batch;
    for (std::size_t s = 0; s < count; ++s) {
      // Runs of equal length, interrupted by others.
      const std::size_t multiple = trial.codec.shard_bytes_multiple();
      const std::size_t bytes = trial.random.one_in(3)
                                    ? trial.random.below(300) / multiple * multiple
                                    : trial.shard_bytes;
      const auto shards = trial.make_stripe(bytes);
      inputs[s] = trial.pick(shards, plan.reads());
      for (const ShardIndex i : plan.writes()) {
        outputs[s].push_back(trial.take(shards[i].size()));
        fill_random(trial.random, outputs[s].back());
      }
      expected[s] = trial.copies(outputs[s]);
      must(trial.codec.run(plan, inputs[s], expected[s], options));
      batch.push_back({.inputs = inputs[s], .outputs = outputs[s]});
    }
    options.stores = trial.any_stores();
    must(trial.codec.run_batch(plan, batch, options));
    for (std::size_t s = 0; s < count; ++s) {
      for (std::size_t i = 0; i < outputs[s].size(); ++i)
        require(equal_bytes(outputs[s][i], expected[s][i]),
                "stripe " + std::to_string(s) + " of " + std::to_string(count) + " differs");
    }
    trial.require_unchanged();
  });
}

TEST(CallFormsProperty, CodableRangeIsASliceOfTheWhole) {
  check_cases(
      15'000, [](Draw& draw) { return draw_case(draw); },
      [](const CodecCase& c) {
        Trial trial(c);
        const Plan plan = trial.random_plan();
        ByteRange asked{.offset = trial.random.below(trial.shard_bytes + 1)};
        asked.bytes = trial.random.below(trial.shard_bytes - asked.offset + 1);
        const ByteRange range = trial.codec.codable_range(asked, trial.shard_bytes);
        require(range.offset <= asked.offset &&
                    range.offset + range.bytes >= asked.offset + asked.bytes &&
                    range.offset + range.bytes <= trial.shard_bytes,
                "the range does not cover what was asked for");
        const auto slice = [&](ShardIndex shard, auto bytes) {
          const bool is_data = shard < trial.data_shards();
          return bytes.subspan(range.offset,
                               is_data ? range.bytes : trial.codec.parity_bytes(range.bytes));
        };
        std::vector<ConstShard> inputs;
        for (const ShardIndex i : plan.reads())
          inputs.push_back(slice(i, ConstShard(trial.stripe[i])));
        std::vector<Shard> outputs;
        for (const ShardIndex i : plan.writes())
          outputs.push_back(trial.take(slice(i, trial.stripe[i]).size()));
        must(trial.codec.run(plan, inputs, outputs));
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          require(equal_bytes(outputs[i], slice(plan.writes()[i], trial.stripe[plan.writes()[i]])),
                  "shard " + std::to_string(plan.writes()[i]) + " differs in the range");
        }
        trial.require_unchanged();
      });
}

Status run_somehow(Trial& trial, const Plan& plan, const std::vector<ConstShard>& inputs,
                   const std::vector<Shard>& outputs) {
  if (trial.random.coin()) return trial.codec.run(plan, inputs, outputs);
  const auto input_pieces = cut_all(trial.random, inputs);
  const auto output_pieces = cut_all(trial.random, outputs);
  const std::vector<ConstShardPieces> in(input_pieces.begin(), input_pieces.end());
  const std::vector<ShardPieces> out(output_pieces.begin(), output_pieces.end());
  return trial.codec.run_pieces(plan, in, out);
}

// Overlaps of every kind, by any number of bytes; the output overlaps `victim`.
TEST(CallFormsProperty, OverlapIsRefusedAndNothingWritten) {
  const auto draw_short = [](Draw& draw) { return draw_case(draw, {.shard_bytes_max = 5000}); };
  check_cases(15'000, draw_short, [](const CodecCase& c) {
    Trial trial(c);
    const Plan plan = trial.random_plan();
    auto inputs = trial.pick(trial.stripe, plan.reads());
    auto outputs = trial.blanks(plan.writes());
    const std::size_t moved = trial.random.below(outputs.size());
    const bool over_output = outputs.size() > 1 && trial.random.coin();
    const std::size_t other = (moved + 1) % outputs.size();
    const std::size_t input = trial.random.below(inputs.size());
    const ConstShard victim = over_output ? ConstShard(outputs[other]) : inputs[input];
    const std::size_t bytes = outputs[moved].size();
    if (bytes == 0 || victim.empty()) return;

    // Room for the output before, in and after a copy of the victim.
    const Shard room = trial.take(victim.size() + 2 * bytes);
    fill_random(trial.random, room);
    const Shard copy = room.subspan(bytes, victim.size());
    std::ranges::copy(victim, copy.begin());
    const std::size_t reach = victim.size() + bytes;  // at offsets 0 and `reach` they only touch
    const std::size_t place = trial.random.one_in(8) ? (trial.random.coin() ? 0 : reach)
                                                     : 1 + trial.random.below(reach - 1);
    if (over_output)
      outputs[other] = copy;
    else
      inputs[input] = copy;
    outputs[moved] = room.subspan(place, bytes);
    const auto room_before = trial.arena.copy(room);
    const auto outputs_before = trial.copies(outputs);

    const Status done = run_somehow(trial, plan, inputs, outputs);
    if (place == 0 || place == reach) {
      must(done);
      require(equal_bytes(outputs[moved], trial.before[plan.writes()[moved]]), "wrong next to it");
      return;
    }
    require(!done && done.error().code == ErrorCode::invalid_argument, "an overlap is accepted");
    require(equal_bytes(room, room_before), "written despite the overlap");
    for (std::size_t i = 0; i < outputs.size(); ++i)
      require(equal_bytes(outputs[i], outputs_before[i]), "an output was written");
    trial.require_unchanged();
  });
}

TEST(CallFormsProperty, ChangeOverParityIsRefused) {
  const auto draw_short = [](Draw& draw) { return draw_case(draw, {.shard_bytes_max = 2000}); };
  check_cases(5'000, draw_short, [](const CodecCase& c) {
    Trial trial(c);
    if (trial.shard_bytes == 0) return;
    const auto parity = trial.parity_of(trial.stripe);
    const ConstShard over = parity[trial.random.below(parity.size())].first(
        trial.random.between<std::size_t>(1, trial.shard_bytes));
    const Status done = trial.codec.update({.shard_bytes = trial.shard_bytes}, over, parity);
    require(!done && done.error().code == ErrorCode::invalid_argument, "update accepts an overlap");
    const Shard target = trial.stripe.front();
    if (target.size() > 1) {
      const std::size_t bytes = target.size() / 2 + 1;
      const Status added = add(target.first(bytes), target.last(bytes));
      require(!added && added.error().code == ErrorCode::invalid_argument,
              "add accepts an overlap");
    }
    trial.require_unchanged();
  });
}

}  // namespace
}  // namespace calpe
