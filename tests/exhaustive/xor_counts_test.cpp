// SPDX-License-Identifier: Apache-2.0
// Reproduces the XOR counts of known matrices, and stresses the optimiser with many seeds and
// programs. CALPE_NIGHTLY=1 adds slow cases and more programs.
#include <cstdlib>
#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/lower_to_xor.hpp"
#include "ir/verify.hpp"
#include "opt/known_matrices.hpp"
#include "opt/matrix_search.hpp"
#include "opt/optimise.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::opt {
namespace {

bool is_nightly() {
  return std::getenv("CALPE_NIGHTLY") != nullptr;
}

TEST(XorCounts, of_known_matrices_are_reproduced) {
  for (const std::string_view line : known_matrix_lines()) {
    SCOPED_TRACE(line);
    const auto found = parse_found(line);
    ASSERT_TRUE(found) << found.error().message;
    const bool is_long = found->data() > 10 || found->budget == Budget::thorough;
    if (is_long && !is_nightly()) continue;
    const gf::Matrix matrix = found->matrix();
    const auto program = fewest_xors(ir::lower_to_xor(ir::build(found->field, matrix)),
                                     {.budget = found->budget, .seed = found->seed});
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_TRUE(ir::verify_map(*program, matrix));
    EXPECT_LE(ir::cost(*program).xors, found->xors);
  }
}

// 2w(k-1) XORs are the fewest possible with two parity shards.
TEST(XorCounts, of_the_search_reach_the_optimum_of_small_shapes) {
  for (const std::uint32_t data : {4U, 5U}) {
    const auto best = search_matrix({.field = conformance::field_of(4), .data = data, .parity = 2},
                                    Budget::standard, 1);
    ASSERT_TRUE(best) << best.error().message;
    EXPECT_EQ(best->found.xors, 8 * (data - 1));
  }
}

// 24 is the lower bound; nearly every seed reaches it.
TEST(XorCounts, of_listing_1_for_many_seeds) {
  const ir::Program direct = ir::program_of(ir::listing_1);
  const std::uint64_t seeds = is_nightly() ? 1000 : 30;
  std::uint64_t optimal = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto found = fewest_xors(direct, {.seed = seed});
    ASSERT_TRUE(found);
    const std::size_t xors = ir::cost(*found).xors;
    ASSERT_GE(xors, 24U);
    ASSERT_LE(xors, 26U);
    optimal += xors == 24 ? 1 : 0;
  }
  EXPECT_GE(optimal * 10, seeds * 8);
}

TEST(XorCounts, never_grow_and_maps_never_change) {
  auto random = conformance::Random::of_test("never_grow_and_maps_never_change");
  SCOPED_TRACE(conformance::repeat_with());
  const int trials = is_nightly() ? 5000 : 100;
  for (int trial = 0; trial < trials; ++trial) {
    const ir::Program program =
        conformance::random_program(random, conformance::field_of(random.between(2U, 8U)),
                                    {.dialect = ir::Dialect::xor_,
                                     .input_shards = random.between(1U, 8U),
                                     .output_shards = random.between(1U, 4U),
                                     .temporaries = static_cast<std::uint32_t>(random.below(60)),
                                     .terms_max = random.between(2U, 30U)});
    const auto found = fewest_xors(program, {.seed = random.below(1000)});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(ir::verify_map(*found, ir::bit_map(program)));
    ASSERT_LE(ir::cost(*found).xors, ir::cost(program).xors);
  }
}

}  // namespace
}  // namespace calpe::opt
