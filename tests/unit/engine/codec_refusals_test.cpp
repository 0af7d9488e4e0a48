// SPDX-License-Identifier: Apache-2.0
// Invalid arguments of each codec call and their messages: counts, lengths, indices, foreign plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <calpe/codec.hpp>
#include <calpe/galois.hpp>
#include <calpe/matrix_product.hpp>

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;
using ::testing::HasSubstr;

template <class Outcome>
std::string refusal(const Outcome& outcome) {
  return outcome ? "accepted" : outcome.error().message;
}

// 4+2 in packets of 8 bytes, w = 4: shards may have any length, parity lengths are multiples of 4.
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
  EXPECT_EQ(refusal(codec_.verify(data().first(3), checks())), "data has 3 shards; expected 4");
  EXPECT_EQ(refusal(codec_.verify(data(), checks().first(1))), "parity has 1 shards; expected 2");
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
  // 39 is not a multiple of 4.
  EXPECT_THAT(refusal(codec_.verify(data(), checks())), HasSubstr("39"));
}

TEST_F(CodecRefusals, PlansForMissingShards) {
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
  // Shard 0 is written, not read.
  EXPECT_NE(refusal(codec_.plan_partial(lost(0), Indices{0})), "accepted");
  EXPECT_NE(refusal(codec_.plan_partial(lost(0), Indices{300})), "accepted");
}

TEST_F(CodecRefusals, PlansOfOtherCodesAndEmptyPlans) {
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
  // Parity has only 40 bytes.
  EXPECT_NE(refusal(codec_.update({1, 8, 44}, delta, parity_)), "accepted");
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

TEST(SpecRefusals, FieldsThatContradictEachOther) {
  const CodeSpec packets = {.family = CodeFamily::cauchy,
                            .layout = Layout::packets,
                            .data_shards = 4,
                            .parity_shards = 2,
                            .word_bits = 4,
                            .packet_bytes = 8};
  const auto with = [&](const auto& change) {
    CodeSpec spec = packets;
    change(spec);
    return refusal(Codec::create(spec));
  };
  EXPECT_THAT(with([](CodeSpec& s) { s.word_bits = 1; }), HasSubstr("word_bits is 1"));
  EXPECT_THAT(with([](CodeSpec& s) { s.word_bits = 9; }), HasSubstr("word_bits is 9"));
  EXPECT_THAT(with([](CodeSpec& s) { s.packet_bytes = 1U << 31U; }), HasSubstr("at most"));
  EXPECT_THAT(with([](CodeSpec& s) { s.family = CodeFamily::cauchy_good, s.packet_bytes = 12; }),
              HasSubstr("expected a multiple of 8"));
  EXPECT_THAT(with([](CodeSpec& s) { s.layout = static_cast<Layout>(3); }),
              HasSubstr("layout is 3"));
  EXPECT_THAT(with([](CodeSpec& s) { s.layout = Layout::bytes, s.word_bits = 8; }),
              HasSubstr("packet_bytes is 8; expected 0"));
  for (const unsigned groups : {0U, 3U, 5U}) {
    const CodeSpec lrc = {.family = CodeFamily::lrc,
                          .data_shards = static_cast<std::uint16_t>(groups == 3 ? 2 : 8),
                          .parity_shards = 4,
                          .local_groups = static_cast<std::uint16_t>(groups)};
    EXPECT_THAT(refusal(Codec::create(lrc)), HasSubstr("local_groups is")) << groups;
  }
}

TEST(SpecRefusals, CustomRows) {
  CodeSpec spec = {.family = CodeFamily::custom, .data_shards = 2, .parity_shards = 2};
  const std::vector<std::uint16_t> rows = {1, 1, 1, 2};
  EXPECT_EQ(refusal(Codec::create_from_matrix(spec, rows)), "accepted");
  EXPECT_THAT(refusal(Codec::create_from_matrix(spec, std::span(rows).first(3))),
              HasSubstr("parity_rows has 3 coefficients"));
  EXPECT_THAT(refusal(Codec::create_from_matrix(spec, std::vector<std::uint16_t>{1, 1, 1, 256})),
              HasSubstr("parity_rows[3] is 256; expected below 256"));
  spec.data_shards = 0;
  EXPECT_NE(refusal(Codec::create_from_matrix(spec, rows)), "accepted");
}

TEST(MatrixRefusals, NullPointers) {
  const std::vector<std::uint8_t> cells = {1, 2, 3, 4};
  Bytes a(8), b(8);
  const std::vector<const std::byte*> in = {a.data(), a.data()};
  const std::vector<std::byte*> out = {b.data(), nullptr};
  const std::vector<const std::byte*> one_in = {a.data(), nullptr};
  const CoefficientMatrix one_row = {.cells = cells.data(), .rows = 1, .columns = 2};
  const CoefficientMatrix two_rows = {.cells = cells.data(), .rows = 2, .columns = 2};
  EXPECT_EQ(refusal(apply_matrix(one_row, in.data(), out.data(), 8)), "accepted");
  EXPECT_NE(refusal(apply_matrix(one_row, nullptr, out.data(), 8)), "accepted");
  EXPECT_NE(refusal(apply_matrix(one_row, in.data(), nullptr, 8)), "accepted");
  EXPECT_NE(refusal(apply_matrix(one_row, one_in.data(), out.data(), 8)), "accepted");
  EXPECT_NE(refusal(apply_matrix(two_rows, in.data(), out.data(), 8)), "accepted");
  EXPECT_NE(refusal(apply_matrix({.rows = 1, .columns = 2}, in.data(), out.data(), 8)), "accepted");
  EXPECT_EQ(refusal(apply_matrix({.rows = 1}, nullptr, out.data(), 8)), "accepted");  // zeros
  EXPECT_EQ(refusal(apply_matrix({.columns = 2}, in.data(), nullptr, 8)), "accepted");
}

}  // namespace
}  // namespace calpe
