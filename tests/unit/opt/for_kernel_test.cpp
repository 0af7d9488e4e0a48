// SPDX-License-Identifier: Apache-2.0
#include "opt/for_kernel.hpp"

#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "gf/bit_matrix.hpp"
#include "ir/linear_map.hpp"
#include "ir/lower_to_xor.hpp"
#include "ir/register_plan.hpp"
#include "ir/verify.hpp"
#include "opt/column_chunks.hpp"
#include "opt/fuse_xors.hpp"
#include "opt/stages.hpp"

namespace calpe::opt {
namespace {

using conformance::field_of;
using conformance::Random;
using conformance::random_matrix;

constexpr ir::CostModel avx512 = {
    .values_in_registers = true, .registers = 31, .vector_bytes = 64, .three_input_xor = true};
constexpr ir::CostModel avx2 = {.values_in_registers = true, .registers = 15, .vector_bytes = 32};
constexpr ir::CostModel memory = {};

// Row i, column j: 1 / (x_i + y_j), below a row of ones: light and heavy rows, as in real codes.
gf::Matrix ones_and_cauchy(const gf::Field& field, std::size_t rows, std::size_t columns) {
  gf::Matrix matrix(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      matrix(i, j) = i == 0 ? gf::Element{1}
                            : field.inverse(static_cast<gf::Element>((field.order() - i + 1) ^ j));
    }
  }
  return matrix;
}

ir::Program direct(const gf::FieldRef& field, const gf::Matrix& matrix) {
  return ir::lower_to_xor(ir::build(field, matrix));
}

TEST(ForKernel, keeps_the_map_of_any_program) {
  Random random = Random::of_test("for_kernel");
  for (int round = 0; round < 60; ++round) {
    const auto field = field_of(random.between(2U, 8U));
    const ir::Program program =
        direct(field, random_matrix(random, *field,
                                    {.rows = random.between<std::size_t>(1, 6),
                                     .columns = random.between<std::size_t>(1, 12),
                                     .zero_percent = random.one_in(3) ? 60U : 0U}));
    for (const ir::CostModel& model : {avx512, avx2, memory}) {
      const auto best = for_kernel(program, {.model = model, .rounds = random.between(1U, 3U)});
      ASSERT_TRUE(best) << best.error().message;
      EXPECT_EQ(best->shape(), program.shape());
      EXPECT_TRUE(ir::verify_map(*best, ir::bit_map(program)));
    }
  }
}

TEST(ForKernel, takes_programs_with_shared_values_and_zeros) {
  Random random = Random::of_test("for_kernel_shared");
  for (int round = 0; round < 40; ++round) {
    const ir::Program program =
        conformance::random_program(random, field_of(4),
                                    {.dialect = ir::Dialect::xor_,
                                     .input_shards = random.between(1U, 6U),
                                     .output_shards = random.between(1U, 4U),
                                     .temporaries = random.between(0U, 30U)});
    for (const ir::CostModel& model : {avx512, avx2, memory}) {
      const auto best = for_kernel(program, {.model = model, .rounds = 2});
      ASSERT_TRUE(best) << best.error().message;
      EXPECT_TRUE(ir::verify_map(*best, ir::bit_map(program)));
    }
  }
}

TEST(ForKernel, is_faster_than_direct_and_better_the_longer_it_searches) {
  const auto field = field_of(4);
  const ir::Program program = direct(field, ones_and_cauchy(*field, 4, 10));
  for (const ir::CostModel& model : {avx512, avx2}) {
    const double before = kernel_cycles(program, model);
    const double fast = kernel_cycles(*for_kernel(program, {.model = model}), model);
    const double slow = kernel_cycles(*for_kernel(program, {.model = model, .rounds = 10}), model);
    EXPECT_LT(fast, 0.85 * before);
    EXPECT_LE(slow, fast);
  }
}

TEST(ForKernel, is_the_same_every_time) {
  const auto field = field_of(5);
  const ir::Program program = direct(field, ones_and_cauchy(*field, 3, 9));
  const KernelOptions options = {.model = avx512, .rounds = 4};
  EXPECT_EQ(*for_kernel(program, options), *for_kernel(program, options));
}

// With values in memory, more than a few dozen leave no room for blocks.
TEST(ForKernel, keeps_few_values_in_memory) {
  const auto field = field_of(8);
  const ir::Program program = direct(field, ones_and_cauchy(*field, 6, 40));
  const auto best = for_kernel(program, {.model = memory});
  EXPECT_LE(ir::cost(*best).live_values, 64U);
  EXPECT_LT(ir::cost(*best).loads + ir::cost(*best).stores,
            ir::cost(program).loads + ir::cost(program).stores);
}

TEST(ForKernel, works_up_to_the_registers_of_a_plan) {
  const auto field = field_of(4);
  const ir::Program program = direct(field, ones_and_cauchy(*field, 4, 10));
  ir::CostModel model = avx512;
  model.registers = ir::registers_max;
  EXPECT_LT(kernel_cycles(*for_kernel(program, {.model = model}), model),
            0.85 * kernel_cycles(program, model));
  model.registers = ir::registers_max + 1;
  EXPECT_EQ(*for_kernel(program, {.model = model}), program);
}

TEST(ForKernel, does_not_change_the_widest_programs) {
  const auto field = field_of(8);
  const ir::Program program = direct(field, ones_and_cauchy(*field, 16, 100));
  ASSERT_GT(program.terms().size(), terms_max);
  EXPECT_EQ(*for_kernel(program, {.model = avx512}), program);
}

// Two lost data shards of 8+2 with a plain sum among the parities: the matrix of the decoder is
// dense, its stages are not.
TEST(Stages, find_the_syndromes_of_a_decoder) {
  const auto field = field_of(8);
  const std::size_t k = 8;
  gf::Matrix code(2, k);  // 1, 1, 1, ... and 1, 2, 4, ...
  for (std::size_t c = 0; c < k; ++c) {
    code(0, c) = 1;
    code(1, c) = field->power(2, c);
  }
  // Shards 0 and 1 are lost: solve the two parity equations for them.
  const gf::Element a = code(1, 0);
  const gf::Element b = code(1, 1);
  const gf::Element inverse = field->inverse(static_cast<gf::Element>(a ^ b));
  gf::Matrix decoder(2, k);  // of data 2..7, then the parities
  for (std::size_t c = 0; c < k; ++c) {
    const gf::Element sum = c < k - 2 || c == k - 2 ? 1 : 0;
    const gf::Element other = c < k - 2 ? code(1, c + 2) : static_cast<gf::Element>(c == k - 1);
    decoder(0, c) =
        field->multiply(inverse, static_cast<gf::Element>(field->multiply(b, sum) ^ other));
    decoder(1, c) = static_cast<gf::Element>(sum ^ decoder(0, c));
  }
  const ir::Program program = direct(field, decoder);
  const gf::BitMatrix bits = ir::bit_map(program);
  const Stages stages = plan_stages(program.shape(), bits, program.outputs());
  ASSERT_EQ(stages.in_order.size(), 2U);
  EXPECT_EQ(stages.temporaries, 16U);
  std::size_t ones = 0;
  for (const Stage& stage : stages.in_order)
    ones += stage.rows.ones();
  EXPECT_LT(ones, 0.7 * static_cast<double>(bits.ones()));
  // The second lost shard is the first plus one syndrome: two ones per bit.
  const gf::BitMatrix& solve = stages.in_order[1].rows;
  std::size_t last_ones = 0;
  for (std::size_t r = 8; r < 16; ++r) {
    for (std::size_t c = 0; c < solve.columns(); ++c)
      last_ones += solve.get(r, c) ? 1 : 0;
  }
  EXPECT_EQ(last_ones, 16U);
  EXPECT_EQ(plan_stages(program.shape(), bits, 15).in_order.size(), 1U);  // too many temporaries
}

TEST(FuseXors, dissolves_sums_that_do_not_pay) {
  // Values 0..4, shared 5 = 0+1 read twice, 6 = 2+3 read three times.
  const Sums before = {.inputs = 5,
                       .shared = 2,
                       .outputs = 4,
                       .terms = {{0, 1}, {2, 3}, {5, 6}, {4, 5}, {4, 6}, {0, 4, 6}}};
  Sums two = before;
  fuse_xors(two, Price::two_input_xors);
  EXPECT_EQ(two.shared, 2U);
  Sums three = before;
  fuse_xors(three, Price::three_input_xors);
  EXPECT_EQ(three.shared, 1U);  // a pair in two sums saves no three-input XOR
  EXPECT_EQ(three.terms[0], (std::vector<Node>{2, 3}));
  EXPECT_EQ(three.terms[1], (std::vector<Node>{0, 1, 5}));
  Sums in_memory = before;
  fuse_xors(in_memory, Price::memory_accesses);
  EXPECT_EQ(in_memory.shared, 1U);
}

TEST(FuseXors, cancels_terms_that_occur_twice) {
  Sums sums = {.inputs = 3, .shared = 1, .outputs = 1, .terms = {{0, 1}, {1, 2, 3}}};
  fuse_xors(sums, Price::two_input_xors);
  EXPECT_EQ(sums.shared, 0U);
  EXPECT_EQ(sums.terms[0], (std::vector<Node>{0, 2}));
}

}  // namespace
}  // namespace calpe::opt
