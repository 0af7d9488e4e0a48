// SPDX-License-Identifier: Apache-2.0
#include "opt/schedule_memory.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace calpe::opt {

namespace {

constexpr ir::Value undefined = std::numeric_limits<ir::Value>::max();

class Scheduler {
 public:
  Scheduler(const Sums& sums, std::span<const ir::Value> inputs, ir::Program& program)
      : sums_(sums), program_(program), values_(sums.inputs + sums.shared, undefined) {
    std::copy(inputs.begin(), inputs.end(), values_.begin());
  }

  void append(Node node, ir::Value target) {
    for (const Node term : sums_.of(node)) {
      if (values_[term] != undefined) continue;
      const ir::Value temporary = program_.new_temporary();
      append(term, temporary);  // recursion is as deep as sums are nested
      values_[term] = temporary;
    }
    std::vector<ir::Term> terms;
    for (const Node term : sums_.of(node))
      terms.push_back({.value = values_[term]});
    program_.append(target, terms);
  }

 private:
  const Sums& sums_;
  ir::Program& program_;
  std::vector<ir::Value> values_;  // by node
};

}  // namespace

void schedule_memory(const Sums& sums, std::span<const ir::Value> inputs,
                     std::span<const ir::Value> targets, ir::Program& program) {
  Scheduler scheduler(sums, inputs, program);
  for (std::uint32_t i = 0; i < sums.outputs; ++i)
    scheduler.append(sums.output(i), targets[i]);
}

}  // namespace calpe::opt
