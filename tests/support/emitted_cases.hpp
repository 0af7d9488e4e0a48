// SPDX-License-Identifier: Apache-2.0
// Programs whose emitted code is compiled and run: forty codes, every loss of three small ones,
// each in every style, and random programs of every allowed kind.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "code/code.hpp"
#include "conformance/random_program.hpp"
#include "ir/lower_to_xor.hpp"
#include "opt/greedy_sharing.hpp"
#include "opt/optimise.hpp"
#include "plan/decode_planner.hpp"

namespace calpe::tests {

struct EmittedCase {
  std::string name;  // a C identifier
  ir::Program program;
};

struct Style {
  std::string_view name;
  ir::Program (*apply)(const ir::Program& direct);
};
// A small budget: the default one takes a second for the largest program and emits the same kind of
// code.
inline ir::Program optimise(const ir::Program& direct) {
  const bool is_small = direct.terms().size() < 300;
  auto best =
      opt::fewest_xors(direct, {.budget = is_small ? opt::Budget::standard : opt::Budget::fast});
  CALPE_ASSERT(best.has_value());
  return *std::move(best);
}
inline constexpr std::array styles = {
    Style{"direct", [](const ir::Program& direct) { return direct; }},
    Style{"iterative",
          [](const ir::Program& direct) {
            return opt::greedy_sharing(direct, ir::bit_map(direct), {});
          }},
    Style{"optimised", optimise},
};

struct CodeShape {
  std::uint16_t data_shards;
  std::uint16_t parity_shards;
  std::uint8_t word_bits;
};
// k, m, w.
inline constexpr std::array<CodeShape, 40> grid = {{
    {1, 1, 2},  {2, 1, 2}, {1, 2, 2}, {2, 2, 2},  {3, 1, 2}, {2, 1, 3},  {3, 2, 3},  {5, 2, 3},
    {4, 3, 3},  {5, 3, 3}, {6, 2, 3}, {2, 2, 4},  {4, 2, 4}, {5, 3, 4},  {6, 3, 4},  {8, 2, 4},
    {10, 2, 4}, {4, 4, 4}, {3, 1, 5}, {5, 2, 5},  {6, 3, 5}, {8, 2, 5},  {10, 3, 5}, {2, 3, 6},
    {5, 2, 6},  {7, 3, 6}, {9, 2, 6}, {12, 2, 6}, {3, 2, 7}, {6, 2, 7},  {8, 3, 7},  {4, 4, 7},
    {10, 2, 7}, {1, 3, 8}, {4, 2, 8}, {6, 3, 8},  {8, 4, 8}, {10, 4, 8}, {12, 3, 8}, {16, 2, 8},
}};
inline constexpr std::array<CodeShape, 3> rebuilt_codes = {{{3, 2, 3}, {4, 2, 4}, {3, 3, 3}}};

inline code::Code cauchy_code(const CodeShape& shape) {
  auto made = code::make_code({.family = CodeFamily::cauchy,
                               .layout = Layout::packets,
                               .data_shards = shape.data_shards,
                               .parity_shards = shape.parity_shards,
                               .word_bits = shape.word_bits});
  CALPE_ASSERT(made.has_value());
  return *std::move(made);
}

inline void add_styles(std::vector<EmittedCase>& cases, const std::string& name,
                       const code::Code& code, const plan::Recipe& recipe) {
  const ir::Program direct = ir::lower_to_xor(ir::build(code.field, recipe.coefficients));
  for (const Style& style : styles)
    cases.push_back({text(name, "_", style.name), style.apply(direct)});
}

inline void add_rebuilds(std::vector<EmittedCase>& cases, const CodeShape& shape) {
  const code::Code code = cauchy_code(shape);
  const plan::DecodePlanner planner(code);
  const unsigned shards = shape.data_shards + shape.parity_shards;
  for (unsigned lost = 1; lost < 1U << shards; ++lost) {
    if (__builtin_popcount(lost) > shape.parity_shards) continue;
    std::vector<ShardIndex> available;
    std::vector<ShardIndex> wanted;
    for (unsigned i = 0; i < shards; ++i)
      (lost >> i & 1 ? wanted : available).push_back(static_cast<ShardIndex>(i));
    const auto recipe = planner.plan(available, wanted, {});
    CALPE_ASSERT(recipe.has_value());
    add_styles(cases,
               text("rebuild_", shape.data_shards, "_", shape.parity_shards, "_",
                    unsigned{shape.word_bits}, "_lost_", lost),
               code, *recipe);
  }
}

inline std::vector<EmittedCase> emitted_cases() {
  std::vector<EmittedCase> cases;
  for (const CodeShape& shape : grid) {
    const code::Code code = cauchy_code(shape);
    add_styles(cases,
               text("encode_", shape.data_shards, "_", shape.parity_shards, "_",
                    unsigned{shape.word_bits}),
               code, plan::encode_recipe(code));
  }
  for (const CodeShape& shape : rebuilt_codes)
    add_rebuilds(cases, shape);
  conformance::Random random = conformance::Random::of_test("emitted");
  for (unsigned i = 0; i < 14; ++i) {
    cases.push_back({text("random_", i),
                     conformance::random_program(random, conformance::field_of(2 + i % 7),
                                                 {.dialect = ir::Dialect::xor_,
                                                  .input_shards = random.between(1U, 8U),
                                                  .output_shards = random.between(1U, 5U),
                                                  .temporaries = random.between(0U, 40U)})});
  }
  return cases;
}

}  // namespace calpe::tests
