// SPDX-License-Identifier: Apache-2.0
#include "opt/pair_sharing.hpp"

#include <gtest/gtest.h>

#include "support/random_choice.hpp"

namespace calpe::opt {
namespace {

using conformance::Random;

RowSets random_sets(Random& random, std::size_t rows, std::size_t columns) {
  RowSets sets(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      if (random.coin()) sets.flip(r, c);
    }
  }
  return sets;
}

// Expands row r to the initial columns that it adds.
std::vector<bool> row_of(const RowSets& sets, std::size_t row, std::size_t inputs,
                         const std::vector<SharedPair>& pairs) {
  std::vector<bool> has(inputs + pairs.size());
  for (std::size_t c = 0; c < has.size(); ++c)
    has[c] = sets.get(row, c);
  for (std::size_t i = pairs.size(); i-- > 0;) {
    if (!has[inputs + i]) continue;
    has[pairs[i].left] = !has[pairs[i].left];
    has[pairs[i].right] = !has[pairs[i].right];
  }
  has.resize(inputs);
  return has;
}

std::size_t ones(const RowSets& sets) {
  std::size_t count = 0;
  for (std::size_t r = 0; r < sets.rows(); ++r) {
    for (std::size_t c = 0; c < sets.columns(); ++c)
      count += sets.get(r, c) ? 1 : 0;
  }
  return count;
}

std::size_t most_common(const RowSets& sets) {
  std::size_t most = 0;
  for (std::size_t a = 0; a < sets.columns(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      std::size_t count = 0;
      for (std::size_t r = 0; r < sets.rows(); ++r)
        count += sets.get(r, a) && sets.get(r, b) ? 1 : 0;
      most = std::max(most, count);
    }
  }
  return most;
}

// Rows {0,1,2}, {0,1,3}, {0,1,2,3}: 0+1 is in all three and becomes value 4, then 4+2 value 5.
TEST(PairSharing, the_most_common_pair_comes_first) {
  RowSets sets(3, 4);
  for (const auto& [row, column] : std::vector<std::pair<int, int>>{
           {0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 3}, {2, 0}, {2, 1}, {2, 2}, {2, 3}}) {
    sets.flip(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
  }
  const std::vector<SharedPair> pairs = share_pairs(sets);
  EXPECT_EQ(pairs, (std::vector<SharedPair>{{0, 1}, {2, 4}}));
  EXPECT_EQ(ones(sets), 5U);  // {5}, {3,4}, {3,5}
}

TEST(PairSharing, keeps_every_row_and_leaves_no_common_pair) {
  Random random = Random::of_test("keeps_every_row");
  SCOPED_TRACE(conformance::repeat_with());
  for (int trial = 0; trial < 300; ++trial) {
    const auto rows = random.between<std::size_t>(0, trial % 10 == 0 ? 200 : 70);
    const auto columns = random.between<std::size_t>(0, 40);
    const SharingRules rules{.min_count = random.between<std::uint32_t>(2, 4),
                             .values_max = random.one_in(4) ? random.below(20) : ~std::size_t{0},
                             .seed = random.below(3)};
    const RowSets before = random_sets(random, rows, columns);
    RowSets after = before;
    const std::vector<SharedPair> pairs = share_pairs(after, rules);
    ASSERT_LE(pairs.size(), rules.values_max);
    if (rows == 0) continue;
    ASSERT_EQ(after.columns(), columns + pairs.size());
    for (std::size_t r = 0; r < rows; ++r)
      ASSERT_EQ(row_of(after, r, columns, pairs), row_of(before, r, columns, {})) << r;
    // A pair in n rows costs one XOR instead of n.
    ASSERT_LE(ones(after) + pairs.size() * rules.min_count, ones(before));
    if (pairs.size() < rules.values_max) {
      ASSERT_LT(most_common(after), rules.min_count);
    }
  }
}

TEST(PairSharing, is_the_same_for_a_seed) {
  Random random(7);
  const RowSets start = random_sets(random, 32, 80);
  const auto shared = [&](std::uint64_t seed) {
    RowSets sets = start;
    return share_pairs(sets, {.seed = seed});
  };
  EXPECT_EQ(shared(0), shared(0));
  EXPECT_EQ(shared(5), shared(5));
  EXPECT_NE(shared(5), shared(6));
}

}  // namespace
}  // namespace calpe::opt
