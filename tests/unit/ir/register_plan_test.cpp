// SPDX-License-Identifier: Apache-2.0
#include "ir/register_plan.hpp"

#include <gtest/gtest.h>
#include <map>
#include <optional>

#include "conformance/random_program.hpp"
#include "ir/linear_map.hpp"
#include "ir/lower_to_xor.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::ir {
namespace {

using Sum = std::vector<bool>;  // by input: whether it is added

// Runs steps on sums of inputs. A plan is right if every output is stored once, as its row.
class Machine {
 public:
  Machine(const Program& program, const RegisterSet& registers)
      : program_(program), registers_(registers.count) {}

  // Returns what went wrong, or an empty string.
  std::string run(const RegisterPlan& plan) {
    for (std::size_t at = 0; at < plan.steps.size() && wrong_.empty(); ++at) {
      step(plan.steps[at], plan);
      if (!wrong_.empty()) wrong_ += " in step " + std::to_string(at);
    }
    return wrong_;
  }
  const std::map<Value, Sum>& stored() const { return outputs_; }

 private:
  Sum in(Register r) {
    if (r >= registers_.size() || !registers_[r]) {
      wrong_ = "reads register " + std::to_string(r) + ", which holds nothing";
      return Sum(program_.inputs());
    }
    return *registers_[r];
  }
  Value value_of(const Place& place) const {
    return place.shard * program_.unit_count() + place.unit;
  }
  Sum at(const Place& place) {
    if (place.space == Place::Space::input) {
      Sum sum(program_.inputs());
      sum.at(value_of(place)) = true;
      return sum;
    }
    if (place.space == Place::Space::output) wrong_ = "reads an output";
    const auto found = scratch_.find(place.shard);
    if (found != scratch_.end()) return found->second;
    wrong_ = "reads an empty slot";
    return Sum(program_.inputs());
  }
  static Sum add(Sum a, const Sum& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = a[i] != b[i];
    return a;
  }
  void store(const Step& step, const RegisterPlan& plan) {
    if (step.place.space == Place::Space::scratch) {
      if (step.place.shard >= plan.slots) wrong_ = "stores beyond the slots";
      scratch_[step.place.shard] = in(step.target);
    } else if (!outputs_.emplace(value_of(step.place), in(step.target)).second) {
      wrong_ = "stores an output twice";
    }
  }
  void step(const Step& s, const RegisterPlan& plan) {
    if (s.target >= registers_.size()) {
      wrong_ = "uses a register too many";
      return;
    }
    std::optional<Sum>& target = registers_[s.target];
    switch (s.kind) {
      case Step::Kind::zero:
        target = Sum(program_.inputs());
        break;
      case Step::Kind::load:
        target = at(s.place);
        break;
      case Step::Kind::copy:
        target = in(s.first);
        break;
      case Step::Kind::add:
        target = add(in(s.first), in(s.second));
        break;
      case Step::Kind::add_place:
        target = add(in(s.first), at(s.place));
        break;
      case Step::Kind::add_two:
        target = add(in(s.target), add(in(s.first), in(s.second)));
        break;
      case Step::Kind::add_one_each:
        target = add(in(s.target), add(in(s.first), at(s.place)));
        break;
      case Step::Kind::store:
        store(s, plan);
        break;
    }
  }

  const Program& program_;
  std::vector<std::optional<Sum>> registers_;
  std::map<std::uint32_t, Sum> scratch_;
  std::map<Value, Sum> outputs_;
  std::string wrong_;
};

testing::AssertionResult plan_is_right(const Program& program, const RegisterSet& registers) {
  const RegisterPlan plan = plan_registers(program, registers);
  Machine machine(program, registers);
  if (const std::string wrong = machine.run(plan); !wrong.empty())
    return testing::AssertionFailure() << wrong << ", " << registers.count << " registers";
  const gf::BitMatrix expected = bit_map(program);
  for (std::uint32_t r = 0; r < program.outputs(); ++r) {
    const auto found = machine.stored().find(r);
    if (found == machine.stored().end())
      return testing::AssertionFailure() << "output " << r << " is not stored";
    for (std::size_t c = 0; c < program.inputs(); ++c) {
      if (found->second[c] != expected.get(r, c))
        return testing::AssertionFailure() << "output " << r << ", input " << c;
    }
  }
  return testing::AssertionSuccess();
}

TEST(RegisterPlan, computes_the_program_with_any_number_of_registers) {
  conformance::Random random = conformance::Random::of_test("register_plan");
  for (int round = 0; round < 150; ++round) {
    const Program program =
        conformance::random_program(random, conformance::field_of(random.between(2U, 8U)),
                                    {.dialect = Dialect::xor_,
                                     .input_shards = random.between(1U, 8U),
                                     .output_shards = random.between(1U, 5U),
                                     .temporaries = random.between(0U, 80U),
                                     .terms_max = random.coin() ? 40U : 6U});
    for (const std::size_t count : {4UL, 5UL, 8UL, 15UL, 31UL}) {
      for (const bool three : {false, true}) {
        ASSERT_TRUE(plan_is_right(program, {.count = count, .three_input_xor = three}))
            << "round " << round << ", three inputs " << three;
      }
    }
  }
}

TEST(RegisterPlan, counts_the_steps_of_the_listing) {
  const RegisterPlan plan =
      plan_registers(program_of(listing_2), {.count = 31, .three_input_xor = true});
  std::map<Step::Kind, int> count;
  for (const Step& step : plan.steps)
    ++count[step.kind];
  EXPECT_EQ(plan.slots, 0U);  // everything fits
  EXPECT_EQ(count[Step::Kind::store], 6);
  // 33 two-input XORs are 22 instructions of up to three inputs: 10 pairs, and outputs of 3, 3, 5,
  // 6, 6 and 6 terms.
  EXPECT_EQ(count[Step::Kind::add] + count[Step::Kind::add_place] + count[Step::Kind::add_two] +
                count[Step::Kind::add_one_each],
            10 + 1 + 1 + 2 + 3 + 3 + 3);
}

}  // namespace
}  // namespace calpe::ir
