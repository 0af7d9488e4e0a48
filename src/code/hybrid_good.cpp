// SPDX-License-Identifier: Apache-2.0
// `hybrid` with fewer XORs: a row of ones, then rows s_i / (x_i + y_j) whose points and scales make
// light bit matrices. The tables are part of the format and never change. They come from a search
// over points and scales for ten data shards (eight for w = 4).
//
// 10+2, w = 8: 229 ones, `cauchy` has 644; 10+4: 627, `cauchy` has 1266.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "code/families.hpp"
#include "gf/bit_matrix.hpp"

namespace calpe::code {

namespace {

using gf::Element;
using gf::Field;

// Every field element once: column points y_0, y_1, ... from the front, row points x_1, x_2, ...
// from the back, so that any k + m - 1 <= 2^w of them are distinct.
constexpr std::array<std::uint8_t, 16> points_4 = {
    7, 6, 15, 5, 11, 14, 10, 4, 3, 2, 13, 12, 9, 8, 1, 0,
};

constexpr std::array<std::uint8_t, 32> points_5 = {
    13, 14, 31, 25, 20, 7,  26, 28, 4,  30, 17, 24, 29, 18, 23, 11,
    5,  8,  9,  10, 22, 15, 16, 19, 21, 27, 6,  12, 2,  3,  1,  0,
};

constexpr std::array<std::uint8_t, 64> points_6 = {
    38, 60, 30, 62, 43, 12, 20, 10, 15, 24, 53, 63, 35, 19, 40, 42, 8,  47, 22, 27, 48, 52,
    6,  61, 39, 57, 3,  13, 50, 44, 59, 32, 16, 56, 5,  23, 36, 29, 41, 45, 51, 34, 54, 7,
    46, 31, 49, 18, 2,  9,  37, 11, 25, 55, 4,  14, 58, 21, 26, 33, 28, 17, 1,  0,
};

constexpr std::array<std::uint8_t, 128> points_7 = {
    6,   120, 15,  70,  60, 104, 118, 101, 102, 123, 121, 82, 35,  40, 55, 69,  119, 14, 80,
    109, 46,  110, 114, 72, 107, 4,   84,  89,  122, 126, 10, 39,  44, 98, 113, 26,  42, 71,
    127, 62,  95,  100, 11, 124, 29,  30,  57,  58,  97,  83, 52,  66, 78, 87,  3,   31, 61,
    67,  5,   22,  65,  41, 59,  88,  12,  28,  32,  90,  96, 115, 21, 54, 79,  86,  53, 108,
    13,  36,  49,  24,  47, 75,  103, 16,  20,  81,  85,  92, 111, 7,  48, 51,  64,  18, 45,
    91,  2,   23,  56,  73, 106, 117, 9,   37,  94,  125, 93, 105, 33, 43, 76,  19,  34, 38,
    27,  112, 77,  63,  8,  99,  68,  116, 17,  74,  50,  25, 1,   0,
};

constexpr std::array<std::uint8_t, 256> points_8 = {
    14,  7,   2,   141, 4,   136, 200, 245, 164, 100, 95,  241, 123, 105, 25,  203, 61,  244, 175,
    185, 246, 34,  85,  235, 160, 41,  67,  65,  116, 149, 226, 111, 145, 50,  71,  134, 159, 22,
    51,  73,  108, 112, 180, 219, 243, 64,  252, 27,  154, 188, 195, 210, 222, 224, 242, 13,  20,
    32,  46,  60,  142, 196, 215, 239, 28,  161, 168, 171, 184, 56,  70,  76,  117, 146, 29,  38,
    87,  99,  110, 170, 191, 211, 17,  101, 133, 49,  122, 167, 186, 205, 255, 78,  128, 131, 140,
    152, 40,  53,  63,  82,  86,  90,  97,  193, 207, 220, 91,  126, 150, 179, 189, 8,   35,  94,
    209, 58,  72,  158, 234, 11,  15,  93,  103, 113, 148, 151, 216, 31,  68,  80,  155, 166, 92,
    102, 251, 253, 5,   43,  47,  52,  83,  187, 197, 225, 230, 254, 57,  81,  107, 177, 201, 218,
    221, 237, 33,  75,  84,  127, 163, 21,  104, 137, 192, 202, 223, 24,  59,  74,  118, 139, 214,
    227, 250, 48,  79,  89,  106, 132, 162, 204, 213, 233, 247, 19,  54,  88,  121, 77,  165, 178,
    198, 217, 12,  37,  96,  115, 130, 236, 42,  45,  173, 182, 190, 194, 3,   98,  135, 169, 238,
    55,  119, 124, 23,  129, 181, 10,  114, 153, 172, 174, 9,   147, 183, 30,  120, 143, 144, 156,
    157, 228, 229, 232, 249, 39,  44,  240, 18,  36,  176, 26,  69,  125, 109, 199, 206, 62,  208,
    248, 231, 16,  138, 66,  212, 6,   1,   0,
};

std::span<const std::uint8_t> points_of(unsigned word_bits) {
  switch (word_bits) {
    case 4:
      return points_4;
    case 5:
      return points_5;
    case 6:
      return points_6;
    case 7:
      return points_7;
    default:
      return points_8;
  }
}

// Returns the factor that leaves the fewest ones in the row; ties go to the smallest.
Element lightest_scale(const Field& field, std::span<const std::uint16_t> ones,
                       std::span<const Element> row) {
  Element best = 1;
  std::size_t fewest = SIZE_MAX;
  for (std::uint32_t scale = 1; scale < field.size(); ++scale) {
    std::size_t count = 0;
    for (const Element cell : row) {
      count += ones[field.multiply(cell, static_cast<Element>(scale))];
    }
    if (count < fewest) {
      fewest = count;
      best = static_cast<Element>(scale);
    }
  }
  return best;
}

}  // namespace

gf::Matrix hybrid_good_rows(const Field& field, Size size) {
  gf::Matrix rows(size.parity, size.data);
  std::ranges::fill(rows.row(0), Element{1});
  if (size.parity == 2) {
    // With one further row any distinct elements work: take the k lightest.
    const gf::Matrix lightest = cauchy_good_rows(field, size);
    std::ranges::copy(lightest.row(1), rows.row(1).begin());
    return rows;
  }
  const std::span<const std::uint8_t> points = points_of(field.word_bits());
  CALPE_ASSERT(points.size() == field.size());
  const std::vector<std::uint16_t> ones = gf::ones_table(field);
  for (std::size_t i = 1; i < size.parity; ++i) {
    const auto row = rows.row(i);
    for (std::size_t j = 0; j < size.data; ++j) {
      row[j] = field.inverse(static_cast<Element>(points[points.size() - i] ^ points[j]));
    }
    const Element scale = lightest_scale(field, ones, row);
    for (Element& cell : row)
      cell = field.multiply(cell, scale);
  }
  return rows;
}

}  // namespace calpe::code
