// SPDX-License-Identifier: Apache-2.0
// What each call of a codec refuses, in words: counts, lengths, indices, and plans of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <calpe/codec.hpp>
#include <calpe/galois.hpp>

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;
using ::testing::HasSubstr;

template <class Outcome>
std::string refusal(const Outcome& outcome) {
  return outcome ? "accepted" : outcome.error().message;
}

// 4+2 in packets of 8 bytes, w = 4: shards may have any length, parity is a multiple of 4.
class CodecRefusals : public ::testing::Test {
 protected:
  CodecRefusals()
      : codec_(*Codec::create({.family = CodeFamily::cauchy,
                               .layout = Layout::packets,
                               .data_shards = 4,
                               .parity_shards = 2,
                               .word_bits = 4,
                               .packet_bytes = 8})),
        all_(6, Bytes(40)) {
    for (Bytes& shard : all_)
      views_.emplace_back(shard);
    for (std::size_t i = 4; i < 6; ++i)
      parity_.emplace_back(all_[i]);
  }
  std::span<const ConstShard> data() const { return std::span(views_).first(4); }
  std::span<const ConstShard> checks() const { return std::span(views_).subspan(4); }
  Plan lost(ShardIndex shard) const {
    std::vector<ShardIndex> left;
    for (ShardIndex i = 0; i < 6; ++i)
      if (i != shard) left.push_back(i);
    return *codec_.plan_decode(left, std::vector{shard});
  }

  Codec codec_;
  std::vector<Bytes> all_;
  std::vector<ConstShard> views_;
  std::vector<Shard> parity_;
};

TEST_F(CodecRefusals, CountsOfShards) {
  EXPECT_EQ(refusal(codec_.encode(data(), parity_)), "accepted");
  EXPECT_THAT(refusal(codec_.encode(data().first(3), parity_)), HasSubstr("3"));
  EXPECT_THAT(refusal(codec_.encode(data(), std::span(parity_).first(1))), HasSubstr("1"));
  EXPECT_EQ(refusal(codec_.verify(data().first(3), checks())), "data has 3 shards, expected 4");
  EXPECT_EQ(refusal(codec_.verify(data(), checks().first(1))), "parity has 1 shards, expected 2");
  EXPECT_THAT(refusal(codec_.locate(data())), HasSubstr("expected 6"));
  EXPECT_NE(refusal(codec_.locate(views_, std::vector<ShardIndex>{6})), "accepted");
  EXPECT_NE(refusal(codec_.locate(views_, std::vector<ShardIndex>{1, 1})), "accepted");
  EXPECT_NE(refusal(codec_.locate(views_, std::vector<ShardIndex>{0, 1, 2})), "accepted");
}

TEST_F(CodecRefusals, LengthsOfShards) {
  views_[1] = views_[1].first(39);
  EXPECT_THAT(refusal(codec_.encode(data(), parity_)), HasSubstr("39"));
  EXPECT_THAT(refusal(codec_.verify(data(), checks())), HasSubstr("39"));
  EXPECT_THAT(refusal(codec_.locate(views_)), HasSubstr("39"));
  for (ConstShard& view : views_)
    view = view.first(39);
  EXPECT_THAT(refusal(codec_.verify(data(), checks())), HasSubstr("39"));  // 39 is no 4 * x
}

TEST_F(CodecRefusals, PlansForWhatIsNotThere) {
  using Indices = std::vector<ShardIndex>;
  const Indices left = {1, 2, 3, 4, 5};
  EXPECT_NE(refusal(codec_.plan_decode(Indices(7, 1), Indices{0})), "accepted");
  EXPECT_NE(refusal(codec_.plan_decode(left, Indices(7, 0))), "accepted");
  EXPECT_NE(refusal(codec_.plan_decode(left, Indices{0}, std::vector<std::uint32_t>(7))),
            "accepted");
  EXPECT_NE(refusal(codec_.plan_decode(left, Indices{0}, std::vector<std::uint32_t>(2))),
            "accepted");
  EXPECT_NE(refusal(codec_.plan_update(4)), "accepted");
  EXPECT_NE(refusal(codec_.plan_update(0, Indices{3})), "accepted");
  EXPECT_NE(refusal(codec_.plan_update(0, Indices{4, 5, 4})), "accepted");
  EXPECT_NE(refusal(codec_.plan_update(0, Indices{6})), "accepted");
  EXPECT_NE(refusal(codec_.plan_partial(lost(0), Indices{0})), "accepted");  // is written
  EXPECT_NE(refusal(codec_.plan_partial(lost(0), Indices{300})), "accepted");
}

TEST_F(CodecRefusals, PlansOfOtherCodesAndNoPlan) {
  const Codec other = *Codec::create({.data_shards = 4, .parity_shards = 2});
  Plan moved = lost(0);
  const Plan plan = std::move(moved);
  Bytes room(40);
  const std::vector<Shard> out = {room};
  const std::vector<ConstShard> in(4, ConstShard(all_[1]));
  for (const Plan* wrong : std::initializer_list<const Plan*>{&moved, &plan}) {
    const Codec& user = wrong == &moved ? codec_ : other;
    EXPECT_NE(refusal(user.run(*wrong, in, out)), "accepted");
    EXPECT_NE(refusal(user.run_batch(*wrong, std::vector<Stripe>{{in, out}})), "accepted");
    EXPECT_NE(refusal(user.submit(*wrong, std::vector<Stripe>{{in, out}})), "accepted");
    EXPECT_NE(refusal(user.run_pieces(*wrong, {}, {})), "accepted");
    EXPECT_NE(refusal(user.plan_partial(*wrong, std::vector<ShardIndex>{1})), "accepted");
  }
  EXPECT_NE(refusal(codec_.run(plan, std::span(in).first(3), out)), "accepted");
  EXPECT_NE(refusal(codec_.run(plan, in, {})), "accepted");
  EXPECT_NE(refusal(codec_.run_batch(plan, std::vector<Stripe>{{{}, out}})), "accepted");
}

TEST_F(CodecRefusals, Pieces) {
  const Plan plan = lost(0);
  Bytes room(40);
  const std::vector<ConstShard> piece = {ConstShard(all_[1])};
  const std::vector<Shard> target = {room};
  const std::vector<Shard> short_target = {std::span(room).first(36)};
  const std::vector<Shard> same = {all_[1]};
  const std::vector<ConstShardPieces> in(4, ConstShardPieces(piece));
  const auto run = [&](std::span<const ConstShardPieces> inputs, const std::vector<Shard>& to) {
    const std::vector<std::span<const Shard>> out = {to};
    return refusal(codec_.run_pieces(plan, inputs, out));
  };
  EXPECT_EQ(run(in, target), "accepted");
  EXPECT_NE(run(std::span(in).first(3), target), "accepted");
  EXPECT_NE(run(in, short_target), "accepted");
  EXPECT_NE(run(in, same), "accepted");
  EXPECT_NE(refusal(codec_.run_pieces(plan, in, {})), "accepted");
}

TEST_F(CodecRefusals, Updates) {
  const Bytes delta(8);
  const Codec::Change change = {.data_index = 1, .offset = 8, .shard_bytes = 40};
  EXPECT_EQ(refusal(codec_.update(change, delta, parity_)), "accepted");
  EXPECT_NE(refusal(codec_.update(change, delta, delta, std::span(parity_).first(1))), "accepted");
  EXPECT_NE(refusal(codec_.update(change, delta, Bytes(7), parity_)), "accepted");
  EXPECT_NE(refusal(codec_.update({4, 8, 40}, delta, parity_)), "accepted");
  EXPECT_NE(refusal(codec_.update({1, 33, 40}, delta, parity_)), "accepted");
  EXPECT_NE(refusal(codec_.update({1, 41, 40}, {}, parity_)), "accepted");
  EXPECT_NE(refusal(codec_.update({1, 8, 44}, delta, parity_)), "accepted");  // parity has 40
  EXPECT_NE(refusal(codec_.update(change, std::span(all_[4]).first(8), parity_)), "accepted");
  EXPECT_NE(refusal(add(all_[0], delta)), "accepted");
}

TEST(GaloisRefusals, OperandsAndSizes) {
  const GaloisField field = *GaloisField::create(4);
  EXPECT_NE(refusal(field.inverse(0)), "accepted");
  EXPECT_NE(refusal(field.inverse(16)), "accepted");
  EXPECT_NE(refusal(field.invert_matrix(std::vector<std::uint16_t>{1, 2, 3}, 2)), "accepted");
  EXPECT_NE(refusal(field.invert_matrix(std::vector<std::uint16_t>{1, 2, 3, 16}, 2)), "accepted");
  EXPECT_NE(refusal(field.invert_matrix({}, 5000)), "accepted");
}

}  // namespace
}  // namespace calpe
