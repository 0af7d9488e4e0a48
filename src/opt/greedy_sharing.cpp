// SPDX-License-Identifier: Apache-2.0
#include "opt/greedy_sharing.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "opt/pair_sharing.hpp"

namespace calpe::opt {

namespace {

// Best results so far, over all groups.
struct Shared {
  RowSets columns;  // what remains of a group's inputs, then its shared values
  std::vector<SharedPair> pairs;
  std::size_t xors = 0;  // of the pairs, plus one for every member of a row
};

std::size_t members(const RowSets& columns) {
  std::size_t count = 0;
  for (std::size_t c = 0; c < columns.columns(); ++c) {
    for (const std::uint64_t word : columns.column(c))
      count += static_cast<std::size_t>(std::popcount(word));
  }
  return count;
}

Shared best_sharing(const RowSets& columns, const GreedyRules& rules) {
  Shared best{columns, {}, ~std::size_t{0}};
  for (std::size_t trial = 0; trial < rules.trials; ++trial) {
    Shared shared{columns, {}, 0};
    shared.pairs = share_pairs(shared.columns, {.seed = trial == 0 ? 0 : rules.seed + trial});
    shared.xors = shared.pairs.size() + members(shared.columns);
    if (shared.xors < best.xors) best = std::move(shared);
  }
  return best;
}

}  // namespace

ir::Program greedy_sharing(const ir::Program& program, const gf::BitMatrix& map,
                           const GreedyRules& rules) {
  ir::Program result(program.field_ref(), program.shape());
  if (map.rows() == 0) return result;
  std::vector<std::vector<ir::Term>> rows(map.rows());
  const std::size_t group = std::max<std::size_t>(8, rules.group_cells / map.rows());
  for (std::size_t first = 0; first < map.columns(); first += group) {
    const std::size_t count = std::min(group, map.columns() - first);
    const Shared shared = best_sharing(columns_of(map, first, count), rules);
    std::vector<ir::Value> number;  // the group's columns in the result
    for (std::size_t c = 0; c < count; ++c)
      number.push_back(static_cast<ir::Value>(first + c));
    for (const SharedPair& pair : shared.pairs) {
      number.push_back(result.new_temporary());
      const ir::Term terms[] = {{.value = number[pair.left]}, {.value = number[pair.right]}};
      result.append(number.back(), terms);
    }
    for (std::size_t c = 0; c < number.size(); ++c) {
      const std::span<const std::uint64_t> words = shared.columns.column(c);
      for (std::size_t i = 0; i < words.size(); ++i) {
        for (std::uint64_t word = words[i]; word != 0; word &= word - 1) {
          const auto row = i * 64 + static_cast<std::size_t>(std::countr_zero(word));
          rows[row].push_back({.value = number[c]});
        }
      }
    }
  }
  for (std::uint32_t r = 0; r < map.rows(); ++r)
    result.append(result.output(r), rows[r]);
  return result;
}

}  // namespace calpe::opt
