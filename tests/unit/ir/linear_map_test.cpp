// SPDX-License-Identifier: Apache-2.0
#include "ir/linear_map.hpp"

#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "ir/interpret.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::ir {
namespace {

using conformance::field_of;
using conformance::Random;

TEST(LinearMap, of_a_matrix_program_is_the_matrix) {
  Random random = Random::of_test("of_a_matrix_program");
  SCOPED_TRACE(conformance::repeat_with());
  for (unsigned w = gf::word_bits_min; w <= gf::word_bits_max; ++w) {
    const auto field = field_of(w);
    const gf::Matrix matrix =
        conformance::random_matrix(random, *field, {.rows = 7, .columns = 11, .zero_percent = 30});
    EXPECT_EQ(linear_map(build(field, matrix)), matrix);
  }
}

TEST(LinearMap, shared_values_computed_by_hand) {
  // t = 2*a + b; x = 3*t + a; y = x + t over x^3+x+1: 3*2 = 6, so x = 7*a + 3*b, y = 5*a + 2*b.
  Program program(field_of(3, 0xB), {.inputs = 2, .outputs = 2});
  const Value t = program.new_temporary();
  program.append(t, std::vector<Term>{{.value = 0, .coefficient = 2}, {.value = 1}});
  program.append(2, std::vector<Term>{{.value = t, .coefficient = 3}, {.value = 0}});
  program.append(3, std::vector<Term>{{.value = 2}, {.value = t}});
  gf::Matrix expected(2, 2);
  expected(0, 0) = 7;
  expected(0, 1) = 3;
  expected(1, 0) = 5;
  expected(1, 1) = 2;
  EXPECT_EQ(linear_map(program), expected);
}

TEST(BitMap, listings_1_and_2_compute_the_same) {
  const auto field = field_of(3, 0xB);
  const gf::BitMatrix expected = gf::expand(*field, cauchy_5_2(*field));
  EXPECT_EQ(bit_map(program_of(listing_1)), expected);
  EXPECT_EQ(bit_map(program_of(listing_2)), expected);
  EXPECT_EQ(expected.ones(), 51U);
}

// Column c of the map is the output for input c = 1 and all others 0.
TEST(LinearMap, of_random_programs_equals_direct_evaluation) {
  Random random = Random::of_test("direct_evaluation");
  SCOPED_TRACE(conformance::repeat_with());
  for (int round = 0; round < 300; ++round) {
    const bool is_gf = random.coin();
    const Program program =
        conformance::random_program(random, field_of(is_gf ? 8 : random.between(2U, 8U)),
                                    {.dialect = is_gf ? Dialect::gf : Dialect::xor_,
                                     .input_shards = random.between(1U, 12U),
                                     .output_shards = random.between(1U, 6U),
                                     .temporaries = random.between(0U, 20U)});
    // All unit vectors at once: byte c of every buffer belongs to the c-th.
    const std::size_t inputs = program.inputs();
    std::vector<std::byte> memory((inputs + program.outputs()) * inputs);
    std::vector<const std::byte*> sources;
    std::vector<std::byte*> targets;
    for (std::size_t i = 0; i < inputs; ++i) {
      memory[i * inputs + i] = std::byte{1};
      sources.push_back(&memory[i * inputs]);
    }
    for (std::size_t r = 0; r < program.outputs(); ++r) {
      targets.push_back(&memory[(inputs + r) * inputs]);
    }
    interpret(program, sources, targets, inputs);

    const gf::Matrix symbols = is_gf ? linear_map(program) : gf::Matrix();
    const gf::BitMatrix bits = is_gf ? gf::BitMatrix() : bit_map(program);
    for (std::size_t r = 0; r < program.outputs(); ++r) {
      for (std::size_t c = 0; c < inputs; ++c) {
        const unsigned mapped = is_gf ? symbols(r, c) : static_cast<unsigned>(bits.get(r, c));
        ASSERT_EQ(mapped, std::to_integer<unsigned>(targets[r][c])) << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace calpe::ir
