// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret.hpp"

#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "ir/lower_to_xor.hpp"

namespace calpe::ir {
namespace {

using conformance::field_of;
using conformance::Random;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> numbers) {
  Bytes bytes;
  for (const int number : numbers)
    bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

std::vector<Bytes> run(const Program& program, const std::vector<Bytes>& inputs,
                       std::vector<Bytes> outputs, bool accumulate = false) {
  std::vector<const std::byte*> sources;
  for (const Bytes& input : inputs)
    sources.push_back(input.data());
  std::vector<std::byte*> targets;
  for (Bytes& output : outputs)
    targets.push_back(output.data());
  interpret(program, sources, targets, outputs.at(0).size(), accumulate);
  return outputs;
}

// t = 2*a + b; x = t + a; y = 3*x over GF(2^8)/0x11D
Program small_program() {
  Program program(field_of(8), {.inputs = 2, .outputs = 2});
  const Value t = program.new_temporary();
  program.append(t, std::vector<Term>{{.value = 0, .coefficient = 2}, {.value = 1}});
  program.append(2, std::vector<Term>{{.value = t}, {.value = 0}});
  program.append(3, std::vector<Term>{{.value = 2, .coefficient = 3}});
  return program;
}

TEST(Interpret, symbols_computed_by_hand) {
  // a = 80: 2*a = 1D, t = 1D + 01 = 1C, x = 9C; 2*9C = 138 + 11D = 25, y = 25 + 9C = B9.
  const auto result = run(small_program(), {bytes_of({0x80, 1}), bytes_of({0x01, 0})},
                          {bytes_of({0xFF, 0xFF}), bytes_of({0xFF, 0xFF})});
  EXPECT_EQ(result[0], bytes_of({0x9C, 3}));
  EXPECT_EQ(result[1], bytes_of({0xB9, 5}));
}

TEST(Interpret, accumulate_adds_and_later_reads_see_the_program_not_the_memory) {
  const auto result = run(small_program(), {bytes_of({0x80}), bytes_of({0x01})},
                          {bytes_of({0x0F}), bytes_of({0xF0})}, true);
  EXPECT_EQ(result[0], bytes_of({0x9C ^ 0x0F}));
  EXPECT_EQ(result[1], bytes_of({0xB9 ^ 0xF0}));
}

TEST(Interpret, units_computed_by_hand) {
  // w = 2, times 2 over x^2+x+1: bit 0 = old bit 1, bit 1 = old bits 0 and 1.
  gf::Matrix two(1, 1);
  two(0, 0) = 2;
  const auto result = run(lower_to_xor(build(field_of(2), two)),
                          {bytes_of({0xA5}), bytes_of({0x0F})}, {bytes_of({0}), bytes_of({0})});
  EXPECT_EQ(result[0], bytes_of({0x0F}));
  EXPECT_EQ(result[1], bytes_of({0xA5 ^ 0x0F}));
}

TEST(Interpret, empty_sums_are_zero_and_no_bytes_are_no_work) {
  const Program zero = build(field_of(8), gf::Matrix(1, 1));
  EXPECT_EQ(run(zero, {bytes_of({7})}, {bytes_of({9})})[0], bytes_of({0}));
  EXPECT_EQ(run(zero, {bytes_of({7})}, {bytes_of({9})}, true)[0], bytes_of({9}));
  EXPECT_EQ(run(zero, {Bytes()}, {Bytes()})[0], Bytes());
}

TEST(InterpretDeathTest, symbols_must_be_bytes) {
  const Program nibbles = build(field_of(4), gf::Matrix(1, 1));
  EXPECT_DEATH(run(nibbles, {bytes_of({7})}, {bytes_of({9})}), "word_bits");
}

// Plane b holds bit b of every symbol: symbol s is bit s % 8 of byte s / 8 of each plane.
std::vector<Bytes> planes_of(const std::vector<Bytes>& shards) {
  std::vector<Bytes> planes(shards.size() * 8);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (std::size_t b = 0; b < 8; ++b) {
      Bytes& plane = planes[i * 8 + b];
      plane.resize(shards[i].size() / 8);
      for (std::size_t s = 0; s < shards[i].size(); ++s) {
        plane[s / 8] |= (shards[i][s] >> b & std::byte{1}) << s % 8;
      }
    }
  }
  return planes;
}

TEST(Interpret, lowering_and_transposing_commute) {
  Random random = Random::of_test("transposing");
  SCOPED_TRACE(conformance::repeat_with());
  for (int round = 0; round < 200; ++round) {
    const auto field = field_of(8, random.coin() ? 0x11D : 0x11B);
    const Program program = conformance::random_program(random, field,
                                                        {.input_shards = random.between(1U, 12U),
                                                         .output_shards = random.between(1U, 6U),
                                                         .temporaries = random.between(0U, 12U)});
    const std::size_t bytes = random.between(0U, 5U) * 8;
    std::vector<Bytes> inputs(program.inputs(), Bytes(bytes));
    for (Bytes& input : inputs)
      random.fill(input);
    std::vector<Bytes> outputs(program.outputs(), Bytes(bytes));
    for (Bytes& output : outputs)
      random.fill(output);

    const bool accumulate = random.coin();
    const auto symbols = run(program, inputs, outputs, accumulate);
    const auto units =
        run(lower_to_xor(program), planes_of(inputs), planes_of(outputs), accumulate);
    ASSERT_EQ(planes_of(symbols), units) << "round " << round;
  }
}

}  // namespace
}  // namespace calpe::ir
