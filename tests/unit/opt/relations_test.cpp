// SPDX-License-Identifier: Apache-2.0
#include "opt/relations.hpp"

#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::opt {
namespace {

using conformance::field_of;
using conformance::Random;

ir::Program random_xor_program(Random& random) {
  return conformance::random_program(random, field_of(random.between(2U, 4U)),
                                     {.dialect = ir::Dialect::xor_,
                                      .input_shards = random.between(1U, 6U),
                                      .output_shards = random.between(1U, 4U),
                                      .temporaries = static_cast<std::uint32_t>(random.below(12)),
                                      .terms_max = 9});
}

// Returns all relations and what they define, in a canonical order.
std::vector<std::vector<Relations::Value>> content(const Relations& relations) {
  std::vector<std::vector<Relations::Value>> all;
  for (std::size_t v = relations.first_defined(); v < relations.values(); ++v) {
    const auto value = static_cast<Relations::Value>(v);
    if (relations.degree(value) == 0) continue;
    const auto members = relations.members(relations.definition(value));
    all.emplace_back(members.begin(), members.end());
    std::ranges::sort(all.back());
    all.back().push_back(value);
  }
  return all;
}

// The example of the header: u = a+b+c, v = u+a+d.
TEST(Relations, a_pair_with_a_target_in_it_is_shared_by_cancellation) {
  ir::Program program(field_of(2),
                      {.dialect = ir::Dialect::xor_, .inputs = 4, .outputs = 2, .unit_count = 2});
  program.append(4, std::vector<ir::Term>{{.value = 0}, {.value = 1}, {.value = 2}});
  program.append(5, std::vector<ir::Term>{{.value = 4}, {.value = 0}, {.value = 3}});
  Relations relations(program);
  EXPECT_EQ(relations.xors(), 4U);
  EXPECT_EQ(relations.meetings(4, 0), 2U);
  EXPECT_EQ(relations.meetings(0, 1), 0U);  // once counts as never
  ASSERT_TRUE(relations.share(4, 0));
  relations.settle();
  EXPECT_EQ(relations.xors(), 3U);
  EXPECT_EQ(ir::print(relations.program()), "t0 = XOR(u1,u2)\nu4 = XOR(u0,t0)\nu5 = XOR(u3,t0)\n");
}

TEST(Relations, normal_form_has_no_idle_copied_or_single_use_values) {
  ir::Program program(field_of(2),
                      {.dialect = ir::Dialect::xor_, .inputs = 4, .outputs = 4, .unit_count = 2});
  for (int i = 0; i < 4; ++i)
    program.new_temporary();
  using Terms = std::vector<ir::Term>;
  program.append(8, Terms{{.value = 0}, {.value = 1}});                // used once
  program.append(9, Terms{{.value = 8}, {.value = 2}, {.value = 3}});  // a copy's origin
  program.append(10, Terms{{.value = 9}});                             // a copy
  program.append(11, Terms{{.value = 10}, {.value = 2}});              // unused
  program.append(4, Terms{{.value = 10}});
  program.append(5, Terms{{.value = 1}, {.value = 1}});  // zero
  program.append(6, Terms{{.value = 2}});
  program.append(7, Terms{{.value = 5}, {.value = 6}, {.value = 3}});
  const Relations relations(program);
  EXPECT_EQ(relations.xors(), 4U);
  EXPECT_EQ(ir::print(relations.program()),
            "u4 = XOR(u0,u1,u2,u3)\nu5 = XOR()\nu6 = XOR(u2)\nu7 = XOR(u2,u3)\n");
}

TEST(Relations, every_step_keeps_the_map_and_can_be_undone) {
  Random random = Random::of_test("every_step_keeps_the_map");
  SCOPED_TRACE(conformance::repeat_with());
  for (int trial = 0; trial < 200; ++trial) {
    const ir::Program program = random_xor_program(random);
    const gf::BitMatrix map = ir::bit_map(program);
    Relations relations(program);
    ASSERT_LE(relations.xors(), ir::cost(program).xors);
    ASSERT_TRUE(ir::verify_map(relations.program(), map));
    for (int step = 0; step < 30; ++step) {
      const auto before = content(relations);
      const auto v = random.between<Relations::Value>(
          relations.first_defined(), static_cast<Relations::Value>(relations.values() - 1));
      const std::size_t degree = relations.degree(v);
      if (degree < 2) continue;
      const auto pivot = relations.nth_relation(v, 0);
      const auto target = relations.nth_relation(v, random.between<std::size_t>(1, degree - 1));
      if (random.coin() && relations.may_substitute(v, pivot, target)) {
        relations.substitute(v, pivot, target);
      } else if (!relations.share(relations.members(pivot)[0], relations.members(pivot).back())) {
        continue;
      }
      relations.settle();
      const ir::Program after = relations.program();
      const Status same = ir::verify_map(after, map);
      ASSERT_TRUE(same) << same.error().message;
      ASSERT_EQ(relations.xors(), ir::cost(after).xors);
      if (random.coin()) {
        relations.undo();
        ASSERT_EQ(content(relations), before);
      } else {
        relations.keep();
      }
    }
  }
}

}  // namespace
}  // namespace calpe::opt
