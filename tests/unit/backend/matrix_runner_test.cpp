// SPDX-License-Identifier: Apache-2.0
// Matrices for which the CPU has a faster path (a row of ones, rows whose sum is ones, old and new
// data of an update), and matrices that only look like them.
#include "backend/cpu/matrix_runner.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/cpu_device.hpp"
#include "code/code.hpp"
#include "conformance/random_program.hpp"
#include "conformance/trial.hpp"
#include "plan/decode_planner.hpp"
#include "plan/recipe.hpp"
#include "support/cpu_paths.hpp"

namespace calpe::backend::cpu {
namespace {

using conformance::Random;
using gf::Element;
using gf::Matrix;

code::Code make(const char* profile, std::size_t data, std::size_t parity) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  return *code::make_code(spec);
}

class MatrixRunnerOf : public testing::TestWithParam<const CpuKernels*> {
 protected:
  // With and without accumulate, for every kind of store.
  testing::AssertionResult runs(const Matrix& rows) {
    for (const bool accumulate : {false, true}) {
      const conformance::Work work{
          .geometry = {.offset = random_.below(70), .unit_bytes = length()},
          .stripe_count = random_.one_in(4) ? 2U : 1U,
          .accumulate = accumulate,
          .stores = static_cast<Stores>(random_.below(3)),
          .alignment = static_cast<conformance::Alignment>(random_.below(3))};
      const ir::Program program = ir::build(field_, rows);
      CALPE_AGREES(conformance::agrees(*device_, random_, device_->compile_matrix(field_, rows),
                                       program, work));
    }
    return testing::AssertionSuccess();
  }
  std::size_t length() {
    return random_.one_in(20) ? 4000 + random_.below(300) : random_.below(300);
  }
  Matrix random_rows(std::size_t rows, std::size_t inputs) {
    return conformance::random_matrix(random_, *field_, {.rows = rows, .columns = inputs});
  }

  const gf::FieldRef field_ = *gf::Field::create(8, 0);
  const std::unique_ptr<Device> device_ = *open_cpu(GetParam()->name);
  Random random_{7};
};

INSTANTIATE_TEST_SUITE_P(paths, MatrixRunnerOf, testing::ValuesIn(usable_paths()),
                         [](const auto& path) { return test_name_of(path.param); });

// One turn, several turns, and the boundaries between them.
constexpr std::array<std::size_t, 12> input_counts = {1, 2, 3, 4, 10, 24, 31, 32, 33, 48, 49, 70};

TEST_P(MatrixRunnerOf, first_parity_that_is_a_sum) {
  for (const std::size_t data : input_counts) {
    for (const std::size_t parity : {1UL, 2UL, 3UL, 4UL, 8UL, 12UL, 13UL, 20UL}) {
      ASSERT_TRUE(runs(make("hybrid", data, parity).parity)) << data << "+" << parity;
    }
    ASSERT_TRUE(runs(make("raid6", data, 2).parity)) << data;
    ASSERT_TRUE(runs(make("vandermonde-isal", data, 3).parity)) << data;
  }
}

// With the sum parity, the rows add up to ones; without it they do not.
TEST_P(MatrixRunnerOf, rebuilding_with_and_without_the_sum) {
  for (const std::size_t data : input_counts) {
    for (const std::size_t parity : {2UL, 3UL, 4UL, 13UL}) {
      const code::Code code = make("hybrid", data, parity);
      const plan::DecodePlanner planner(code);
      for (std::size_t lost = 1; lost < std::min(parity, data + 1); ++lost) {
        for (const bool has_sum : {true, false}) {
          const std::size_t first = random_.below(data - lost + 1);
          std::vector<ShardIndex> wanted;
          std::vector<ShardIndex> left;
          for (std::size_t i = 0; i < data + parity; ++i) {
            const bool is_wanted = i >= first && i < first + lost;
            if (is_wanted) wanted.push_back(static_cast<ShardIndex>(i));
            if (!is_wanted && (has_sum || i != data)) left.push_back(static_cast<ShardIndex>(i));
          }
          const plan::Recipe recipe = *planner.plan(left, wanted, {});
          ASSERT_TRUE(runs(recipe.coefficients)) << data << "+" << parity << ", lost " << lost;
        }
      }
    }
  }
}

// `ones` ones and then zeros, optionally with one changed coefficient.
std::vector<Element> nearly_ones(Random& random, std::size_t inputs) {
  std::vector<Element> row(inputs);
  std::fill_n(row.begin(), random.between<std::size_t>(0, inputs), Element{1});
  if (random.coin()) {
    Element& one = row[random.below(inputs)];
    one = static_cast<Element>(random.coin() ? one ^ 1 : 1 + random.below(255));
  }
  return row;
}

TEST_P(MatrixRunnerOf, first_rows_that_are_nearly_a_sum) {
  for (int round = 0; round < 400; ++round) {
    const std::size_t inputs = input_counts[random_.below(input_counts.size())];
    Matrix rows = random_rows(random_.between<std::size_t>(1, GetParam()->rows_max + 2), inputs);
    std::ranges::copy(nearly_ones(random_, inputs), rows.row(0).begin());
    ASSERT_TRUE(runs(rows)) << inputs << " inputs, " << rows.rows() << " rows";
  }
}

TEST_P(MatrixRunnerOf, rows_whose_sum_is_nearly_ones) {
  for (int round = 0; round < 400; ++round) {
    const std::size_t inputs = input_counts[random_.below(input_counts.size())];
    Matrix rows = random_rows(random_.between<std::size_t>(2, GetParam()->rows_max + 2), inputs);
    std::ranges::copy(nearly_ones(random_, inputs), rows.row(0).begin());
    for (std::size_t i = 0; i < inputs; ++i) {
      for (std::size_t r = 1; r < rows.rows(); ++r)
        rows(0, i) = static_cast<Element>(rows(0, i) ^ rows(r, i));
    }
    ASSERT_TRUE(runs(rows)) << inputs << " inputs, " << rows.rows() << " rows";
  }
}

TEST_P(MatrixRunnerOf, updates_from_old_and_new_and_similar_matrices) {
  for (std::size_t count = 1; count <= GetParam()->rows_max + 8; ++count) {
    Matrix rows = random_rows(count, 2);
    for (std::size_t r = 0; r < count; ++r)
      rows(r, 1) = rows(r, 0);
    ASSERT_TRUE(runs(rows)) << count;
    rows(count - 1, 1) = static_cast<Element>(rows(count - 1, 1) ^ 1);
    ASSERT_TRUE(runs(rows)) << count;
    ASSERT_TRUE(runs(random_rows(count, 2))) << count;
    Matrix three = random_rows(count, 3);
    for (std::size_t r = 0; r < count; ++r)
      three(r, 2) = three(r, 1) = three(r, 0);
    ASSERT_TRUE(runs(three)) << count;
  }
}

unsigned few_calls = 0;

// Includes a sum alone, which needs no product.
TEST(MatrixRunnerFew, sums_of_few_inputs_run_in_the_kernel_made_for_them) {
  CpuKernels kernels = kernels_scalar;
  for (auto& of_inputs : kernels.few) {
    for (auto& of_products : of_inputs)
      std::ranges::fill(of_products,
                        [](const MatrixPart&, const std::byte* const*, std::byte* const*,
                           std::size_t, std::size_t) { ++few_calls; });
  }
  CoefficientTableCache tables(kernels.table_kind);
  const std::vector<std::byte> input(64);
  std::vector<std::byte> output(64);
  const std::vector<const std::byte*> inputs(few_inputs_max + 1, input.data());
  const std::vector<std::byte*> outputs(few_products_max + 2, output.data());
  for (std::size_t data = 2; data <= inputs.size(); ++data) {
    for (std::size_t parity = 1; parity <= outputs.size(); ++parity) {
      const code::Code code = make("hybrid", data, parity);
      const MatrixRunner runner = *MatrixRunner::create(*code.field, code.parity, kernels, tables);
      few_calls = 0;
      runner.run({.stripe_count = 1,
                  .inputs = inputs.data(),
                  .outputs = outputs.data(),
                  .geometry = {.unit_bytes = input.size()}});
      const bool is_few = data <= few_inputs_max && parity <= few_products_max + 1;
      EXPECT_EQ(few_calls, is_few ? 1U : 0U) << data << "+" << parity;
    }
  }
}

}  // namespace
}  // namespace calpe::backend::cpu
