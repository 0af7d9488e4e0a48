// SPDX-License-Identifier: Apache-2.0
#include "opt/within_registers.hpp"

#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"
#include "opt/for_kernel.hpp"

namespace calpe::opt {
namespace {

using conformance::field_of;
using conformance::Random;

ir::Program program_of(std::uint32_t inputs, std::uint32_t outputs) {
  return ir::Program(field_of(2),
                     {.dialect = ir::Dialect::xor_, .inputs = inputs, .outputs = outputs});
}

ir::Program random_sums(Random& random, std::uint32_t inputs, std::uint32_t outputs) {
  ir::Program program = program_of(inputs, outputs);
  for (std::uint32_t r = 0; r < outputs; ++r) {
    std::vector<ir::Term> terms;
    for (ir::Value v = 0; v < inputs; ++v) {
      if (random.coin()) terms.push_back({.value = v});
    }
    program.append(program.output(r), terms);
  }
  return program;
}

TEST(WordsHeld, counts_inputs_from_first_to_last_use) {
  ir::Program program = program_of(3, 2);
  const ir::Value t = program.new_temporary();
  program.append(t, std::vector<ir::Term>{{0}, {1}});                  // 0, 1; then 1, t
  program.append(program.output(0), std::vector<ir::Term>{{t}, {2}});  // 1, t, 2; then 1, t
  program.append(program.output(1), std::vector<ir::Term>{{t}, {1}});
  EXPECT_EQ(words_held(program), 3U);
}

TEST(WordsHeld, outputs_may_wait_for_each_other) {
  ir::Program program = program_of(1, 4);
  for (std::uint32_t r = 0; r < 4; ++r)
    program.append(program.output(r), std::vector<ir::Term>{{0}});
  EXPECT_EQ(words_held(program), 2U);
  EXPECT_EQ(words_held(program, 2), 3U);
  EXPECT_EQ(words_held(program, 4), 4U);  // the last one replaces the input
}

TEST(WithinRegisters, same_map_and_no_more_words) {
  Random random = Random::of_test("within registers");
  for (int trial = 0; trial < 60; ++trial) {
    const ir::Program program =
        random_sums(random, random.between(1U, 60U), random.between(1U, 40U));
    const std::size_t together = random.coin() ? 1 : 8;
    const std::size_t registers = random.between<std::size_t>(10, 90);
    const auto made =
        within_registers(program, {.registers = registers, .outputs_together = together});
    if (!made) continue;
    EXPECT_LE(words_held(*made, together), registers);
    EXPECT_TRUE(ir::verify_map(*made, ir::bit_map(program)));
    EXPECT_EQ(made->shape(), program.shape());
    EXPECT_LE(ir::cost(*made).xors3, ir::cost(program).xors3);
  }
}

TEST(WithinRegisters, a_search_is_never_worse) {
  Random random = Random::of_test("within registers, searched");
  for (int trial = 0; trial < 5; ++trial) {
    const ir::Program program = random_sums(random, 12, 10);
    const auto quick = within_registers(program, {.registers = 64});
    const auto searched = within_registers(program, {.registers = 64, .rounds = 2});
    ASSERT_TRUE(quick && searched);
    EXPECT_LE(ir::cost(*searched).xors3, ir::cost(*quick).xors3);
    EXPECT_TRUE(ir::verify_map(*searched, ir::bit_map(program)));
  }
}

TEST(WithinRegisters, fails_when_nothing_fits) {
  Random random = Random::of_test("nothing fits");
  EXPECT_FALSE(within_registers(random_sums(random, 40, 40), {.registers = 20}));
}

// The engine calls for_kernel first, for any device.
TEST(WithinRegisters, for_kernel_does_not_change_programs_for_many_registers) {
  Random random = Random::of_test("many registers");
  const ir::Program program = random_sums(random, 20, 10);
  const auto made = for_kernel(
      program, {.model = {.values_in_registers = true, .registers = 128, .three_input_xor = true},
                .rounds = 8});
  ASSERT_TRUE(made);
  EXPECT_EQ(*made, program);
}

}  // namespace
}  // namespace calpe::opt
