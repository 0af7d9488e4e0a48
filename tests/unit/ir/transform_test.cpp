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

// The definition in transform.hpp with numbers in place of instructions: the effect of one input on
// every output, when it is 1 and the others are 0.
class OneInput {
 public:
  OneInput(const Transform& t, std::size_t input) : t_(t), index_(input), place_(t.places[input]) {}

  std::vector<Element> outputs() const { return t_.locator ? located(*t_.locator) : finished(); }

 private:
  using Column = std::vector<Element>;

  template <class Butterfly>
  void layer(std::size_t base, unsigned i, Butterfly butterfly) const {
    for (std::size_t n = 0; n < t_.size(); ++n) {
      if ((n >> i) % 2 != 0) continue;
      const std::size_t first = n >> (i + 1) << (i + 1);
      const std::size_t table = t_.points.size() > t_.field->size() ? i * t_.field->size() : 0;
      butterfly(n, n + (std::size_t{1} << i), t_.points[table + ((base + first) >> i)]);
    }
  }

  Column back(Column v, std::size_t base) const {
    for (unsigned i = 0; i < t_.log_size; ++i) {
      layer(base, i, [&](std::size_t x, std::size_t y, Element c) {
        v[y] = sum(v[y], v[x]);
        v[x] = sum(v[x], t_.field->multiply(c, v[y]));
      });
    }
    return v;
  }

  Column forward(Column v, std::size_t base) const {
    for (unsigned i = t_.log_size; i-- > 0;) {
      layer(base, i, [&](std::size_t x, std::size_t y, Element c) {
        v[x] = sum(v[x], t_.field->multiply(c, v[y]));
        v[y] = sum(v[y], v[x]);
      });
    }
    return v;
  }

  Column input() const {
    Column v(t_.size());
    v[place_ % t_.size()] = 1;
    return v;
  }
  Column coefficients() const {
    if (place_ < t_.size() && t_.locator && t_.locator->interpolates) return interpolated();
    return back(input(), place_ / t_.size() * t_.size());
  }
  // Solves for the coefficients that give this value and zeros at the other inputs there.
  Column interpolated() const {
    const auto count = static_cast<std::size_t>(
        std::ranges::count_if(t_.places, [&](std::size_t place) { return place < t_.size(); }));
    Matrix values(count, count);
    for (std::size_t c = 0; c < count; ++c) {
      Column one(t_.size());
      one[c] = 1;
      const Column at = forward(one, 0);
      for (std::size_t r = 0; r < count; ++r)
        values(r, c) = at[r];
    }
    const Matrix solved = *gf::invert(*t_.field, values);
    Column result(t_.size());
    for (std::size_t c = 0; c < count; ++c)
      result[c] = solved(c, place_);
    return result;
  }
  Column values() const { return place_ < t_.size() ? input() : forward(coefficients(), 0); }

  Column finished() const {
    const Column all = values();
    Matrix used(t_.values.size(), 1);
    for (std::size_t i = 0; i < t_.values.size(); ++i)
      used(i, 0) = all[t_.values[i]];
    const Matrix result = t_.finish ? gf::multiply(*t_.field, *t_.finish, used) : used;
    return {result.cells().begin(), result.cells().end()};
  }

  Column located(const Locator& locator) const {
    const Column known = values();
    Column o = coefficients();
    Column derivative(t_.size());
    if (!locator.scales.empty()) {
      Column scaled(t_.size());
      for (std::size_t n = 0; n < t_.size(); ++n)
        scaled[n] = t_.field->multiply(known[n], locator.scales[n]);
      o = back(scaled, 0);
    }
    if (!locator.coset_scales.empty()) {
      for (Element& one : o)
        one = t_.field->multiply(one, locator.coset_scales[place_ / t_.size()]);
    }
    for (std::size_t n = 0; n < t_.size(); ++n) {
      for (std::size_t bit = 1; bit < t_.size(); bit *= 2) {
        if ((n & bit) == 0) derivative[n] = sum(derivative[n], o[n + bit]);
      }
    }
    Column result;
    for (const auto& [place, factor] : locator.outputs) {
      const bool derives = place < t_.size() && !locator.scales.empty();
      const std::size_t base = place / t_.size() * t_.size();
      const Element at = forward(derives ? derivative : o, base)[place - base];
      result.push_back(sum(t_.field->multiply(factor, at), derives ? known[place] : Element{0}));
      const std::size_t r = result.size() - 1;
      if (locator.direct) result[r] = sum(result[r], (*locator.direct)(r, index_));
    }
    return result;
  }

  const Transform& t_;
  std::size_t index_;
  std::size_t place_;
};

Matrix definition(const Transform& t) {
  Matrix rows(t.outputs(), t.places.size());
  for (std::size_t c = 0; c < t.places.size(); ++c) {
    const std::vector<Element> column = OneInput(t, c).outputs();
    for (std::size_t r = 0; r < t.outputs(); ++r)
      rows(r, c) = column[r];
  }
  return rows;
}

std::string describe(const Transform& t) {
  std::string text = "N = " + std::to_string(t.size()) + ", places";
  for (const std::uint16_t place : t.places)
    text += " " + std::to_string(place);
  text += ", values";
  for (const std::uint16_t place : t.values)
    text += " " + std::to_string(place);
  return text + (t.locator ? ", located" : t.finish ? ", finished" : "");
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
  transform.finish.reset();
  transform.locator.emplace().outputs.resize(2);
  EXPECT_EQ(transform.outputs(), 2U);
}

}  // namespace
}  // namespace calpe::ir
