// SPDX-License-Identifier: Apache-2.0
// Codes of more than 256 shards, and small ones over GF(2^16), against the formula of
// docs/codes.md.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "code/lch.hpp"
#include "gf/field.hpp"
#include "support/random_choice.hpp"

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;
using conformance::Random;

Bytes bytes_of(Random& random, std::size_t count) {
  Bytes bytes(count);
  random.fill(bytes);
  return bytes;
}

struct Shape {
  std::uint32_t data;
  std::uint32_t parity;
};

CodeSpec wide_spec(Shape shape) {
  CodeSpec spec;
  spec.family = CodeFamily::lch;
  spec.data_shards = shape.data;
  spec.parity_shards = shape.parity;
  spec.word_bits = 16;
  return spec;
}

// Low and high byte of symbol `index` in a shard of `bytes` bytes.
struct Position {
  std::size_t low;
  std::size_t high;
};
Position position_of(std::size_t index, std::size_t bytes) {
  const std::size_t block = index / 64 * 128;
  const std::size_t unit = std::min<std::size_t>(64, (bytes - block + 1) / 2);
  return {block + index % 64, block + index % 64 + unit};
}

gf::Element symbol(const Bytes& shard, std::size_t index, std::size_t data_bytes) {
  const Position at = position_of(index, data_bytes);
  const unsigned low = at.low < shard.size() ? std::to_integer<unsigned>(shard[at.low]) : 0;
  const unsigned high = at.high < shard.size() ? std::to_integer<unsigned>(shard[at.high]) : 0;
  return static_cast<gf::Element>(low | high << 8);
}

class WideStripe {
 public:
  WideStripe(const Codec& codec, std::size_t bytes, std::uint64_t seed)
      : codec_(codec), bytes_(bytes) {
    Random random(seed);
    const CodeSpec& spec = codec.spec();
    for (std::size_t i = 0; i < spec.data_shards; ++i)
      shards.push_back(bytes_of(random, bytes));
    for (std::size_t i = 0; i < spec.parity_shards; ++i)
      shards.emplace_back(codec.parity_bytes(bytes), std::byte{0xAA});
  }

  std::vector<ConstShard> views(std::span<const ShardIndex> indices) const {
    std::vector<ConstShard> all;
    for (const ShardIndex i : indices)
      all.emplace_back(shards[i]);
    return all;
  }
  std::vector<ConstShard> all() const { return {shards.begin(), shards.end()}; }
  std::vector<ConstShard> data() const {
    return {shards.begin(), shards.begin() + codec_.spec().data_shards};
  }
  std::vector<ConstShard> parity() const {
    return {shards.begin() + codec_.spec().data_shards, shards.end()};
  }
  std::vector<Shard> parity_to_write() {
    return {shards.begin() + codec_.spec().data_shards, shards.end()};
  }
  Status encode() { return codec_.encode(data(), parity_to_write()); }

  // Compares some symbols of some parity shards with the formula.
  void expect_formula(Random& random, std::size_t samples) const {
    const CodeSpec& spec = codec_.spec();
    const auto field = gf::Field::tower();
    const code::LchForm form = code::lch_form(*field, spec.parity_shards);
    for (std::size_t s = 0; s < samples && bytes_ > 0; ++s) {
      const std::size_t i = random.below(spec.parity_shards);
      const std::size_t index = random.below((bytes_ + 1) / 2);
      gf::Element sum = 0;
      for (std::size_t j = 0; j < spec.data_shards; ++j) {
        sum ^= field->multiply(code::lch_coefficient(*field, form, i, j),
                               symbol(shards[j], index, bytes_));
      }
      ASSERT_EQ(symbol(shards[spec.data_shards + i], index, bytes_), sum)
          << spec.data_shards << "+" << spec.parity_shards << ", parity " << i << ", symbol "
          << index << " of " << bytes_ << " bytes";
    }
  }

  // Rebuilds `lost` from others and compares.
  void expect_rebuilt(std::span<const ShardIndex> lost) const {
    std::vector<ShardIndex> available;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const auto shard = static_cast<ShardIndex>(i);
      if (std::ranges::find(lost, shard) == lost.end()) available.push_back(shard);
    }
    const auto plan = codec_.plan_decode(available, lost);
    ASSERT_TRUE(plan) << plan.error().message;
    std::vector<Bytes> rebuilt;
    for (const ShardIndex i : lost)
      rebuilt.emplace_back(shards[i].size(), std::byte{0x55});
    const std::vector<Shard> outputs(rebuilt.begin(), rebuilt.end());
    const Status done = codec_.decode(*plan, views(plan->reads()), outputs);
    ASSERT_TRUE(done) << done.error().message;
    for (std::size_t i = 0; i < lost.size(); ++i)
      ASSERT_EQ(rebuilt[i], shards[lost[i]]) << "shard " << lost[i];
  }

  std::vector<Bytes> shards;

 private:
  const Codec& codec_;
  std::size_t bytes_;
};

std::vector<ShardIndex> some_shards(Random& random, std::size_t count, std::size_t of) {
  std::vector<ShardIndex> all(of);
  std::iota(all.begin(), all.end(), ShardIndex{0});
  random.shuffle(std::span(all));
  all.resize(count);
  return all;
}

class WideCodec : public testing::TestWithParam<std::string> {
 protected:
  Codec make(Shape shape) const {
    auto codec = Codec::create(wide_spec(shape), {.backend = GetParam()});
    EXPECT_TRUE(codec) << codec.error().message;
    return *std::move(codec);
  }
};

TEST_P(WideCodec, EncodesTheFormulaAndRebuildsLosses) {
  Random random(1);
  for (const Shape shape : {Shape{300, 1},
                            {255, 2},
                            {400, 3},
                            {290, 20},
                            {257, 64},
                            {100, 200},
                            {500, 130},
                            {20, 300}}) {
    const Codec codec = make(shape);
    for (const std::size_t bytes : {1U, 2U, 63U, 128U, 129U, 301U}) {
      WideStripe stripe(codec, bytes, bytes);
      ASSERT_TRUE(stripe.encode());
      stripe.expect_formula(random, 8);
      for (const std::size_t count : {std::uint32_t{1}, (shape.parity + 1) / 2, shape.parity}) {
        auto lost = some_shards(random, count, shape.data + shape.parity);
        stripe.expect_rebuilt(lost);
      }
      std::vector<ShardIndex> first(std::min(shape.parity, shape.data));
      std::iota(first.begin(), first.end(), ShardIndex{0});
      stripe.expect_rebuilt(first);
    }
  }
}

TEST_P(WideCodec, SmallShapesHaveTheBytesOfLch) {
  Random random(2);
  for (const Shape shape : {Shape{4, 2}, {10, 4}, {20, 10}, {100, 30}}) {
    const Codec wide = make(shape);
    CodeSpec spec = wide_spec(shape);
    spec.word_bits = 8;
    const Codec narrow = *Codec::create(spec);
    WideStripe stripe(wide, 258, 7);
    ASSERT_TRUE(stripe.encode());
    std::vector<Bytes> parity(shape.parity, Bytes(258));
    ASSERT_TRUE(narrow.encode(stripe.data(), std::vector<Shard>(parity.begin(), parity.end())));
    for (std::size_t i = 0; i < shape.parity; ++i)
      ASSERT_EQ(parity[i], stripe.shards[shape.data + i]) << i;
  }
}

TEST_P(WideCodec, UpdatesVerifiesAndLocates) {
  Random random(3);
  for (const Shape shape : {Shape{300, 12}, {260, 40}}) {
    const Codec codec = make(shape);
    WideStripe stripe(codec, 301, 11);
    ASSERT_TRUE(stripe.encode());
    ASSERT_TRUE(codec.verify(stripe.data(), stripe.parity())->empty());
    // A change in the middle of a data shard.
    const Bytes delta = bytes_of(random, 100);
    const Codec::Change change{.data_index = 17, .offset = 150, .shard_bytes = 301};
    const Status updated = codec.update(change, delta, stripe.parity_to_write());
    ASSERT_TRUE(updated) << updated.error().message;
    for (std::size_t i = 0; i < delta.size(); ++i)
      stripe.shards[17][150 + i] ^= delta[i];
    ASSERT_TRUE(codec.verify(stripe.data(), stripe.parity())->empty());
    EXPECT_TRUE(codec.locate(stripe.all())->empty());
    // Wrong shards, with others missing.
    auto chosen = some_shards(random, 6, shape.data + shape.parity);
    std::vector<ShardIndex> wrong(chosen.begin(), chosen.begin() + 4);
    const std::vector<ShardIndex> missing(chosen.begin() + 4, chosen.end());
    std::ranges::sort(wrong);
    for (const ShardIndex i : wrong) {
      const Bytes noise = bytes_of(random, stripe.shards[i].size());
      for (std::size_t b = 0; b < noise.size(); ++b)
        stripe.shards[i][b] ^= noise[b];
    }
    EXPECT_FALSE(codec.verify(stripe.data(), stripe.parity())->empty());
    const auto found = codec.locate(stripe.all(), missing);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, wrong);
  }
}

TEST_P(WideCodec, PartsOfAPlanAddUp) {
  Random random(4);
  const Codec codec = make({280, 60});
  WideStripe stripe(codec, 256, 5);
  ASSERT_TRUE(stripe.encode());
  std::vector<ShardIndex> lost = some_shards(random, 60, 340);
  std::vector<ShardIndex> available;
  for (std::size_t i = 0; i < 340; ++i) {
    const auto shard = static_cast<ShardIndex>(i);
    if (std::ranges::find(lost, shard) == lost.end()) available.push_back(shard);
  }
  const Plan plan = *codec.plan_decode(available, lost);
  std::vector<Bytes> sums(lost.size(), Bytes(256));
  const std::vector<Shard> outputs(sums.begin(), sums.end());
  const auto reads = plan.reads();
  for (const auto& part : {reads.first(100), reads.subspan(100)}) {
    const auto partial = codec.plan_partial(plan, part);
    ASSERT_TRUE(partial) << partial.error().message;
    const Status done =
        codec.run(*partial, stripe.views(partial->reads()), outputs, {.accumulate = true});
    ASSERT_TRUE(done) << done.error().message;
  }
  for (std::size_t i = 0; i < lost.size(); ++i)
    EXPECT_EQ(sums[i], stripe.shards[lost[i]]) << i;
}

TEST_P(WideCodec, TakesObjectsPiecesAndBatches) {
  const Codec codec = make({300, 10});
  Random random(6);
  const Bytes object = bytes_of(random, 300 * 130 - 700);
  WideStripe whole(codec, codec.shard_bytes_for(object.size()), 1);
  const std::size_t bytes = whole.shards[0].size();
  for (std::size_t i = 0; i < object.size(); ++i)
    whole.shards[i / bytes][i % bytes] = object[i];
  for (std::size_t i = object.size(); i < 300 * bytes; ++i)
    whole.shards[i / bytes][i % bytes] = std::byte{0};
  ASSERT_TRUE(whole.encode());
  std::vector<Bytes> parity(10, Bytes(codec.parity_bytes(bytes)));
  const std::vector<Shard> outputs(parity.begin(), parity.end());
  const Status done = codec.encode_object(object, bytes, outputs);
  ASSERT_TRUE(done) << done.error().message;
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(parity[i], whole.shards[300 + i]) << i;

  // In two pieces each.
  std::vector<std::vector<ConstShard>> pieces;
  for (const ConstShard shard : whole.data())
    pieces.push_back({shard.first(31), shard.subspan(31)});
  const std::vector<ConstShardPieces> inputs(pieces.begin(), pieces.end());
  std::vector<std::vector<Shard>> out_pieces;
  for (Bytes& shard : parity) {
    std::ranges::fill(shard, std::byte{0});
    out_pieces.push_back({Shard(shard).first(77), Shard(shard).subspan(77)});
  }
  const std::vector<ShardPieces> to(out_pieces.begin(), out_pieces.end());
  const Status in_pieces = codec.run_pieces(codec.plan_encode(), inputs, to);
  ASSERT_TRUE(in_pieces) << in_pieces.error().message;
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(parity[i], whole.shards[300 + i]) << i;

  // rebuild() of a whole stripe.
  std::vector<Bytes> copies = whole.shards;
  const std::vector<ShardIndex> missing = {3, 299, 301};
  for (const ShardIndex i : missing)
    std::ranges::fill(copies[i], std::byte{0});
  const Status rebuilt = codec.rebuild(std::vector<Shard>(copies.begin(), copies.end()), missing);
  ASSERT_TRUE(rebuilt) << rebuilt.error().message;
  EXPECT_EQ(copies, whole.shards);
}

std::vector<std::string> backends() {
  std::vector<std::string> names = {"reference"};
  for (const BackendInfo& info : list_backends()) {
    if (info.available && info.name.starts_with("cpu:")) names.push_back(info.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Backends, WideCodec, testing::ValuesIn(backends()), [](const auto& each) {
  std::string name = each.param;
  std::ranges::replace_if(
      name, [](char letter) { return letter == ':' || letter == '-'; }, '_');
  return name;
});

TEST(WideSpec, BeyondBytesTheDefaultIsLchOver16Bits) {
  CodeSpec spec;
  spec.data_shards = 1000;
  spec.parity_shards = 200;
  const Codec codec = *Codec::create(spec, {.backend = "reference"});
  EXPECT_EQ(codec.spec().family, CodeFamily::lch);
  EXPECT_EQ(codec.spec().word_bits, 16);
  EXPECT_EQ(codec.spec().polynomial, 0x11DU);
  EXPECT_EQ(codec.proof().kind, CodeProof::Kind::cauchy);
  EXPECT_EQ(codec.proof().losses, 200U);
  EXPECT_EQ(*decode_spec(*encode_spec(codec.spec())), codec.spec());
  spec.matrix_hash = codec.spec().matrix_hash + 1;
  EXPECT_EQ(Codec::create(spec).error().code, ErrorCode::corrupt);
}

// A plan has 0.6 MB, so 1024 of them would take most of a small machine's memory.
TEST(WideSpec, PlansTakeAnEntryOfTheCachePer64KiB) {
  const Codec codec =
      *Codec::create(wide_spec({65'000, 500}), {.backend = "reference", .plan_cache_entries = 20});
  const auto plan_without = [&](ShardIndex lost) {
    std::vector<ShardIndex> available(65'500);
    std::iota(available.begin(), available.end(), ShardIndex{0});
    available.erase(available.begin() + lost);
    return *codec.plan_decode(available, std::vector{lost});
  };
  const Plan first = plan_without(0);
  const Plan second = plan_without(1);
  const auto is_kept = [&](const Plan& plan) {
    return plan_without(plan.writes()[0]).coefficients().data() == plan.coefficients().data();
  };
  EXPECT_TRUE(is_kept(first));
  EXPECT_TRUE(is_kept(second));
  const Plan third = plan_without(2);
  EXPECT_TRUE(is_kept(third));
  EXPECT_TRUE(is_kept(second));
  EXPECT_FALSE(is_kept(first));
}

TEST(WideSpec, OtherBackendsRefuseIt) {
  std::vector<std::string> names = {"cpu+cpu"};
  for (const BackendInfo& info : list_backends()) {
    const bool codes_it = info.name == "auto" || info.name == "reference" || info.name == "cpu" ||
                          info.name.starts_with("cpu:");
    if (info.available && !codes_it) names.push_back(info.name);
  }
  for (const std::string& name : names) {
    const auto refused = Codec::create(wide_spec({300, 20}), {.backend = name});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::backend_unavailable) << name;
    EXPECT_NE(refused.error().message.find(
                  " does not code 300+20 with word_bits 16; expected cpu or auto"),
              std::string::npos)
        << name << ": " << refused.error().message;
  }
}

TEST(WideSpec, RefusesWhatDoesNotFit) {
  const auto refusal = [](CodeSpec spec) { return Codec::create(spec).error().message; };
  CodeSpec spec = wide_spec({40'000, 20'000});
  EXPECT_EQ(refusal(spec),
            "data_shards is 40000 and parity_shards 20000; expected (ceil(data_shards / N) + 1) * "
            "N <= 65536 for profile lch, with N the smallest power of two >= parity_shards: N is "
            "32768, which makes 98304");
  spec = wide_spec({60'000, 6'000});
  EXPECT_EQ(refusal(spec),
            "data_shards + parity_shards is 66000; expected at most 65536 for profile lch over "
            "GF(2^16)");
  spec = {.family = CodeFamily::cauchy, .data_shards = 300, .parity_shards = 3};
  EXPECT_EQ(refusal(spec),
            "data_shards + parity_shards is 303; expected at most 256 for profile cauchy over "
            "GF(2^8); profile lch takes more");
  spec.word_bits = 16;
  EXPECT_EQ(refusal(spec),
            "word_bits is 16; expected 8 for profile cauchy with layout bytes; only lch has 16");
  spec = wide_spec({300, 3});
  spec.polynomial = 0x11B;
  EXPECT_EQ(refusal(spec), "polynomial is 283; expected 285 (0x11D) for profile lch");
}

}  // namespace
}  // namespace calpe
