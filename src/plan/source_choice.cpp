// SPDX-License-Identifier: Apache-2.0
#include "plan/source_choice.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/assert.hpp"

namespace calpe::plan {

namespace {

using gf::Element;

// A vector over the data shards, and its combination of the sources taken so far.
struct Tracked {
  std::vector<Element> vector;
  std::vector<Element> from_sources;
};

class Elimination {
 public:
  Elimination(const code::Code& code, std::span<const ShardIndex> wanted, std::size_t source_count)
      : code_(code), source_count_(source_count) {
    for (const ShardIndex shard : wanted)
      wanted_.push_back(start(shard));
  }

  // True once every wanted shard is a sum of sources.
  bool spanned() const {
    return std::ranges::all_of(wanted_, [](const Tracked& t) {
      return std::ranges::all_of(t.vector, [](Element e) { return e == 0; });
    });
  }

  void take(ShardIndex shard, std::size_t source_number) {
    Tracked next = start(shard);
    next.from_sources[source_number] = 1;
    for (std::size_t i = 0; i < pivots_.size(); ++i)
      cancel(next, basis_[i], pivots_[i]);
    const auto pivot = std::ranges::find_if(next.vector, [](Element e) { return e != 0; });
    if (pivot == next.vector.end()) return;  // linearly dependent
    const auto column = static_cast<std::size_t>(pivot - next.vector.begin());
    const Element factor = code_.field->inverse(*pivot);
    for (Element& e : next.vector)
      e = code_.field->multiply(e, factor);
    for (Element& e : next.from_sources)
      e = code_.field->multiply(e, factor);
    for (Tracked& target : wanted_)
      cancel(target, next, column);
    basis_.push_back(std::move(next));
    pivots_.push_back(column);
  }

  std::span<const Tracked> wanted() const { return wanted_; }

 private:
  Tracked start(ShardIndex shard) const {
    Tracked t{std::vector<Element>(code_.data_shards()), std::vector<Element>(source_count_)};
    for (std::size_t j = 0; j < code_.data_shards(); ++j)
      t.vector[j] = code_.generator(shard, j);
    return t;
  }

  void cancel(Tracked& target, const Tracked& pivot, std::size_t column) const {
    const Element factor = target.vector[column];
    if (factor == 0) return;
    const auto add = [&](std::vector<Element>& to, const std::vector<Element>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = static_cast<Element>(to[i] ^ code_.field->multiply(factor, from[i]));
      }
    };
    add(target.vector, pivot.vector);
    add(target.from_sources, pivot.from_sources);
  }

  const code::Code& code_;
  std::size_t source_count_;
  std::vector<Tracked> wanted_;
  std::vector<Tracked> basis_;
  std::vector<std::size_t> pivots_;
};

struct Outcome {
  std::uint64_t cost = 0;
  Recipe recipe;
};

std::optional<Outcome> solve(const code::Code& code, std::span<const Source> order,
                             std::span<const ShardIndex> wanted) {
  Elimination elimination(code, wanted, order.size());
  for (std::size_t i = 0; i < order.size() && !elimination.spanned(); ++i) {
    elimination.take(order[i].shard, i);
  }
  if (!elimination.spanned()) return std::nullopt;

  std::vector<std::size_t> used;  // sources with a non-zero coefficient, by shard
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (std::ranges::any_of(elimination.wanted(),
                            [i](const Tracked& t) { return t.from_sources[i] != 0; })) {
      used.push_back(i);
    }
  }
  std::ranges::sort(used, {}, [&](std::size_t i) { return order[i].shard; });
  Outcome outcome;
  outcome.recipe.writes.assign(wanted.begin(), wanted.end());
  outcome.recipe.coefficients = gf::Matrix(wanted.size(), used.size());
  for (std::size_t c = 0; c < used.size(); ++c) {
    outcome.cost += order[used[c]].cost;
    outcome.recipe.reads.push_back(order[used[c]].shard);
    for (std::size_t r = 0; r < wanted.size(); ++r) {
      outcome.recipe.coefficients(r, c) = elimination.wanted()[r].from_sources[used[c]];
    }
  }
  return outcome;
}

// A parity row with zeros is a local group: its shard and those with a non-zero coefficient.
using Group = std::vector<bool>;  // per shard

std::vector<Group> groups_touching(const code::Code& code, std::span<const ShardIndex> wanted) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < code.parity_shards(); ++i) {
    Group group(code.shards());
    group[code.data_shards() + i] = true;
    for (std::size_t j = 0; j < code.data_shards(); ++j)
      group[j] = code.parity(i, j) != 0;
    const bool sparse = std::ranges::count(group, true) <= std::ptrdiff_t(code.data_shards());
    if (sparse && std::ranges::any_of(wanted, [&](ShardIndex s) { return group[s]; })) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

}  // namespace

std::optional<Recipe> choose_sources(const code::Code& code, std::span<const Source> sources,
                                     std::span<const ShardIndex> wanted) {
  constexpr std::size_t groups_tried_max = 6;  // so at most 64 orders
  std::vector<Group> groups = groups_touching(code, wanted);
  groups.resize(std::min(groups.size(), groups_tried_max));

  std::optional<Outcome> best;
  for (std::size_t subset = 0; subset < std::size_t{1} << groups.size(); ++subset) {
    const auto outside = [&](const Source& source) {
      for (std::size_t g = 0; g < groups.size(); ++g) {
        if ((subset >> g & 1) != 0 && groups[g][source.shard]) return false;
      }
      return true;
    };
    std::vector<Source> order(sources.begin(), sources.end());
    std::ranges::stable_sort(
        order, {}, [&](const Source& s) { return std::make_tuple(outside(s), s.cost, s.shard); });
    auto outcome = solve(code, order, wanted);
    if (!outcome) return std::nullopt;  // the order does not change the span
    const auto rank = [](const Outcome& o) { return std::pair(o.cost, o.recipe.reads.size()); };
    if (!best || rank(*outcome) < rank(*best)) best = std::move(outcome);
  }
  return std::move(best->recipe);
}

}  // namespace calpe::plan
