// SPDX-License-Identifier: Apache-2.0
// Compares the rows of lch with its transforms.
#include "code/lch.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "code/code.hpp"
#include "code/spec_rules.hpp"

namespace calpe::code {
namespace {

using gf::Element;
using gf::Field;
using gf::Matrix;

CodeSpec lch_spec(std::size_t data, std::size_t parity) {
  CodeSpec spec;
  spec.family = CodeFamily::lch;
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  return spec;
}

void add_to(Element& sum, Element term) {
  sum = static_cast<Element>(sum ^ term);
}

// Values at positions base .. base+N-1 -> coefficients, in place.
void transform_back(const Field& field, const LchForm& form, std::vector<Element>& v,
                    std::size_t base) {
  for (unsigned i = 0; i < form.log_size; ++i) {
    const std::size_t half = std::size_t{1} << i;
    for (std::size_t b = 0; b < v.size(); b += 2 * half) {
      for (std::size_t j = b; j < b + half; ++j) {
        add_to(v[j + half], v[j]);
        add_to(v[j], field.multiply(form.points[(base + b) >> i], v[j + half]));
      }
    }
  }
}

// Coefficients -> values at positions 0 .. N-1.
void transform(const Field& field, const LchForm& form, std::vector<Element>& v) {
  for (unsigned i = form.log_size; i-- > 0;) {
    const std::size_t half = std::size_t{1} << i;
    for (std::size_t b = 0; b < v.size(); b += 2 * half) {
      for (std::size_t j = b; j < b + half; ++j) {
        add_to(v[j], field.multiply(form.points[b >> i], v[j + half]));
        add_to(v[j + half], v[j]);
      }
    }
  }
}

TEST(Lch, PointsAreSumsOfACantorBasis) {
  const auto field = *gf::Field::create(8, 0);
  const LchForm form = lch_form(*field, 5);
  EXPECT_EQ(form.log_size, 3U);
  ASSERT_EQ(form.points.size(), 256U);
  constexpr std::array<Element, 8> basis = {0x01, 0xD6, 0x98, 0x92, 0x56, 0xC8, 0x58, 0xE6};
  for (std::size_t i = 0; i < basis.size(); ++i)
    EXPECT_EQ(form.points[std::size_t{1} << i], basis[i]) << i;
  for (std::size_t a = 0; a < 256; ++a) {
    const Element w = form.points[a];
    ASSERT_EQ(field->multiply(w, w) ^ w, form.points[a >> 1]) << a;
    for (std::size_t b = 0; b < 256; ++b)
      ASSERT_EQ(w ^ form.points[b], form.points[a ^ b]);
  }
  EXPECT_EQ(std::set<Element>(form.points.begin(), form.points.end()).size(), 256U);
}

TEST(Lch, WidePointsContinueThoseOfBytes) {
  const auto bytes = lch_form(**gf::Field::create(8, 0), 1).points;
  const gf::FieldRef field = gf::Field::tower();
  const auto points = lch_form(*field, 1).points;
  ASSERT_EQ(points.size(), 65536U);
  EXPECT_TRUE(std::ranges::equal(bytes, points.first(256)));
  EXPECT_EQ(points[256], 0x100);
  EXPECT_EQ(std::set<Element>(points.begin(), points.end()).size(), 65536U);
  for (std::size_t a = 0; a < points.size(); ++a) {
    ASSERT_EQ(field->multiply(points[a], points[a]) ^ points[a], points[a >> 1]) << a;
    ASSERT_EQ(points[a] ^ points[0x1234], points[a ^ 0x1234]) << a;
  }
}

TEST(Lch, WideRowsOfSmallShapesAreThoseOfBytes) {
  for (std::size_t m = 1; m <= 128; ++m) {
    const Size size{.data = 256 - lch_size(m), .parity = m};
    ASSERT_EQ(lch_rows(*gf::Field::tower(), size), lch_rows(**gf::Field::create(8, 0), size)) << m;
  }
}

// The largest code of every N, whose rows contain those of all others.
TEST(Lch, RowsAreTheTransforms) {
  const auto field = *gf::Field::create(8, 0);
  for (std::size_t n = 1; n <= 128; n *= 2) {
    const LchForm form = lch_form(*field, n);
    ASSERT_EQ(std::size_t{1} << form.log_size, n);
    const Matrix rows = lch_rows(*field, {.data = 256 - n, .parity = n});
    for (std::size_t j = 0; j < 256 - n; ++j) {
      std::vector<Element> chunk(n);
      chunk[j % n] = 1;
      transform_back(*field, form, chunk, n + j / n * n);
      transform(*field, form, chunk);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(rows(i, j), chunk[i]) << "N = " << n << ", row " << i << ", column " << j;
    }
  }
}

TEST(Lch, RowsChangeOnlyWithTheTransformLength) {
  const auto field = *gf::Field::create(8, 0);
  for (std::size_t m = 1; m <= 128; ++m) {
    const std::size_t n = lch_size(m);
    const Matrix largest = lch_rows(*field, {.data = 256 - n, .parity = n});
    for (const std::size_t k : {std::size_t{1}, n / 2 + 1, 256 - n}) {
      const Matrix rows = lch_rows(*field, {.data = k, .parity = m});
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < k; ++j)
          ASSERT_EQ(rows(i, j), largest(i, j)) << k << "+" << m;
      }
    }
  }
  const Matrix four = lch_rows(*field, {.data = 10, .parity = 4});
  const Matrix five = lch_rows(*field, {.data = 10, .parity = 5});
  EXPECT_NE(four(0, 0), five(0, 0));
}

TEST(Lch, OneParityIsTheXorOfTheData) {
  const Code code = *make_code(lch_spec(255, 1));
  for (const Element cell : code.parity.cells())
    ASSERT_EQ(cell, 1);
  EXPECT_EQ(code.lch->log_size, 0U);
}

TEST(Lch, OnlyItsOwnCodesHaveTheForm) {
  const Code code = *make_code(lch_spec(20, 10));
  ASSERT_TRUE(code.lch);
  EXPECT_EQ(code.lch->log_size, 4U);
  EXPECT_EQ(code.lch->points.data(), lch_form(*code.field, 10).points.data());
  EXPECT_EQ(code.proof.kind, CodeProof::Kind::cauchy);
  CodeSpec spec = code.spec;
  spec.matrix_hash = 0;
  spec.family = CodeFamily::custom;
  EXPECT_FALSE(make_custom_code(spec, code.parity.cells())->lch);
  spec.family = CodeFamily::hybrid;
  EXPECT_FALSE(make_code(spec)->lch);
}

TEST(Lch, RefusalsStateTheRuleAndTheNumbers) {
  const auto message = [](const CodeSpec& spec) { return resolve(spec).error().message; };
  const std::string rule =
      "; expected (ceil(data_shards / N) + 1) * N <= 256 for profile lch, with N the smallest "
      "power of two >= parity_shards: ";
  EXPECT_TRUE(resolve(lch_spec(192, 40)));
  EXPECT_EQ(message(lch_spec(193, 40)), "data_shards is 193 and parity_shards 40" + rule +
                                            "N is 64, which makes 320; or set word_bits to 16");
  EXPECT_TRUE(resolve(lch_spec(128, 128)));
  EXPECT_EQ(message(lch_spec(1, 129)), "data_shards is 1 and parity_shards 129" + rule +
                                           "N is 256, which makes 512; or set word_bits to 16");

  CodeSpec spec = lch_spec(10, 5);
  spec.polynomial = 0x11B;
  EXPECT_EQ(message(spec), "polynomial is 283; expected 285 (0x11D) for profile lch");
  spec.polynomial = 0x11D;
  EXPECT_TRUE(resolve(spec));
  spec.layout = Layout::packets;
  EXPECT_EQ(message(spec), "layout is packets; expected bytes for profile lch");
}

}  // namespace
}  // namespace calpe::code
