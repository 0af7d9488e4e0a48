// SPDX-License-Identifier: Apache-2.0
// A matrix without a Cauchy form must not be recognised: a false certificate would accept a code
// that loses data.
#include "code/cauchy_form.hpp"

#include <functional>
#include <gtest/gtest.h>

#include "code/families.hpp"

namespace calpe::code {
namespace {

gf::Matrix filled(std::size_t rows, std::size_t columns, gf::Element value) {
  gf::Matrix matrix(rows, columns);
  for (std::size_t r = 0; r < rows; ++r)
    std::ranges::fill(matrix.row(r), value);
  return matrix;
}

TEST(CauchyForm, MatricesWithoutOneAreNotRecognised) {
  const auto field = *gf::Field::create(8, 0);
  const auto has_one = [&](const gf::Matrix& matrix) {
    return recognise_cauchy(*field, matrix).has_value();
  };
  EXPECT_TRUE(has_one(filled(1, 200, 7)));
  EXPECT_TRUE(has_one(filled(200, 1, 7)));
  EXPECT_FALSE(has_one(gf::Matrix(0, 3))) << "no rows";
  EXPECT_FALSE(has_one(gf::Matrix(3, 0))) << "no columns";
  EXPECT_FALSE(has_one(filled(2, 2, 1))) << "two equal rows";
  EXPECT_FALSE(has_one(filled(3, 5, 9))) << "equal rows, any value";
  gf::Matrix one_zero = hybrid_rows(*field, {.data = 4, .parity = 3});
  ASSERT_TRUE(has_one(one_zero));
  one_zero(2, 3) = 0;
  EXPECT_FALSE(has_one(one_zero)) << "an entry is 0";
}

// As many points as the field has elements fit; one more does not.
TEST(CauchyForm, PointsMustFitIntoTheField) {
  const auto field = *gf::Field::create(3, 0);
  for (std::size_t rows = 1; rows <= 7; ++rows) {
    const gf::Matrix fits = hybrid_rows(*field, {.data = 8 - rows, .parity = rows});
    const auto form = recognise_cauchy(*field, fits);
    ASSERT_TRUE(form) << rows;
    EXPECT_TRUE(has_form(*field, fits, *form)) << rows;
    EXPECT_FALSE(recognise_cauchy(*field, filled(rows, 9 - rows, 1))) << rows;
  }
}

TEST(CauchyForm, RefusesCertificatesOfAnotherShapeOrWithAZeroScale) {
  const auto field = *gf::Field::create(8, 0);
  const gf::Matrix rows = hybrid_rows(*field, {.data = 6, .parity = 3});
  const CauchyForm good = *recognise_cauchy(*field, rows);
  ASSERT_TRUE(has_form(*field, rows, good));
  const std::vector<std::function<void(CauchyForm&)>> changes = {
      [](CauchyForm& form) { form.row_points.pop_back(); },
      [](CauchyForm& form) { form.row_scales.push_back(1); },
      [](CauchyForm& form) { form.column_points.push_back(200); },
      [](CauchyForm& form) { form.column_scales.pop_back(); },
      [](CauchyForm& form) { form.row_scales[1] = 0; },
      [](CauchyForm& form) { form.column_scales[5] = 0; },
      [](CauchyForm& form) { form.column_points[5] = form.row_points[0]; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CauchyForm bad = good;
    changes[i](bad);
    EXPECT_FALSE(has_form(*field, rows, bad)) << i;
  }
}

}  // namespace
}  // namespace calpe::code
