// SPDX-License-Identifier: Apache-2.0
// Compares expand() of a transform with the rows of the code and with the definition.
#include "ir/transform.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "code/lch.hpp"
#include "conformance/random_transform.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"

namespace calpe::ir {
namespace {

using conformance::Random;
using gf::Element;
using gf::Matrix;

Element sum(Element a, Element b) {
  return static_cast<Element>(a ^ b);
}

// The definition in transform.hpp with numbers in place of instructions: the contribution of one
// input to every value, when it is 1 and the others are 0.
std::vector<Element> values_of_input(const Transform& t, std::size_t place) {
  const std::size_t size = t.size();
  std::vector<Element> v(size);
  v[place % size] = 1;
  if (place < size) return v;
  const std::size_t base = place / size * size;
  for (unsigned i = 0; i < t.log_size; ++i) {
    for (std::size_t n = 0; n < size; ++n) {
      if ((n >> i) % 2 != 0) continue;
      Element& x = v[n];
      Element& y = v[n + (std::size_t{1} << i)];
      const std::size_t first = n >> (i + 1) << (i + 1);
      y = sum(y, x);
      x = sum(x, t.field->multiply(t.points[(base + first) >> i], y));
    }
  }
  for (unsigned i = t.log_size; i-- > 0;) {
    for (std::size_t n = 0; n < size; ++n) {
      if ((n >> i) % 2 != 0) continue;
      Element& x = v[n];
      Element& y = v[n + (std::size_t{1} << i)];
      const std::size_t first = n >> (i + 1) << (i + 1);
      x = sum(x, t.field->multiply(t.points[first >> i], y));
      y = sum(y, x);
    }
  }
  return v;
}

Matrix definition(const Transform& t) {
  Matrix values(t.values.size(), t.places.size());
  for (std::size_t c = 0; c < t.places.size(); ++c) {
    const std::vector<Element> column = values_of_input(t, t.places[c]);
    for (std::size_t r = 0; r < t.values.size(); ++r)
      values(r, c) = column[t.values[r]];
  }
  return t.finish ? gf::multiply(*t.field, *t.finish, values) : values;
}

std::string describe(const Transform& t) {
  std::string text = "N = " + std::to_string(t.size()) + ", places";
  for (const std::uint16_t place : t.places)
    text += " " + std::to_string(place);
  text += ", values";
  for (const std::uint16_t place : t.values)
    text += " " + std::to_string(place);
  return text + (t.finish ? ", finished" : "");
}

testing::AssertionResult expands_to(const Transform& transform, const Matrix& expected) {
  const Status done = verify_map(expand(transform), expected);
  if (done) return testing::AssertionSuccess();
  return testing::AssertionFailure() << done.error().message << ": " << describe(transform);
}

struct Fixture {
  gf::FieldRef field = *gf::Field::create(8, 0);
  code::LchForm form = code::lch_form(*field, 1);

  Transform encode(std::size_t data, std::size_t parity) const {
    Random random(1);
    Transform transform{
        .field = field, .points = form.points, .log_size = code::lch_form(*field, parity).log_size};
    const std::size_t size = transform.size();
    transform.places = conformance::random_places(random, size, size + data, false);
    transform.values = conformance::random_places(random, 0, parity, false);
    return transform;
  }
};

TEST(Transform, EncodesAsTheRowsOfTheCode) {
  const Fixture fixture;
  for (std::size_t parity = 1; parity <= 128; parity += parity < 20 ? 1 : 9) {
    const std::size_t room = 256 - code::lch_size(parity);
    for (const std::size_t data : {std::size_t{1}, std::size_t{2}, parity, 2 * parity + 1, room}) {
      if (data > room) continue;
      const Matrix rows = code::lch_rows(*fixture.field, {.data = data, .parity = parity});
      ASSERT_TRUE(expands_to(fixture.encode(data, parity), rows));
    }
  }
}

TEST(Transform, ExpandsToItsDefinition) {
  Random random(2);
  for (unsigned log_size = 0; log_size <= 7; ++log_size) {
    for (int round = 0; round < 60; ++round) {
      const Transform transform = conformance::random_transform(random, log_size);
      ASSERT_TRUE(expands_to(transform, definition(transform)));
    }
  }
}

TEST(Transform, OneInputAnywhere) {
  const Fixture fixture;
  for (unsigned log_size = 0; log_size <= 7; ++log_size) {
    Random random(log_size);
    Transform transform = fixture.encode(1, std::size_t{1} << log_size);
    for (std::uint16_t place = 0; place < 256; ++place) {
      transform.places = {place};
      ASSERT_TRUE(expands_to(transform, definition(transform)));
    }
  }
}

// Adds two equal values, and a value to itself: y += x is then zero.
TEST(Transform, FinishAddsEqualValues) {
  const Fixture fixture;
  Transform transform = fixture.encode(1, 8);
  transform.finish.emplace(3, 8);
  std::ranges::fill(transform.finish->row(0), Element{1});
  std::ranges::fill(transform.finish->row(1), Element{7});  // the third row stays zero
  ASSERT_TRUE(expands_to(transform, definition(transform)));
}

TEST(Transform, NoInputsAreZeros) {
  const Fixture fixture;
  for (const std::size_t parity : {1U, 8U}) {
    Transform transform = fixture.encode(1, parity);
    transform.places.clear();
    ASSERT_TRUE(expands_to(transform, Matrix(parity, 0)));
  }
}

// A transform that was multiplied out would be equal too, so count the products.
TEST(Transform, SharesWhatTheMatrixRepeats) {
  const Fixture fixture;
  struct Bound {
    std::size_t data, parity, times;  // the matrix has `times` as many products
  };
  for (const Bound& bound : {Bound{16, 16, 3}, Bound{64, 16, 5}, Bound{96, 32, 8},
                             Bound{128, 128, 18}, Bound{224, 32, 10}}) {
    const Transform transform = fixture.encode(bound.data, bound.parity);
    const Cost shared = cost(expand(transform));
    const Cost matrix = cost(build(fixture.field, definition(transform)));
    EXPECT_LT(shared.multiplications * bound.times, matrix.multiplications) << describe(transform);
    EXPECT_LT(shared.xors, matrix.xors) << describe(transform);
    // A butterfly is a product unless its coefficient is 0 or 1; a layer has N/2 of them.
    const std::size_t chunks = (bound.data + transform.size() - 1) / transform.size();
    EXPECT_LE(shared.multiplications, (chunks + 1) * transform.log_size * transform.size() / 2);
  }
}

TEST(Transform, CountsItsOutputs) {
  const Fixture fixture;
  Transform transform = fixture.encode(20, 10);
  EXPECT_EQ(transform.size(), 16U);
  EXPECT_EQ(transform.outputs(), 10U);
  transform.finish.emplace(3, 10);
  EXPECT_EQ(transform.outputs(), 3U);
}

}  // namespace
}  // namespace calpe::ir
