// SPDX-License-Identifier: Apache-2.0
#include "opt/schedule_registers.hpp"

#include <algorithm>

namespace calpe::opt {

namespace {

using ir::Term;
using ir::Value;

class Scheduler {
 public:
  Scheduler(const Sums& sums, const ScheduleRules& rules, ir::Program& program)
      : sums_(sums),
        rules_(rules),
        full_(rules.three_input_xor ? 3 : 2),
        program_(program),
        readers_(sums.inputs + sums.shared),
        waiting_(sums.terms.size()),
        missing_(sums.terms.size()) {
    for (Node node = sums.inputs; node < sums.inputs + sums.terms.size(); ++node) {
      missing_[node - sums.inputs] = sums.of(node).size();
      for (const Node term : sums.of(node))
        readers_[term].push_back(node);
    }
  }

  void run() {
    for (std::uint32_t output = 0; output < sums_.outputs; ++output) {
      if (sums_.of(sums_.output(output)).empty()) finish(sums_.output(output));
    }
    for (Node input = 0; input < sums_.inputs; ++input) {
      // An input that is a target here arrives when its sum is finished.
      if (std::ranges::find(rules_.targets, rules_.inputs[input]) == rules_.targets.end())
        arrive(input, rules_.inputs[input]);
    }
  }

 private:
  // `value` is the program's value of the node.
  void arrive(Node node, Value value) {
    for (const Node reader : readers_[node]) {
      std::vector<Term>& waiting = waiting_[reader - sums_.inputs];
      waiting.push_back({.value = value});
      if (--missing_[reader - sums_.inputs] == 0) {
        finish(reader);
      } else if (waiting.size() == full_) {
        const Value partial = program_.new_temporary();
        program_.append(partial, waiting);
        waiting.assign(1, {.value = partial});
      }
    }
  }

  void finish(Node node) {
    const Value target =
        sums_.is_output(node) ? rules_.targets[node - sums_.output(0)] : program_.new_temporary();
    program_.append(target, waiting_[node - sums_.inputs]);
    if (!sums_.is_output(node)) {
      arrive(node, target);
      return;
    }
    const auto input = std::ranges::find(rules_.inputs, target);
    if (input != rules_.inputs.end())
      arrive(static_cast<Node>(input - rules_.inputs.begin()), target);
  }

  const Sums& sums_;
  const ScheduleRules& rules_;
  const std::size_t full_;  // terms per instruction
  ir::Program& program_;
  std::vector<std::vector<Node>> readers_;  // by node
  std::vector<std::vector<Term>> waiting_;  // by sum: terms that have arrived
  std::vector<std::size_t> missing_;        // by sum: number of terms that have not
};

}  // namespace

void schedule_registers(const Sums& sums, const ScheduleRules& rules, ir::Program& program) {
  Scheduler(sums, rules, program).run();
}

}  // namespace calpe::opt
