// SPDX-License-Identifier: Apache-2.0
// Tests every golden vector on every backend of this machine: its parity is computed, and lost
// shards are rebuilt. vectors_test.py compares the same vectors with a second implementation.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "code/families.hpp"
#include "gf/field.hpp"
#include "gf/matrix.hpp"
#include "support/formula_stripe.hpp"
#include "support/rebuild_check.hpp"
#include "support/vector_file.hpp"
#include "support/with_reram.hpp"

namespace calpe::tests {
namespace {

const std::filesystem::path vectors_folder = CALPE_TEST_DATA "/vectors";

const std::vector<GoldenVector>& all_vectors() {
  static const std::vector<GoldenVector> vectors = [] {
    std::vector<GoldenVector> read;
    for (const auto& entry : std::filesystem::directory_iterator(vectors_folder)) {
      if (entry.path().extension() != ".json") continue;
      const Json json = read_json(entry.path());
      if (!json.contains("vectors")) continue;
      for (const Json& vector : json.at("vectors"))
        read.push_back(from_json(vector));
    }
    return read;
  }();
  return vectors;
}

std::string name_of(const GoldenVector& vector) {
  const CodeSpec& spec = vector.spec;
  return vector.profile + " " + std::to_string(spec.data_shards) + "+" +
         std::to_string(spec.parity_shards) + " w=" + std::to_string(spec.word_bits) +
         " packet_bytes=" + std::to_string(spec.packet_bytes);
}

Result<Codec> make_codec(const GoldenVector& vector, const std::string& backend) {
  const CodecOptions options{.backend = backend};
  if (vector.spec.family != CodeFamily::custom) return Codec::create(vector.spec, options);
  return Codec::create_from_matrix(vector.spec, vector.parity_rows, options);
}

TEST(Vectors, EveryProfileAndLayoutHasSome) {
  const auto has = [](CodeFamily family, Layout layout) {
    return std::ranges::any_of(all_vectors(), [&](const GoldenVector& vector) {
      return vector.spec.family == family && vector.spec.layout == layout;
    });
  };
  for (const Profile& profile : list_profiles()) {
    EXPECT_EQ(has(profile.family, Layout::bytes), profile.bytes_layout) << profile.name;
    EXPECT_EQ(has(profile.family, Layout::packets), profile.packets_layout) << profile.name;
  }
  EXPECT_TRUE(has(CodeFamily::custom, Layout::bytes));
  EXPECT_TRUE(has(CodeFamily::custom, Layout::packets));
}

// The stored specs are resolved: they leave nothing that affects bytes to a default, except the
// profile `default` itself.
TEST(Vectors, SpecsResolveToThemselvesAndGiveTheStoredRows) {
  for (const GoldenVector& vector : all_vectors()) {
    const auto codec = make_codec(vector, "reference");
    ASSERT_TRUE(codec) << name_of(vector) << ": " << codec.error().message;
    CodeSpec expected = vector.spec;
    if (expected.family == CodeFamily::default_code) {
      expected.family = codec->spec().family;
      ASSERT_NE(expected.family, CodeFamily::default_code) << name_of(vector);
    }
    ASSERT_EQ(codec->spec(), expected) << name_of(vector);
    if (vector.spec.family == CodeFamily::custom) continue;
    ASSERT_EQ(*parity_rows(vector.spec), vector.parity_rows) << name_of(vector);
  }
}

class VectorsOnBackend : public testing::TestWithParam<std::string> {};

TEST_P(VectorsOnBackend, ParityIsWrittenAndLossesAreRebuilt) {
  for (const GoldenVector& vector : all_vectors()) {
    SCOPED_TRACE(name_of(vector));
    const auto codec = make_codec(vector, GetParam());
    ASSERT_TRUE(codec) << codec.error().message;
    const std::size_t k = vector.spec.data_shards;
    for (const GoldenStripe& golden : vector.stripes) {
      SCOPED_TRACE(testing::Message() << golden.shard_bytes << " bytes");
      const FormulaStripe stripe = make_stripe(*codec, golden.shard_bytes);
      const Status done = codec->encode(stripe.data(), stripe.parity());
      ASSERT_TRUE(done) << done.error().message;
      ASSERT_EQ(golden.parity.size(), vector.spec.parity_shards);
      for (std::size_t i = 0; i < golden.parity.size(); ++i) {
        ASSERT_EQ(to_hex(stripe.shard(k + i)), golden.parity[i]) << "parity " << i;
      }
      // m for every code except lrc.
      const std::size_t losses = codec->proof().losses;
      for (const std::size_t first : {std::size_t{0}, k / 2, k - 1, k}) {
        ASSERT_TRUE(rebuilds(*codec, stripe, losses_from(first, losses, stripe.shard_count())))
            << losses << " lost from shard " << first;
      }
    }
  }
}

std::vector<std::string> available_backends() {
  std::vector<std::string> names;
  for (const BackendInfo& info : list_backends()) {
    if (info.available) names.push_back(info.name);
  }
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

TEST_P(VectorsOnBackend, TagsAreEqual) {
  for (const Json& golden : read_json(vectors_folder / "tags.json").at("tags")) {
    const auto codec = Codec::create({.family = CodeFamily::cauchy,
                                      .data_shards = 2,
                                      .parity_shards = 1,
                                      .polynomial = golden.at("polynomial")},
                                     {.backend = GetParam()});
    ASSERT_TRUE(codec) << codec.error().message;
    std::vector<std::byte> shard(golden.at("shard_bytes").get<std::size_t>());
    for (std::size_t i = 0; i < shard.size(); ++i)
      shard[i] = formula_byte(golden.at("shard").get<std::uint64_t>(), i);
    std::vector<std::byte> tag(tag_bytes);
    const ConstShard only = shard;
    ASSERT_TRUE(codec->tag(std::span(&only, 1), tag));
    EXPECT_EQ(to_hex(tag), golden.at("tag").get<std::string>()) << golden;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, VectorsOnBackend, testing::ValuesIn(available_backends()),
                         test_name);

// The point table of the second implementation is the library's. Over the whole field every point
// affects some coefficient, for some m.
TEST(Vectors, HybridGoodPointsAreTheLibrarys) {
  const Json tables = read_json(vectors_folder / "hybrid-good-points.json").at("points");
  for (unsigned w = 4; w <= 8; ++w) {
    const auto field = *gf::Field::create(w, 0);
    const std::vector<unsigned> points = tables.at(std::to_string(w));
    const std::size_t shards = std::size_t{1} << w;
    ASSERT_EQ(points.size(), shards);
    for (const std::size_t m : {std::size_t{3}, shards / 2, shards - 2}) {
      const code::Size size{.data = shards - m, .parity = m};
      const gf::Matrix rows = code::hybrid_good_rows(*field, size);
      for (std::size_t i = 1; i < m; ++i) {
        // Row i is s_i / (x_i + y_j) with one s_i for all j.
        const auto scale = [&](std::size_t j) {
          const unsigned sum = points[shards - i] ^ points[j];
          return field->multiply(rows(i, j), static_cast<gf::Element>(sum));
        };
        for (std::size_t j = 0; j < size.data; ++j) {
          ASSERT_NE(scale(j), 0U);
          ASSERT_EQ(scale(j), scale(0)) << "w = " << w << ", m = " << m << ", " << i << ", " << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace calpe::tests
