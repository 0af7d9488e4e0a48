// SPDX-License-Identifier: Apache-2.0
// Plants wrong symbols. The locator must name their shards, or report that it cannot.
#include "plan/error_locator.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "base/next_subset.hpp"
#include "code/code.hpp"
#include "plan/linear_solve.hpp"

namespace calpe::plan {
namespace {

using gf::Element;
using Indices = std::vector<ShardIndex>;

code::Code code_of(const char* profile, unsigned data, unsigned parity, unsigned groups = 0) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  spec.local_groups = static_cast<std::uint16_t>(groups);
  return *code::make_code(spec);
}

// Returns the syndromes when shards[i] is wrong by errors[i].
std::vector<Element> syndromes_of(const code::Code& code, const Recipe& prediction,
                                  const Indices& shards, const std::vector<Element>& errors) {
  std::vector<Element> syndromes(prediction.writes.size());
  for (std::size_t c = 0; c < syndromes.size(); ++c) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const auto read = std::ranges::find(prediction.reads, shards[i]);
      Element factor = prediction.writes[c] == shards[i] ? 1 : 0;
      if (read != prediction.reads.end()) {
        factor =
            prediction.coefficients(c, static_cast<std::size_t>(read - prediction.reads.begin()));
      }
      syndromes[c] = static_cast<Element>(syndromes[c] ^ code.field->multiply(factor, errors[i]));
    }
  }
  return syndromes;
}

// Tries every set of `wrong` available shards.
void expect_all_located(const code::Code& code, const Indices& missing, std::size_t wrong) {
  const DecodePlanner planner(code);
  const auto locator = ErrorLocator::create(planner, missing);
  ASSERT_TRUE(locator.has_value()) << locator.error().message;
  Indices there;
  for (std::size_t i = 0; i < code.shards(); ++i) {
    const auto shard = static_cast<ShardIndex>(i);
    if (!std::ranges::binary_search(missing, shard)) there.push_back(shard);
  }
  std::mt19937 random(5);
  std::vector<std::size_t> subset(wrong);
  std::iota(subset.begin(), subset.end(), std::size_t{0});
  do {
    Indices shards;
    std::vector<Element> errors;
    for (const std::size_t i : subset) {
      shards.push_back(there[i]);
      errors.push_back(static_cast<Element>(1 + random() % 255));
    }
    const auto syndromes = syndromes_of(code, locator->prediction(), shards, errors);
    const auto found = locator->explain(syndromes, 2);
    ASSERT_TRUE(found.has_value()) << shards[0];
    EXPECT_EQ(*found, shards);
    if (wrong == 2) {
      EXPECT_FALSE(locator->explain(syndromes, 1)) << "two are not one";
    }
  } while (next_subset(std::span(subset), there.size()));
}

TEST(ErrorLocator, NamesEverySetOfWrongShards) {
  for (const std::size_t wrong : {1U, 2U}) {
    expect_all_located(code_of("hybrid", 6, 4), {}, wrong);
    expect_all_located(code_of("lrc", 6, 6, 2), {}, wrong);
  }
  expect_all_located(code_of("hybrid", 6, 4), {0, 7}, 1);
  expect_all_located(code_of("hybrid", 6, 5), {2}, 2);
  expect_all_located(code_of("lrc", 6, 6, 2), {1, 4}, 1);
  expect_all_located(code_of("lrc", 6, 6, 2), {6, 11}, 1);
}

// For any syndromes, the named shards explain them.
TEST(ErrorLocator, NamesOnlyWhatExplains) {
  std::mt19937 random(6);
  for (const code::Code& code : {code_of("hybrid", 5, 4), code_of("lrc", 6, 6, 2)}) {
    const DecodePlanner planner(code);
    const auto locator = *ErrorLocator::create(planner, {});
    const Recipe& prediction = locator.prediction();
    unsigned unexplained = 0;
    for (int round = 0; round < 300; ++round) {
      std::vector<Element> syndromes(prediction.writes.size());
      for (Element& syndrome : syndromes)
        syndrome = static_cast<Element>(random() % 4 == 0 ? 0 : random() % 256);
      syndromes[static_cast<std::size_t>(round) % syndromes.size()] = 1;
      const auto found = locator.explain(syndromes, 2);
      if (!found) {
        ++unexplained;
        continue;
      }
      gf::Matrix system(syndromes.size(), found->size());
      for (std::size_t i = 0; i < found->size(); ++i) {
        const auto column = syndromes_of(code, prediction, {(*found)[i]}, {1});
        for (std::size_t c = 0; c < column.size(); ++c)
          system(c, i) = column[c];
      }
      EXPECT_TRUE(solve_unique(*code.field, system, syndromes)) << round;
    }
    EXPECT_GT(unexplained, 100U) << "most have no explanation by two";
  }
}

// In a group with only its own parity, one wrong shard may be any of the group.
TEST(ErrorLocator, NamesNoneIfTwoExplanationsExist) {
  const code::Code code = code_of("lrc", 4, 2, 2);
  const DecodePlanner planner(code);
  const auto locator = *ErrorLocator::create(planner, {});
  const auto syndromes = syndromes_of(code, locator.prediction(), {1}, {77});
  EXPECT_FALSE(locator.explain(syndromes, 1));
  EXPECT_FALSE(locator.explain(syndromes, 0));
}

TEST(ErrorLocator, NeedsShardsThatDetermineTheData) {
  const code::Code mds = code_of("hybrid", 4, 2);
  const DecodePlanner planner(mds);
  const auto too_few = ErrorLocator::create(planner, Indices{0, 1, 2});
  ASSERT_FALSE(too_few.has_value());
  EXPECT_EQ(too_few.error().code, ErrorCode::unrecoverable);
  EXPECT_EQ(too_few.error().message,
            "missing names 3 shards; expected at most 1: no redundancy is left to check with");
  const code::Code local = code_of("lrc", 6, 3, 3);  // two data shards in each group
  const DecodePlanner local_planner(local);
  const auto one_group = ErrorLocator::create(local_planner, Indices{0, 1});
  ASSERT_FALSE(one_group.has_value());
  EXPECT_EQ(one_group.error().message,
            "data shards 0, 1 cannot be rebuilt from the shards that are not missing");
}

TEST(LinearSolve, OneSolutionOrNone) {
  const auto field = *gf::Field::create(8, 0);
  const auto matrix = [](std::size_t rows, std::size_t columns, std::vector<Element> cells) {
    gf::Matrix made(rows, columns);
    for (std::size_t i = 0; i < cells.size(); ++i)
      made(i / columns, i % columns) = cells[i];
    return made;
  };
  using Vector = std::vector<Element>;
  EXPECT_EQ(solve_unique(*field, matrix(2, 2, {0, 1, 1, 0}), {5, 6}), (Vector{6, 5}));
  EXPECT_EQ(solve_unique(*field, matrix(3, 2, {0, 2, 1, 0, 1, 2}), {2, 7, 5}), (Vector{7, 1}));
  EXPECT_FALSE(solve_unique(*field, matrix(3, 2, {0, 2, 1, 0, 1, 2}), {2, 7, 4})) << "no solution";
  EXPECT_FALSE(solve_unique(*field, matrix(2, 2, {1, 2, 1, 2}), {3, 3})) << "many";
  EXPECT_FALSE(solve_unique(*field, matrix(2, 2, {0, 1, 0, 2}), {3, 6})) << "a column of zeros";
  EXPECT_FALSE(solve_unique(*field, matrix(1, 2, {1, 2}), {3})) << "too few equations";
}

}  // namespace
}  // namespace calpe::plan
