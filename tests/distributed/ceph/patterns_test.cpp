// SPDX-License-Identifier: Apache-2.0
// Decodes every loss pattern of MDS codes from exactly the chunks that minimum_to_decode names.
#include "distributed/ceph/stripe.hpp"

namespace {

using ceph_host::Profile;
using ceph_host::Stripe;

struct Shape {
  int data, parity;
  unsigned patterns;  // of 1 to m losses
};

class Patterns : public testing::TestWithParam<std::tuple<Shape, const char*, unsigned>> {};

Profile profile_of(const Shape& shape, const std::string& name) {
  return {{"plugin", "calpe"},
          {"k", std::to_string(shape.data)},
          {"m", std::to_string(shape.parity)},
          {"profile", name}};
}

TEST_P(Patterns, EveryOneIsRebuiltFromTheFewestChunks) {
  const auto& [shape, name, chunk_bytes] = GetParam();
  const Stripe stripe(ceph_host::require_code(profile_of(shape, name)), chunk_bytes, 1);
  unsigned rebuilt = 0;
  for (std::uint32_t lost = 1; lost <= stripe.all(); ++lost) {
    const int losses = ceph_host::shard_count_of(lost);
    const std::uint32_t available = stripe.all() & ~lost;
    if (losses > shape.parity + 1) continue;
    if (losses > shape.parity) {
      ASSERT_EQ(stripe.minimum(lost, available), 0u) << "accepted: " << lost;
      continue;
    }
    const std::uint32_t for_object = stripe.minimum(stripe.data(), available);
    const std::uint32_t for_lost = stripe.minimum(lost, available);
    ASSERT_EQ(ceph_host::shard_count_of(for_object), shape.data) << lost;
    ASSERT_EQ(ceph_host::shard_count_of(for_lost), shape.data) << lost;
    ASSERT_TRUE(stripe.reads_back(*stripe.code, for_object)) << lost;
    ASSERT_TRUE(stripe.rebuilds(*stripe.code, for_lost, lost)) << lost;
    // fast_read passes more chunks than requested
    ASSERT_TRUE(stripe.rebuilds(*stripe.code, available, lost)) << lost;
    ++rebuilt;
  }
  EXPECT_EQ(rebuilt, shape.patterns);
}

constexpr Shape shapes[] = {{4, 2, 21}, {8, 3, 231}, {10, 4, 1470}, {12, 4, 2516}};
INSTANTIATE_TEST_SUITE_P(Default, Patterns,
                         testing::Combine(testing::ValuesIn(shapes), testing::Values("default"),
                                          testing::Values(64u, 4096u)));
INSTANTIATE_TEST_SUITE_P(Others, Patterns,
                         testing::Combine(testing::Values(Shape{4, 2, 21}, Shape{8, 3, 231}),
                                          testing::Values("cauchy", "vandermonde", "hybrid-good"),
                                          testing::Values(4096u)));
INSTANTIATE_TEST_SUITE_P(ManyParity, Patterns,
                         testing::Combine(testing::Values(Shape{6, 5, 1023}),
                                          testing::Values("lch"), testing::Values(4096u)));

// The plugin keeps 1,024 plans. Also runs backwards, so that some are cached and others are not.
TEST(Plans, ManyMoreThanAreKeptAreRight) {
  const Stripe stripe(ceph_host::require_code(profile_of({16, 4, 0}, "default")), 64, 3);
  unsigned rebuilt = 0;
  for (const bool is_backwards : {false, true}) {
    for (std::uint32_t i = 1; i <= stripe.all(); ++i) {
      const std::uint32_t lost = is_backwards ? stripe.all() + 1 - i : i;
      if (ceph_host::shard_count_of(lost) > 4) continue;
      ASSERT_TRUE(stripe.rebuilds(*stripe.code, stripe.all() & ~lost, lost)) << lost;
      ++rebuilt;
    }
  }
  EXPECT_EQ(rebuilt, 2 * 6195u);
}

TEST(Minimum, PrefersWhatIsWantedAnyway) {
  const Stripe stripe(ceph_host::require_code(profile_of({8, 3, 0}, "default")), 64, 2);
  EXPECT_EQ(stripe.minimum(0b111, stripe.all()), 0b111u);  // nothing is lost
  // Chunk 0 is lost; 10 is parity and wanted, so it is one of the eight.
  const std::uint32_t named = stripe.minimum(0b100'0000'0001, stripe.all() & ~1u);
  EXPECT_EQ(ceph_host::shard_count_of(named), 8);
  EXPECT_TRUE((named >> 10 & 1) != 0);
}

TEST(Minimum, CostsDecideAmongEquals) {
  const auto code = ceph_host::require_code(profile_of({4, 2, 0}, "default"));
  std::set<int> named;
  ASSERT_EQ(
      code->minimum_to_decode_with_cost({0}, {{1, 9}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}, &named), 0);
  EXPECT_EQ(named, (std::set<int>{2, 3, 4, 5}));
  named.clear();
  EXPECT_EQ(code->minimum_to_decode_with_cost({0}, {{1, 1}, {2, 1}, {3, 1}}, &named), -EIO);
  EXPECT_TRUE(named.empty());
}

}  // namespace
