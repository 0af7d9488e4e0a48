// SPDX-License-Identifier: Apache-2.0
// Compares products without preparation with sums of single products, on every path: matrices of
// one and many tiles, with strides; and errors of apply_matrix.
#include "backend/cpu/direct_product.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <vector>

#include <calpe/matrix_product.hpp>

#include "conformance/random_program.hpp"
#include "gf/field.hpp"
#include "support/cpu_paths.hpp"

namespace calpe::backend::cpu {
namespace {

using conformance::Random;
using Bytes = std::vector<std::byte>;

struct Case {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t bytes = 0;
  std::size_t column_stride = 1;
  bool accumulate = false;
  Stores stores = Stores::automatic;
};

// Shards with a guard byte before and after.
class Shards {
 public:
  Shards(Random& random, std::size_t count, std::size_t bytes) : bytes_(bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      Bytes& one = memory_.emplace_back(bytes + 2);
      for (std::byte& b : one)
        b = static_cast<std::byte>(random.below(256));
    }
    for (Bytes& one : memory_)
      pointers_.push_back(one.data() + 1);
  }
  std::byte* const* pointers() const { return pointers_.data(); }
  std::size_t bytes() const { return bytes_; }
  std::vector<Bytes>& memory() { return memory_; }

 private:
  std::size_t bytes_;
  std::vector<Bytes> memory_;
  std::vector<std::byte*> pointers_;
};

class DirectProductOf : public testing::TestWithParam<const CpuKernels*> {
 protected:
  std::vector<std::uint8_t> random_cells(const Case& c) {
    std::vector<std::uint8_t> cells(std::max<std::size_t>(1, c.rows * c.columns * c.column_stride));
    for (std::uint8_t& cell : cells)
      cell = static_cast<std::uint8_t>(random_.below(256));
    // Often a first row of ones, for which kernels have a faster path.
    if (random_.one_in(2)) {
      for (std::size_t i = 0; i < c.columns && c.rows > 0; ++i)
        cells[i * c.column_stride] = 1;
    }
    return cells;
  }

  void check(const Case& c) {
    const std::vector<std::uint8_t> cells = random_cells(c);
    Shards inputs(random_, c.columns, c.bytes);
    Shards outputs(random_, c.rows, c.bytes);
    std::vector<Bytes> expected = outputs.memory();
    for (std::size_t r = 0; r < c.rows; ++r) {
      for (std::size_t b = 0; b < c.bytes; ++b) {
        unsigned sum = c.accumulate ? std::to_integer<unsigned>(expected[r][b + 1]) : 0;
        for (std::size_t i = 0; i < c.columns; ++i) {
          const auto x = std::to_integer<gf::Element>(inputs.memory()[i][b + 1]);
          sum ^= field_->multiply(cells[(r * c.columns + i) * c.column_stride], x);
        }
        expected[r][b + 1] = static_cast<std::byte>(sum);
      }
    }
    product_.run(CoefficientView(cells.data(), {.rows = c.rows,
                                                .columns = c.columns,
                                                .row_stride = c.columns * c.column_stride,
                                                .column_stride = c.column_stride}),
                 {.inputs = inputs.pointers(),
                  .outputs = outputs.pointers(),
                  .bytes = c.bytes,
                  .accumulate = c.accumulate,
                  .stores = c.stores});
    EXPECT_EQ(outputs.memory(), expected)
        << c.rows << " x " << c.columns << ", " << c.bytes << " bytes, stride " << c.column_stride
        << (c.accumulate ? ", added" : "");
  }

  const gf::FieldRef field_ = *gf::Field::create(8, 0);
  const DirectProduct product_{*GetParam()};
  Random random_{11};
};

INSTANTIATE_TEST_SUITE_P(paths, DirectProductOf, testing::ValuesIn(usable_paths()),
                         [](const auto& path) { return test_name_of(path.param); });

TEST_P(DirectProductOf, small_matrices) {
  for (std::size_t rows = 0; rows <= 14; ++rows) {
    for (std::size_t columns = 0; columns <= 12; ++columns) {
      check({.rows = rows,
             .columns = columns,
             .bytes = random_.below(300),
             .column_stride = random_.one_in(2) ? 32U : 1U,
             .accumulate = random_.one_in(2),
             .stores = static_cast<Stores>(random_.below(3))});
    }
  }
}

// 16 KiB of tables are 512 coefficients of the largest kind, or 2048 of the others.
TEST_P(DirectProductOf, matrices_at_and_above_a_tile) {
  const std::array<std::array<std::size_t, 2>, 10> shapes = {{{16, 32},
                                                              {16, 33},
                                                              {3, 200},
                                                              {32, 64},
                                                              {33, 64},
                                                              {64, 33},
                                                              {2, 1030},
                                                              {140, 16},
                                                              {600, 4},
                                                              {1, 2100}}};
  for (const auto& [rows, columns] : shapes) {
    for (const bool accumulate : {false, true})
      check({.rows = rows, .columns = columns, .bytes = 65, .accumulate = accumulate});
  }
}

// Few inputs and a sum, beyond L1: uses another kernel, as these shards are not aligned. From 8
// KiB, a head comes before the aligned part.
TEST_P(DirectProductOf, longer_shards_of_small_codes) {
  for (int round = 0; round < 4; ++round) {
    check({.rows = 2, .columns = 10, .bytes = 3000 + random_.below(200)});
    check({.rows = 3, .columns = 8, .bytes = 3600 + random_.below(200)});
    check({.rows = 2, .columns = 3, .bytes = 8192 + random_.below(200)});
    check({.rows = 13, .columns = 2, .bytes = 8192 + random_.below(200), .accumulate = true});
  }
}

TEST_P(DirectProductOf, tiles_over_several_blocks_of_columns) {
  check({.rows = 20, .columns = 128, .bytes = 4096 + 77});
  check({.rows = 20, .columns = 128, .bytes = 4096 + 1, .accumulate = true});
}

TEST(ApplyMatrix, refuses_what_it_cannot_do_and_touches_nothing) {
  const std::array<std::uint8_t, 4> cells = {1, 2, 3, 4};
  const CoefficientMatrix matrix{.cells = cells.data(), .rows = 2, .columns = 2};
  std::array<std::byte, 64> memory{};
  std::byte* const start = memory.data();
  const std::array<const std::byte*, 2> inputs = {start, start + 16};
  const auto message = [&](std::byte* first, std::byte* second) {
    const std::array<std::byte*, 2> outputs = {first, second};
    const Status done = apply_matrix(matrix, inputs.data(), outputs.data(), 16);
    return done ? std::string() : done.error().message;
  };
  memory.fill(std::byte{7});
  EXPECT_EQ(message(start + 32, start + 47),
            "outputs[1] overlaps outputs[0]; expected separate memory");
  EXPECT_EQ(message(start + 31, start + 48),
            "outputs[0] overlaps inputs[1]; expected separate memory");
  EXPECT_EQ(message(start + 32, nullptr), "outputs[1] is null; expected 16 bytes");
  EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte b) { return b == std::byte{7}; }));
  const Status no_cells = apply_matrix({.rows = 2, .columns = 2}, inputs.data(), nullptr, 16);
  ASSERT_FALSE(no_cells);
  EXPECT_EQ(no_cells.error().message, "matrix.cells is null; expected 2 x 2 coefficients");
  const Status no_list = apply_matrix(matrix, nullptr, nullptr, 0);
  ASSERT_FALSE(no_list);
  EXPECT_EQ(no_list.error().message, "inputs is null; expected 2 addresses");
  EXPECT_EQ(message(start + 32, start + 48), "");
  EXPECT_EQ(memory[32], std::byte{7 ^ (7 << 1)});
}

}  // namespace
}  // namespace calpe::backend::cpu
