// SPDX-License-Identifier: Apache-2.0
// Distributes equations over devices, as in figure 1 of the multi-device paper by Hegen and Sobe.
#include "ir/slice.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>

#include "engine/devices/device_shares.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::ir {
namespace {

// Prints the equations with their names in the whole program.
std::string print_as(const Program& whole, const Slice& part) {
  const auto name = [&](Value v) {
    const Value origin = part.origin[v];
    const Value first_temporary = whole.inputs() + whole.outputs();
    return origin < first_temporary ? "u" + std::to_string(origin)
                                    : "t" + std::to_string(origin - first_temporary);
  };
  std::string text;
  for (const Instruction& instruction : part.program.instructions()) {
    text += name(instruction.target) + " = XOR(";
    for (const Term& term : part.program.terms(instruction))
      text += (text.ends_with('(') ? "" : ",") + name(term.value);
    text += ")\n";
  }
  return text;
}

// Six outputs of one unit each, so that every output equation is separate.
Program listing_2_by_equation() {
  return *parse(listing_2, {.inputs = 15, .outputs = 6, .unit_count = 1});
}

TEST(Slice, ThreeDevicesGetTheEquationsOfFigure1) {
  constexpr std::array<std::string_view, 3> figure_1 = {
      "t0 = XOR(u2,u3)\n"
      "t1 = XOR(u4,u5)\n"
      "t2 = XOR(u7,u9)\n"
      "t3 = XOR(u11,u12)\n"
      "t4 = XOR(t0,t2)\n"
      "t5 = XOR(u0,u8)\n"
      "t6 = XOR(u10,u11)\n"
      "t7 = XOR(u13,t5)\n"
      "u15 = XOR(t1,t3,t4)\n"
      "u16 = XOR(t4,t6,t7)\n",
      "t3 = XOR(u11,u12)\n"
      "t5 = XOR(u0,u8)\n"
      "t6 = XOR(u10,u11)\n"
      "t7 = XOR(u13,t5)\n"
      "t8 = XOR(u1,u6)\n"
      "t9 = XOR(u14,t8)\n"
      "u17 = XOR(u3,u4,u8,t6,t9)\n"
      "u18 = XOR(u2,u4,u6,u7,t3,t7)\n",
      "t0 = XOR(u2,u3)\n"
      "t1 = XOR(u4,u5)\n"
      "t8 = XOR(u1,u6)\n"
      "t9 = XOR(u14,t8)\n"
      "u19 = XOR(u0,u2,u9,u11,t1,t9)\n"
      "u20 = XOR(u5,u7,u10,u12,t0,t8)\n"};
  const Program whole = listing_2_by_equation();
  constexpr std::array even = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  const std::vector<std::size_t> ends = engine::share_ends(even, whole.outputs());
  std::size_t begin = 0;
  for (std::size_t device = 0; device < 3; ++device) {
    std::vector<std::uint32_t> outputs;
    for (; begin < ends[device]; ++begin)
      outputs.push_back(static_cast<std::uint32_t>(begin));
    const Slice part = slice(whole, outputs);
    EXPECT_EQ(print_as(whole, part), figure_1[device]);
    EXPECT_TRUE(verify(part.program));
  }
}

TEST(Slice, ComputesTheRowsOfItsShards) {
  const Program whole = program_of(listing_2);
  const gf::BitMatrix map = bit_map(whole);
  for (const std::uint32_t shard : {0U, 1U}) {
    const Slice part = slice_shards(whole, std::array{shard});
    ASSERT_TRUE(verify(part.program));
    EXPECT_EQ(part.program.output_shards(), 1U);
    EXPECT_EQ(part.program.unit_count(), 3U);
    const gf::BitMatrix rows = bit_map(part.program);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 15; ++c)
        EXPECT_EQ(rows.get(r, c), map.get(3 * shard + r, c));
    }
  }
}

TEST(Slice, KeepsTheRequestedOrderAndOutputsThatAreRead) {
  // u3 is read by u4; u5 needs neither.
  const Program whole = *parse("u3 = XOR(u0,u1)\nu4 = XOR(u2,u3)\nu5 = XOR(u1,u2)\n",
                               {.inputs = 3, .outputs = 3, .unit_count = 1});
  EXPECT_EQ(print(slice(whole, std::array{1U}).program), "t0 = XOR(u0,u1)\nu3 = XOR(u2,t0)\n");
  EXPECT_EQ(print(slice(whole, std::array{2U, 0U}).program), "u4 = XOR(u0,u1)\nu3 = XOR(u1,u2)\n");
  EXPECT_EQ(slice(whole, std::array{0U, 1U, 2U}).program, whole);
  EXPECT_TRUE(slice(whole, {}).program.instructions().empty());
}

}  // namespace
}  // namespace calpe::ir
