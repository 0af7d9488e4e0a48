// SPDX-License-Identifier: Apache-2.0
// Errors name the caller's operand and its index: every call with every kind of mistake.
#include <gtest/gtest.h>

#include <calpe/codec.hpp>

namespace calpe {
namespace {

template <class Outcome>
std::string refusal(const Outcome& outcome) {
  return outcome ? "accepted" : outcome.error().message;
}

// 4+2 with shards of 32 bytes. Every test passes them with one mistake.
class Messages : public ::testing::Test {
 protected:
  using Indices = std::vector<ShardIndex>;
  static constexpr std::size_t bytes = 32;
  static constexpr std::size_t too_long = PTRDIFF_MAX;

  Messages() {
    for (std::size_t i = 0; i < 6; ++i) {
      all_.emplace_back(memory_.data() + 64 * i, bytes);
      views_.emplace_back(all_.back());
    }
    data_ = {views_.begin(), views_.begin() + 4};
    parity_ = {all_.begin() + 4, all_.end()};
    checks_ = {views_.begin() + 4, views_.end()};
    survivors_ = {views_[0], views_[2], views_[3], views_[5]};
    rebuilt_ = {all_[1], all_[4]};
  }

  // Lists of one piece per shard.
  template <class View>
  static std::vector<std::span<const View>> pieces(const std::vector<View>& shards) {
    std::vector<std::span<const View>> lists;
    for (const View& shard : shards)
      lists.emplace_back(&shard, 1);
    return lists;
  }

  struct Names {
    std::string inputs;
    std::string outputs;
    std::string piece;  // "[0]" if shards are in pieces
  };
  // Calls run(inputs, outputs) with each mistake; reads 4 shards and writes 2.
  template <class Run>
  void expect_messages(const Names& names, const std::vector<ConstShard>& inputs,
                       const std::vector<Shard>& outputs, const Run& run) {
    const auto expect = [&](const std::string& message, const auto& change) {
      auto from = inputs;
      auto to = outputs;
      change(from, to);
      EXPECT_EQ(refusal(run(from, to)), message);
    };
    const std::string& in = names.inputs;
    const std::string& out = names.outputs;
    expect("accepted", [](auto&, auto&) {});
    expect(in + " has 3 shards; expected 4", [](auto& from, auto&) { from.pop_back(); });
    expect(in + " has 5 shards; expected 4", [](auto& from, auto&) { from.push_back(from[0]); });
    expect(out + " has 1 shards; expected 2", [](auto&, auto& to) { to.pop_back(); });
    expect(in + "[3] has 31 bytes; expected 32 like " + in + "[0]",
           [](auto& from, auto&) { from[3] = from[3].first(31); });
    expect(out + "[1] has 31 bytes; expected 32 like " + in + "[0]",
           [](auto&, auto& to) { to[1] = to[1].first(31); });
    expect(out + "[1]" + names.piece + " overlaps " + in + "[2]" + names.piece +
               "; expected separate memory",
           [](auto& from, auto& to) { from[2] = to[1]; });
    expect(out + "[1]" + names.piece + " overlaps " + out + "[0]" + names.piece +
               "; expected separate memory",
           [](auto&, auto& to) { to[1] = to[0]; });
    expect(in + "[0] has 9223372036854775807 bytes; expected at most 9223372036854775743",
           [](auto& from, auto& to) {
             for (ConstShard& shard : from)
               shard = {shard.data(), too_long};
             for (Shard& shard : to)
               shard = {shard.data(), too_long};
           });
  }

  Codec codec_ = Codec::create({.data_shards = 4, .parity_shards = 2}).value();
  Plan decode_ = codec_.plan_decode(Indices{0, 2, 3, 5}, Indices{1, 4}).value();
  std::vector<std::byte> memory_ = std::vector<std::byte>(1024);
  std::vector<Shard> all_, parity_, rebuilt_;
  std::vector<ConstShard> views_, data_, checks_, survivors_;
};

TEST_F(Messages, CallsOnOneStripe) {
  expect_messages({"data", "parity", ""}, data_, parity_,
                  [&](auto& from, auto& to) { return codec_.encode(from, to); });
  expect_messages({"survivors", "rebuilt", ""}, survivors_, rebuilt_,
                  [&](auto& from, auto& to) { return codec_.decode(decode_, from, to); });
  expect_messages({"inputs", "outputs", ""}, survivors_, rebuilt_,
                  [&](auto& from, auto& to) { return codec_.run(decode_, from, to); });
}

TEST_F(Messages, CallsOnBatches) {
  std::vector<std::byte> room(256);
  std::vector<Shard> apart;
  for (std::size_t i = 0; i < 2; ++i)
    apart.emplace_back(room.data() + 64 * i, bytes);
  const auto batch = [&](auto& from, auto& to) {
    const Stripe good = {.inputs = survivors_, .outputs = apart};
    return std::vector<Stripe>{good, good, {.inputs = from, .outputs = to}, good};
  };
  const Names names = {"stripes[2].inputs", "stripes[2].outputs", ""};
  expect_messages(names, survivors_, rebuilt_,
                  [&](auto& from, auto& to) { return codec_.run_batch(decode_, batch(from, to)); });
  expect_messages(names, survivors_, rebuilt_,
                  [&](auto& from, auto& to) { return codec_.submit(decode_, batch(from, to)); });
  const CodecOptions threads = {.threads = 2};
  const Codec pooled = Codec::create(codec_.spec(), threads).value();
  expect_messages(names, survivors_, rebuilt_,
                  [&](auto& from, auto& to) { return pooled.submit(decode_, batch(from, to)); });
}

TEST_F(Messages, Pieces) {
  expect_messages({"inputs", "outputs", "[0]"}, survivors_, rebuilt_, [&](auto& from, auto& to) {
    return codec_.run_pieces(decode_, pieces(from), pieces(to));
  });
  std::vector<ConstShard> two = {views_[3].first(5), views_[1].first(bytes - 5)};
  auto inputs = pieces(survivors_);
  inputs[3] = two;
  EXPECT_EQ(refusal(codec_.run_pieces(decode_, inputs, pieces(rebuilt_))),
            "outputs[0][0] overlaps inputs[3][1]; expected separate memory");
}

TEST_F(Messages, Plans) {
  const Codec other = Codec::create({.data_shards = 5, .parity_shards = 2}).value();
  EXPECT_EQ(refusal(other.run(decode_, survivors_, rebuilt_)),
            "plan belongs to a codec of another spec");
  EXPECT_EQ(refusal(codec_.decode(Plan(), survivors_, rebuilt_)),
            "plan is empty; expected one made by a codec");
}

TEST_F(Messages, Update) {
  const Codec::Change change = {.data_index = 1, .offset = 8, .shard_bytes = bytes};
  const ConstShard delta = views_[0].first(4);
  const ConstShard other = views_[2].first(4);
  EXPECT_EQ(refusal(codec_.update(change, delta, parity_)), "accepted");
  EXPECT_EQ(refusal(codec_.update(change, delta, std::span(parity_).first(1))),
            "parity has 1 shards; expected 2");
  EXPECT_EQ(refusal(codec_.update({4, 8, bytes}, delta, parity_)),
            "data_index is 4; expected below 4");
  EXPECT_EQ(refusal(codec_.update({1, 29, bytes}, delta, parity_)),
            "delta has 4 bytes from offset 29; expected to end within shard_bytes, 32");
  EXPECT_EQ(refusal(codec_.update({1, 29, bytes}, delta, other, parity_)),
            "old_bytes has 4 bytes from offset 29; expected to end within shard_bytes, 32");
  EXPECT_EQ(refusal(codec_.update(change, delta, other.first(3), parity_)),
            "new_bytes has 3 bytes; expected 4 like old_bytes");
  EXPECT_EQ(refusal(codec_.update({1, 8, 33}, delta, parity_)),
            "parity[0] has 32 bytes; expected 33 like shard_bytes");
  EXPECT_EQ(refusal(codec_.update({1, 0, too_long}, delta, parity_)),
            "parity[0] has 32 bytes; expected 9223372036854775807 like shard_bytes");
  EXPECT_EQ(refusal(codec_.update(change, checks_[1].first(4), parity_)),
            "parity[1] overlaps delta; expected separate memory");
  EXPECT_EQ(refusal(codec_.update(change, delta, checks_[0].first(4), parity_)),
            "parity[0] overlaps new_bytes; expected separate memory");
  EXPECT_EQ(refusal(codec_.update(change, delta, std::vector<Shard>(2, parity_[0]))),
            "parity[1] overlaps parity[0]; expected separate memory");
  const auto named = [&](const Indices& indices) {
    return refusal(codec_.update({1, 8, bytes, indices}, delta, parity_));
  };
  EXPECT_EQ(named({4, 4}), "parity_indices names shard 4 twice");
  EXPECT_EQ(named({4, 6}), "parity_indices names shard 6; expected below 6");
  EXPECT_EQ(named({4, 1}), "parity_indices names shard 1; expected a parity shard: 4..5");
  EXPECT_EQ(named({4, 5, 4}), "parity_indices names 3 shards; expected at most 2");
  EXPECT_EQ(refusal(codec_.plan_update(0, Indices{1})),
            "parity names shard 1; expected a parity shard: 4..5");
}

TEST_F(Messages, Checks) {
  EXPECT_EQ(refusal(codec_.verify(std::span(data_).first(3), checks_)),
            "data has 3 shards; expected 4");
  EXPECT_EQ(refusal(codec_.verify(data_, std::span(checks_).first(1))),
            "parity has 1 shards; expected 2");
  checks_[1] = checks_[1].first(31);
  EXPECT_EQ(refusal(codec_.verify(data_, checks_)),
            "parity[1] has 31 bytes; expected 32 like data[0]");
  data_[3] = data_[3].first(30);
  EXPECT_EQ(refusal(codec_.verify(data_, checks_)),
            "data[3] has 30 bytes; expected 32 like data[0]");
  EXPECT_EQ(refusal(codec_.locate(data_)), "shards has 4 entries; expected 6");
  views_[5] = views_[5].first(31);
  EXPECT_EQ(refusal(codec_.locate(views_)), "shards[5] has 31 bytes; expected 32 like shards[0]");
  EXPECT_EQ(refusal(codec_.locate(views_, Indices{6})), "missing names shard 6; expected below 6");
}

TEST_F(Messages, Rebuild) {
  const auto with = [&](std::size_t index, Shard shard) {
    auto shards = all_;
    shards[index] = shard;
    return shards;
  };
  const auto both = [&](const std::vector<Shard>& shards, const std::string& alone,
                        const std::string& in_batch) {
    EXPECT_EQ(refusal(codec_.rebuild(shards, Indices{1, 4})), alone);
    const std::vector<std::span<const Shard>> stripes = {all_, all_, shards};
    EXPECT_EQ(refusal(codec_.rebuild_batch(stripes, Indices{1, 4})), in_batch);
  };
  both(all_, "accepted", "accepted");
  both({all_.begin(), all_.begin() + 5}, "shards has 5 entries; expected 6",
       "stripes[2] has 5 entries; expected 6");
  both(with(3, all_[3].first(31)), "shards[3] has 31 bytes; expected 32 like shards[0]",
       "stripes[2][3] has 31 bytes; expected 32 like stripes[2][0]");
  both(with(4, all_[4].first(31)), "shards[4] has 31 bytes; expected 32 like shards[0]",
       "stripes[2][4] has 31 bytes; expected 32 like stripes[2][0]");
  both(with(4, all_[2]), "shards[4] overlaps shards[2]; expected separate memory",
       "stripes[2][4] overlaps stripes[2][2]; expected separate memory");
  both(with(4, all_[1]), "shards[4] overlaps shards[1]; expected separate memory",
       "stripes[2][4] overlaps stripes[2][1]; expected separate memory");
}

TEST_F(Messages, Objects) {
  const ConstShard object = ConstShard(memory_).first(100);
  const std::vector<Shard> apart = {Shard(memory_).subspan(512, 25),
                                    Shard(memory_).subspan(600, 25)};
  const auto encoded = [&](std::size_t shard_bytes, std::vector<Shard> parity) {
    return refusal(codec_.encode_object(object, shard_bytes, parity));
  };
  EXPECT_EQ(encoded(25, apart), "accepted");
  EXPECT_EQ(encoded(24, apart), "shard_bytes is 24; expected at least 25 as object has 100 bytes");
  EXPECT_EQ(encoded(25, {apart[0]}), "parity has 1 shards; expected 2");
  EXPECT_EQ(encoded(25, {apart[0], apart[1].first(24)}), "parity[1] has 24 bytes; expected 25");
  EXPECT_EQ(encoded(25, {apart[0], Shard(memory_).subspan(99, 25)}),
            "parity[1] overlaps object; expected separate memory");
  EXPECT_EQ(encoded(25, {apart[0], apart[0]}),
            "parity[1] overlaps parity[0]; expected separate memory");
  std::vector<ConstShard> three(3);
  EXPECT_EQ(refusal(codec_.split(object, 25, three)), "data has 3 shards; expected 4");
  const Plan plan = codec_.plan_decode(Indices{0, 1, 2, 4}, Indices{3}).value();
  const auto decoded = [&](const std::vector<ConstShard>& parity) {
    return refusal(codec_.decode_object(plan, Shard(memory_).first(100), 25, parity));
  };
  EXPECT_EQ(decoded({apart[0], {}}), "accepted");
  EXPECT_EQ(decoded({{}, apart[1]}), "parity[0] has 0 bytes; expected 25");
  EXPECT_EQ(decoded({ConstShard(memory_).subspan(99, 25), {}}),
            "parity[0] overlaps object; expected separate memory");
  EXPECT_EQ(refusal(codec_.decode_object(codec_.plan_encode(), Shard(memory_).first(100), 25,
                                         std::vector<ConstShard>(2))),
            "plan writes parity shard 4; expected data shards only; encode_object() writes parity");
}

TEST_F(Messages, Add) {
  EXPECT_EQ(refusal(add(all_[0], views_[1].first(31))), "addend has 31 bytes; expected 32");
  EXPECT_EQ(refusal(add(all_[0], views_[0])), "target overlaps addend; expected separate memory");
}

TEST_F(Messages, Packets) {
  const Codec codec = Codec::create({.family = CodeFamily::cauchy_good,
                                     .layout = Layout::packets,
                                     .data_shards = 4,
                                     .parity_shards = 2,
                                     .packet_bytes = 8})
                          .value();
  EXPECT_EQ(refusal(codec.encode(data_, parity_)),
            "data[0] has 32 bytes; expected a multiple of 64 as Jerasure does");
  const Codec any = Codec::create({.family = CodeFamily::cauchy,
                                   .layout = Layout::packets,
                                   .data_shards = 4,
                                   .parity_shards = 2,
                                   .packet_bytes = 8})
                        .value();
  for (ConstShard& shard : data_)
    shard = shard.first(31);
  parity_ = {parity_[0].first(31), parity_[1].first(31)};
  EXPECT_EQ(refusal(any.encode(data_, parity_)),
            "parity[0] has 31 bytes; expected 32 for data shards of 31 bytes with layout packets");
}

}  // namespace
}  // namespace calpe
