// SPDX-License-Identifier: Apache-2.0
// Wrong results of a pass, kind by kind: each must be refused, and its location named.
#include <gtest/gtest.h>

#include "opt/pipeline.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::opt {
namespace {

using Parts = ir::Program::Parts;

// Listing 1 in 24 XORs, as the optimiser finds it. Instructions and terms are counted from 0.
constexpr std::string_view sound =
    "t0 = XOR(u7,u11)\n"        // 0: terms 0, 1
    "t1 = XOR(u2,u5)\n"         // 1: 2, 3
    "t2 = XOR(u4,t0,t1)\n"      // 2: 4 to 6
    "t3 = XOR(u9,t2)\n"         // 3: 7, 8
    "u15 = XOR(u3,u12,t3)\n"    // 4: 9 to 11
    "t4 = XOR(u8,u12,t2)\n"     // 5: 12 to 14
    "t5 = XOR(u10,u15,t1)\n"    // 6: 15 to 17
    "t6 = XOR(u0,t5)\n"         // 7: 18, 19
    "t7 = XOR(u5,u13,t4,t6)\n"  // 8: 20 to 23
    "u16 = XOR(t0,t7)\n"        // 9: 24, 25
    "t8 = XOR(u6,t5)\n"         // 10: 26, 27
    "u20 = XOR(u1,u7,t3,t8)\n"  // 11: 28 to 31
    "t9 = XOR(u14,u20)\n"       // 12: 32, 33
    "u17 = XOR(t4,t9)\n"        // 13: 34, 35
    "u18 = XOR(t7,t8)\n"        // 14: 36, 37
    "u19 = XOR(t6,t9)\n";       // 15: 38, 39
constexpr ir::Value t0 = 21;

template <void (*plant)(Parts&)>
ir::Program wrong_pass(const ir::Program& program, const Job&) {
  Parts parts{.temporaries = program.temporaries(),
              .instructions = {program.instructions().begin(), program.instructions().end()},
              .terms = {program.terms().begin(), program.terms().end()}};
  plant(parts);
  return ir::Program(program.field_ref(), program.shape(), std::move(parts));
}

ir::Program lose_a_shard(const ir::Program& program, const Job&) {
  ir::Program result(program.field_ref(),
                     {.dialect = ir::Dialect::xor_, .inputs = 15, .outputs = 3, .unit_count = 3});
  for (ir::Value v = 15; v < 18; ++v)
    result.append(v, {});
  return result;
}

struct PlantedBug {
  Pass pass;  // named after its bug
  std::string_view message;
};

const PlantedBug planted_bugs[] = {
    {{"wrong input", wrong_pass<+[](Parts& p) { p.terms[0].value = 8; }>},
     "output 0 has 0 times input 7; expected 1"},
    {{"wrong temporary", wrong_pass<+[](Parts& p) { p.terms[19].value = t0 + 4; }>},
     "output 1 has 0 times input 2; expected 1"},
    {{"output for temporary", wrong_pass<+[](Parts& p) { p.terms[29].value = 15; }>},
     "output 2 has 1 times input 2; expected 0"},
    {{"next unit", wrong_pass<+[](Parts& p) { ++p.terms[18].value; }>},
     "output 1 has 0 times input 0; expected 1"},
    {{"last term lost", wrong_pass<+[](Parts& p) { --p.instructions[8].term_count; }>},
     "output 1 has 0 times input 0; expected 1"},
    {{"first term lost", wrong_pass<+[](Parts& p) {
        ++p.instructions[11].first_term;
        --p.instructions[11].term_count;
      }>},
     "output 2 has 0 times input 1; expected 1"},
    {{"all terms lost", wrong_pass<+[](Parts& p) { p.instructions[14].term_count = 0; }>},
     "output 3 has 0 times input 0; expected 1"},
    {{"term doubled", wrong_pass<+[](Parts& p) { p.terms[21] = p.terms[20]; }>},
     "output 1 has 1 times input 5; expected 0"},
    {{"term of the next", wrong_pass<+[](Parts& p) { ++p.instructions[3].term_count; }>},
     "output 0 has 0 times input 3; expected 1"},
    {{"terms of another",
      wrong_pass<+[](Parts& p) { p.instructions[13].first_term = p.instructions[14].first_term; }>},
     "output 2 has 1 times input 0; expected 0"},
    {{"terms shifted", wrong_pass<+[](Parts& p) { ++p.instructions[5].first_term; }>},
     "output 1 has 0 times input 8; expected 1"},
    {{"shared in a row without the pair", wrong_pass<+[](Parts& p) {
        p.terms.push_back({.value = t0 + 4});
        p.terms.push_back({.value = t0 + 9});
        p.terms.push_back({.value = t0 + 1});
        p.instructions[13].first_term = 40;
        p.instructions[13].term_count = 3;
      }>},
     "output 2 has 1 times input 2; expected 0"},
    {{"inlined and kept", wrong_pass<+[](Parts& p) {  // u16 = t0 + t7 + (u7 + u11)
        for (const ir::Value v : {t0, t0 + 7, ir::Value{7}, ir::Value{11}})
          p.terms.push_back({.value = v});
        p.instructions[9].first_term = 40;
        p.instructions[9].term_count = 4;
      }>},
     "output 1 has 0 times input 7; expected 1"},
    {{"outputs swapped", wrong_pass<+[](Parts& p) {
        std::swap(p.instructions[13].target, p.instructions[14].target);
      }>},
     "output 2 has 1 times input 0; expected 0"},
    {{"temporaries swapped",
      wrong_pass<+[](Parts& p) { std::swap(p.instructions[0].target, p.instructions[1].target); }>},
     "output 2 has 1 times input 2; expected 0"},
    {{"defined after its use",
      wrong_pass<+[](Parts& p) { std::swap(p.instructions[2], p.instructions[3]); }>},
     "instruction 2 reads temporary 2, which is not defined yet"},
    {{"defined last", wrong_pass<+[](Parts& p) {
        std::rotate(p.instructions.begin(), p.instructions.begin() + 1, p.instructions.end());
      }>},
     "instruction 1 reads temporary 0, which is not defined yet"},
    {{"reads itself", wrong_pass<+[](Parts& p) { p.terms[8].value = t0 + 3; }>},
     "instruction 3 reads temporary 3, which is not defined yet"},
    {{"output reads a later output", wrong_pass<+[](Parts& p) { p.terms[34].value = 18; }>},
     "instruction 13 reads output 3, which is not defined yet"},
    {{"temporary defined twice", wrong_pass<+[](Parts& p) { p.instructions[7].target = t0 + 5; }>},
     "instruction 7 defines temporary 5, already defined by instruction 6"},
    {{"output defined twice", wrong_pass<+[](Parts& p) { p.instructions[14].target = 17; }>},
     "instruction 14 defines output 2, already defined by instruction 13"},
    {{"output not defined", wrong_pass<+[](Parts& p) { p.instructions.pop_back(); }>},
     "output 4 is never defined"},
    {{"temporary not defined",
      wrong_pass<+[](Parts& p) { p.instructions.erase(p.instructions.begin() + 5); }>},
     "instruction 7 reads temporary 4, which is not defined yet"},
    {{"input as a target", wrong_pass<+[](Parts& p) { p.instructions[0].target = 7; }>},
     "instruction 0 defines input 7; expected an output or a temporary"},
    {{"too many temporaries", wrong_pass<+[](Parts& p) { ++p.temporaries; }>},
     "temporary 10 is never defined"},
    {{"too few temporaries", wrong_pass<+[](Parts& p) { --p.temporaries; }>},
     "instruction 12 defines value 30; expected less than 30"},
    {{"target out of range", wrong_pass<+[](Parts& p) { p.instructions[15].target = 99; }>},
     "instruction 15 defines value 99; expected less than 31"},
    {{"operand out of range", wrong_pass<+[](Parts& p) { p.terms[39].value = 99; }>},
     "instruction 15 reads value 99; expected less than 31"},
    {{"coefficient zero", wrong_pass<+[](Parts& p) { p.terms[4].coefficient = 0; }>},
     "instruction 2 multiplies input 4 by 0; expected 1..1"},
    {{"coefficient two", wrong_pass<+[](Parts& p) { p.terms[4].coefficient = 2; }>},
     "instruction 2 multiplies input 4 by 2; expected 1..1"},
    {{"terms cut off", wrong_pass<+[](Parts& p) { p.terms.pop_back(); }>},
     "instruction 15 ends at term 40; expected at most 39"},
    {{"a shard lost", lose_a_shard}, "program has 3 outputs and 15 inputs; expected 6 and 15"},
};

TEST(PlantedBugs, are_all_caught_and_located) {
  ASSERT_GE(std::size(planted_bugs), 24U);
  const ir::Program program = ir::program_of(sound);
  const Pass idle{"idle", [](const ir::Program& given, const Job&) { return given; }};
  const auto kept = run_passes(program, std::span(&idle, 1), {});
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(*kept, program);
  for (const PlantedBug& bug : planted_bugs) {
    SCOPED_TRACE(bug.pass.name);
    const auto result = run_passes(program, std::span(&bug.pass, 1), {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::compile_failed);
    EXPECT_EQ(result.error().message,
              "pass " + std::string(bug.pass.name) +
                  " changed what the program computes: " + std::string(bug.message));
  }
}

// If a pass does not gain, the previous program is kept.
TEST(Pipeline, keeps_the_better_program) {
  const ir::Program program = ir::program_of(sound);
  const Pass worse{"worse",
                   [](const ir::Program&, const Job&) { return ir::program_of(ir::listing_2); }};
  const auto kept = run_passes(program, std::span(&worse, 1), {});
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(*kept, program);
}

}  // namespace
}  // namespace calpe::opt
