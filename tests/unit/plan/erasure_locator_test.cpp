// SPDX-License-Identifier: Apache-2.0
// Both ways to compute an erasure locator, against products of its factors.
#include "plan/erasure_locator.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "support/cantor_points.hpp"
#include "support/random_choice.hpp"

namespace calpe::plan {
namespace {

using conformance::Random;
using gf::Element;

std::vector<std::uint16_t> choose(Random& random, std::size_t count, std::size_t end) {
  std::vector<std::uint16_t> all(end);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  random.shuffle(std::span(all));
  all.resize(count);
  return all;
}

TEST(ErasureLocator, IsTheProductOfItsFactors) {
  Random random(1);
  for (const unsigned word_bits : {4U, 8U, 16U}) {
    const gf::FieldRef field = *gf::Field::create(word_bits, 0);
    const auto points = conformance::cantor_points(*field);
    for (int round = 0; round < 40; ++round) {
      const auto count = random.between<std::size_t>(1, std::min<std::size_t>(field->size(), 2000));
      const auto erased =
          choose(random, random.between<std::size_t>(0, std::min<std::size_t>(count, 200)), count);
      const auto logs = locator_logs(*field, points, erased, count);
      ASSERT_EQ(logs.size(), count);
      for (std::size_t x = 0; x < count; ++x) {
        Element product = 1;
        for (const std::uint16_t z : erased) {
          if (z == x) continue;
          product = field->multiply(product, static_cast<Element>(points[x] ^ points[z]));
        }
        ASSERT_LT(logs[x], field->order());
        ASSERT_EQ(field->exp(logs[x]), product) << x << " of " << count;
      }
      EXPECT_EQ(locator_logs_by_sums(*field, points, erased, count), logs);
      EXPECT_EQ(locator_logs_by_transform(*field, points, erased, count), logs);
    }
  }
}

// The numbers within the transform are largest here.
TEST(ErasureLocator, AllPointsOfTheLargestField) {
  Random random(2);
  const gf::FieldRef field = *gf::Field::create(16, 0);
  const auto points = conformance::cantor_points(*field);
  for (const std::size_t lost : {65535U, 32768U, 40000U}) {
    const auto erased = choose(random, lost, 65535);
    const auto logs = locator_logs(*field, points, erased, 65535);
    for (int sample = 0; sample < 50; ++sample) {
      const std::size_t x = random.below(65535);
      std::uint64_t sum = 0;
      for (const std::uint16_t z : erased)
        sum += z == x ? 0 : field->log(points[x ^ z]);
      ASSERT_EQ(logs[x], sum % field->order()) << x << ", lost " << lost;
    }
  }
}

}  // namespace
}  // namespace calpe::plan
