// SPDX-License-Identifier: Apache-2.0
// The simplest sharing of common parts (Paar's greedy pairs), so that tests have programs with
// temporaries that do not depend on the optimiser.
#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/program.hpp"

namespace calpe::tests {

// While two values are summed by several outputs, their sum becomes a temporary.
inline ir::Program share_pairs(const ir::Program& direct) {
  std::vector<std::set<ir::Value>> sums;  // of instructions
  for (const ir::Instruction& instruction : direct.instructions()) {
    sums.emplace_back();
    for (const ir::Term& term : direct.terms(instruction))
      sums.back().insert(term.value);
  }
  ir::Program program(direct.field_ref(), direct.shape());
  for (;;) {
    std::map<std::pair<ir::Value, ir::Value>, unsigned> counts;
    std::pair<ir::Value, ir::Value> best = {};
    unsigned most = 1;
    for (const auto& sum : sums) {
      for (auto a = sum.begin(); a != sum.end(); ++a) {
        for (auto b = std::next(a); b != sum.end(); ++b) {
          const unsigned count = ++counts[{*a, *b}];
          if (count > most) std::tie(most, best) = std::pair(count, std::pair(*a, *b));
        }
      }
    }
    if (most == 1) break;
    const ir::Value shared = program.new_temporary();
    program.append(shared, std::vector<ir::Term>{{.value = best.first}, {.value = best.second}});
    for (auto& sum : sums) {
      if (!sum.contains(best.first) || !sum.contains(best.second)) continue;
      sum.erase(best.first);
      sum.erase(best.second);
      sum.insert(shared);
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::vector<ir::Term> terms;
    for (const ir::Value v : sums[i])
      terms.push_back({.value = v});
    program.append(direct.instructions()[i].target, terms);
  }
  return program;
}

}  // namespace calpe::tests
