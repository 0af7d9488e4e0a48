// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.hpp"

#include <functional>
#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "ir/linear_map.hpp"
#include "ir/lower_to_xor.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::ir {
namespace {

using conformance::field_of;

Program::Parts parts_of(const Program& program) {
  return {.temporaries = program.temporaries(),
          .instructions = {program.instructions().begin(), program.instructions().end()},
          .terms = {program.terms().begin(), program.terms().end()}};
}

// Returns verify()'s message after `plant` changed the parts; empty if there is none.
std::string verdict(const Program& program, const std::function<void(Program::Parts&)>& plant) {
  Program::Parts parts = parts_of(program);
  plant(parts);
  const Status status = verify(Program(program.field_ref(), program.shape(), std::move(parts)));
  return status ? "" : status.error().message;
}

// t = 2*in0 + in1; out0 = 3*t + in0; out1 = out0 + t
Program small_program() {
  Program program(field_of(3, 0xB), {.inputs = 2, .outputs = 2});
  const Value t = program.new_temporary();
  program.append(t, std::vector<Term>{{.value = 0, .coefficient = 2}, {.value = 1}});
  program.append(2, std::vector<Term>{{.value = t, .coefficient = 3}, {.value = 0}});
  program.append(3, std::vector<Term>{{.value = 2}, {.value = t}});
  return program;
}

TEST(Verify, accepts_sound_programs) {
  EXPECT_EQ(verdict(small_program(), [](auto&) {}), "");
  EXPECT_TRUE(verify(program_of(listing_2)));
  EXPECT_TRUE(verify(build(field_of(8), gf::Matrix(0, 0))));
}

TEST(Verify, names_what_is_wrong_and_where) {
  const Program program = small_program();
  using Parts = Program::Parts;
  EXPECT_EQ(verdict(program, [](Parts& p) { p.instructions[2].target = 2; }),
            "instruction 2 defines output 0, already defined by instruction 1");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.instructions.push_back(p.instructions[0]); }),
            "instruction 3 defines temporary 0, already defined by instruction 0");
  EXPECT_EQ(verdict(program, [](Parts& p) { std::swap(p.instructions[0], p.instructions[1]); }),
            "instruction 0 reads temporary 0, which is not defined yet");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.terms[4].value = 3; }),
            "instruction 2 reads output 1, which is not defined yet");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.instructions.pop_back(); }),
            "output 1 is never defined");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.temporaries = 2; }), "temporary 1 is never defined");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.instructions[0].target = 1; }),
            "instruction 0 defines input 1; expected an output or a temporary");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.instructions[0].target = 5; }),
            "instruction 0 defines value 5; expected less than 5");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.terms[3].value = 9; }),
            "instruction 1 reads value 9; expected less than 5");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.terms[1].coefficient = 0; }),
            "instruction 0 multiplies input 1 by 0; expected 1..7");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.terms[2].coefficient = 8; }),
            "instruction 1 multiplies temporary 0 by 8; expected 1..7");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.terms.pop_back(); }),
            "instruction 2 ends at term 6; expected at most 5");
  EXPECT_EQ(verdict(program, [](Parts& p) { p.instructions[1].first_term = ~0U; }),
            "instruction 1 ends at term 4294967297; expected at most 6");
  EXPECT_EQ(verdict(program_of(listing_1), [](Parts& p) { p.terms[0].coefficient = 2; }),
            "instruction 0 multiplies input 2 by 2; expected 1..1");
}

TEST(VerifyMap, accepts_both_dialects) {
  const auto field = field_of(3, 0xB);
  const gf::Matrix matrix = cauchy_5_2(*field);
  EXPECT_TRUE(verify_map(build(field, matrix), matrix));
  EXPECT_TRUE(verify_map(program_of(listing_1), matrix));
  EXPECT_TRUE(verify_map(program_of(listing_2), matrix));
  EXPECT_TRUE(verify_map(program_of(listing_2), bit_map(program_of(listing_1))));
}

TEST(VerifyMap, names_the_first_difference) {
  const Program program = small_program();
  gf::Matrix expected = linear_map(program);
  EXPECT_TRUE(verify_map(program, expected));
  expected(1, 0) = 4;
  EXPECT_EQ(verify_map(program, expected).error().message,
            "output 1 has 5 times input 0; expected 4");
  EXPECT_EQ(verify_map(program, gf::Matrix(3, 2)).error().message,
            "program has 2 outputs and 2 inputs; expected 3 and 2");

  const auto field = field_of(3, 0xB);
  gf::BitMatrix bits = gf::expand(*field, cauchy_5_2(*field));
  bits.flip(4, 13);
  EXPECT_EQ(verify_map(program_of(listing_1), bits).error().message,
            "output 4 has 0 times input 13; expected 1");
}

TEST(VerifyMap, refuses_unsound_programs_before_it_evaluates_them) {
  Program::Parts parts = parts_of(small_program());
  parts.terms[0].value = 1000000;
  const Program program(field_of(3, 0xB), small_program().shape(), std::move(parts));
  EXPECT_EQ(verify_map(program, gf::Matrix(2, 2)).error().message,
            "instruction 0 reads value 1000000; expected less than 5");
}

// Plants each bug everywhere in Listing 2; none may pass.
TEST(VerifyMap, catches_every_planted_bug) {
  const auto field = field_of(3, 0xB);
  const gf::Matrix matrix = cauchy_5_2(*field);
  const Program sound = program_of(listing_2);
  const auto passes = [&](Program::Parts parts) {
    return verify_map(Program(field, sound.shape(), std::move(parts)), matrix).has_value();
  };
  ASSERT_TRUE(passes(parts_of(sound)));

  for (std::size_t i = 0; i < sound.terms().size(); ++i) {
    for (Value v = 0; v < sound.values(); ++v) {  // another operand
      if (v == sound.terms()[i].value) continue;
      Program::Parts parts = parts_of(sound);
      parts.terms[i].value = v;
      ASSERT_FALSE(passes(std::move(parts))) << "term " << i << " reads " << v;
    }
  }
  for (std::size_t i = 0; i < sound.instructions().size(); ++i) {  // a missing term
    Program::Parts last = parts_of(sound);
    last.instructions[i].term_count -= 1;
    EXPECT_FALSE(passes(std::move(last))) << "instruction " << i;
    Program::Parts first = parts_of(sound);
    first.instructions[i].first_term += 1;
    first.instructions[i].term_count -= 1;
    EXPECT_FALSE(passes(std::move(first))) << "instruction " << i;
  }
  for (std::size_t a = 10; a < 16; ++a) {  // two outputs exchanged
    for (std::size_t b = a + 1; b < 16; ++b) {
      Program::Parts parts = parts_of(sound);
      std::swap(parts.instructions[a].target, parts.instructions[b].target);
      EXPECT_FALSE(passes(std::move(parts))) << a << " and " << b;
    }
  }
}

TEST(VerifyMap, catches_every_wrong_coefficient) {
  const auto field = field_of(3, 0xB);
  const gf::Matrix matrix = cauchy_5_2(*field);
  const Program sound = build(field, matrix);
  for (std::size_t i = 0; i < sound.terms().size(); ++i) {
    for (gf::Element coefficient = 1; coefficient < 8; ++coefficient) {
      Program::Parts parts = parts_of(sound);
      parts.terms[i].coefficient = coefficient;
      const bool same = coefficient == sound.terms()[i].coefficient;
      const Program program(field, sound.shape(), std::move(parts));
      EXPECT_EQ(verify_map(program, matrix).has_value(), same);
      EXPECT_EQ(verify_map(lower_to_xor(program), matrix).has_value(), same);
    }
  }
}

}  // namespace
}  // namespace calpe::ir
