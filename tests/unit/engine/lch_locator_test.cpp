// SPDX-License-Identifier: Apache-2.0
// Decoding with an erasure locator gives the lost shards, over fields of 4, 8 and 16 bits.
#include "engine/lch_locator.hpp"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

#include "gf/matrix.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"
#include "support/cantor_points.hpp"
#include "support/random_choice.hpp"

namespace calpe::engine {
namespace {

using conformance::Random;
using gf::Element;
using gf::Matrix;

struct Shape {
  std::size_t data = 1;
  std::size_t parity = 1;
};

// The code by its formula (docs/codes.md), over any field.
class Lch {
 public:
  explicit Lch(unsigned word_bits)
      : field_(*gf::Field::create(word_bits, 0)), points_(conformance::cantor_points(*field_)) {}

  std::uint32_t size() const { return field_->size(); }

  // The transform that computes the positions `writes` from `reads`.
  ir::Transform decode(const Shape& shape, const std::vector<std::uint16_t>& reads,
                       const std::vector<std::uint16_t>& writes) const {
    ir::Transform transform{.field = field_, .points = points_, .log_size = log_size(shape)};
    transform.places = reads;
    transform.locator =
        lch_locator(transform, {.data_shards = shape.data, .reads = reads, .writes = writes});
    return transform;
  }

  // Right if its rows, times what the reads are of the data, are what the writes are of the data.
  testing::AssertionResult is_right(const Shape& shape, const ir::Transform& transform) const {
    const ir::Program program = ir::expand(transform);
    if (const Status valid = ir::verify(program); !valid) {
      return testing::AssertionFailure() << valid.error().message;
    }
    std::vector<std::uint16_t> writes;
    for (const auto& output : transform.locator->outputs)
      writes.push_back(output.place);
    const Matrix rows = ir::linear_map(program);
    if (gf::multiply(*field_, rows, of_data(shape, transform.places)) == of_data(shape, writes)) {
      return testing::AssertionSuccess();
    }
    std::string text = std::to_string(shape.data) + "+" + std::to_string(shape.parity) + ", reads";
    for (const std::uint16_t place : transform.places)
      text += " " + std::to_string(place);
    return testing::AssertionFailure() << text;
  }

  static unsigned log_size(const Shape& shape) {
    return static_cast<unsigned>(std::countr_zero(std::bit_ceil(shape.parity)));
  }

  static std::vector<std::uint16_t> places(const Shape& shape) {
    std::vector<std::uint16_t> all;
    for (std::size_t i = 0; i < shape.parity; ++i)
      all.push_back(static_cast<std::uint16_t>(i));
    for (std::size_t j = 0; j < shape.data; ++j)
      all.push_back(static_cast<std::uint16_t>((std::size_t{1} << log_size(shape)) + j));
    return all;
  }

 private:
  Matrix of_data(const Shape& shape, const std::vector<std::uint16_t>& places) const {
    const std::size_t size = std::size_t{1} << log_size(shape);
    Matrix rows(places.size(), shape.data);
    for (std::size_t r = 0; r < places.size(); ++r) {
      for (std::size_t j = 0; j < shape.data; ++j) {
        const std::size_t place = size + j;
        rows(r, j) = places[r] >= size ? static_cast<Element>(places[r] == place)
                                       : field_->divide(points_[place >> log_size(shape)],
                                                        points_[places[r] ^ place]);
      }
    }
    return rows;
  }

  gf::FieldRef field_;
  std::vector<Element> points_;
};

TEST(LchLocator, EveryLossOfSmallCodes) {
  const Lch code(4);
  int scaled = 0, unscaled = 0;
  for (std::size_t parity = 1; parity <= 8; ++parity) {
    for (std::size_t data = 1; data + std::bit_ceil(parity) <= 16 && data + parity <= 11; ++data) {
      const Shape shape{.data = data, .parity = parity};
      const auto all = Lch::places(shape);
      for (unsigned lost = 1; lost < 1U << all.size(); ++lost) {
        if (static_cast<std::size_t>(std::popcount(lost)) != parity) continue;
        std::vector<std::uint16_t> reads, writes;
        for (std::size_t i = 0; i < all.size(); ++i)
          ((lost >> i & 1U) != 0 ? writes : reads).push_back(all[i]);
        const ir::Transform transform = code.decode(shape, reads, writes);
        ASSERT_TRUE(code.is_right(shape, transform));
        ++(transform.locator->scales.empty() ? unscaled : scaled);
      }
    }
  }
  EXPECT_GT(scaled, 1000);
  EXPECT_GT(unscaled, 20);
}

TEST(LchLocator, SomeLossesOfWideCodes) {
  Random random(1);
  for (const unsigned word_bits : {8U, 16U}) {
    const Lch code(word_bits);
    for (int round = 0; round < 60; ++round) {
      const auto parity = random.between<std::size_t>(1, word_bits == 8 ? 128 : 200);
      const std::size_t room = code.size() - std::bit_ceil(parity);
      const Shape shape{.data = random.between<std::size_t>(1, std::min<std::size_t>(room, 300)),
                        .parity = parity};
      auto reads = Lch::places(shape);
      random.shuffle(std::span(reads));
      std::vector<std::uint16_t> writes(reads.begin() + static_cast<std::ptrdiff_t>(shape.data),
                                        reads.end());
      reads.resize(shape.data);
      writes.resize(random.between<std::size_t>(1, writes.size()));
      ASSERT_TRUE(code.is_right(shape, code.decode(shape, reads, writes)));
    }
  }
}

// A whole coset of data is lost and all parity is read: no scales, one transform back per coset.
TEST(LchLocator, AWholeCosetNeedsNoScales) {
  const Lch code(8);
  for (const std::size_t parity : {8U, 32U, 64U}) {
    const Shape shape{.data = 3 * parity, .parity = parity};
    for (std::size_t coset = 1; coset <= 3; ++coset) {
      std::vector<std::uint16_t> reads, writes;
      for (const std::uint16_t place : Lch::places(shape))
        (place / parity == coset ? writes : reads).push_back(place);
      const ir::Transform transform = code.decode(shape, reads, writes);
      EXPECT_TRUE(transform.locator->scales.empty());
      EXPECT_TRUE(code.is_right(shape, transform));
    }
  }
}

}  // namespace
}  // namespace calpe::engine
