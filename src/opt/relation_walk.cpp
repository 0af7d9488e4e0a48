// SPDX-License-Identifier: Apache-2.0
#include "opt/relation_walk.hpp"

#include <algorithm>
#include <utility>

#include "opt/random.hpp"
#include "opt/relations.hpp"

namespace calpe::opt {

namespace {

using Value = Relations::Value;
using Relation = Relations::Relation;

// A step that adds more than 4 XORs before it shares again never pays off.
constexpr std::size_t pivot_members_max = 6;

// Odds, out of 2^32, of accepting one more XOR; two more are accepted with the square, and so on.
// They fall by a sixteenth 64 times, to one in 250. Chosen on 10+4, w = 8: starting at 1 or 1/8 is
// not better; starting at 1/30 and never climbing are worse by 10 and 20 of 330 XORs.
constexpr std::uint64_t first_odds = std::uint64_t{1} << 30;
constexpr std::size_t phases = 64;
constexpr std::uint64_t odds_loss = 16;

struct Pair {
  Value p = 0;
  Value q = 0;
  bool operator==(const Pair&) const = default;
};

class Walk {
 public:
  Walk(const ir::Program& program, const WalkRules& rules)
      : relations_(program), best_(program), steps_(rules.steps), random_(rules.seed) {
    if (share_fresh({})) {
      relations_.keep();
    } else {
      relations_.undo();
    }
    fewest_ = relations_.xors();
  }

  ir::Program run() {
    std::size_t phase = 0;
    for (std::size_t step = 0; step < steps_; ++step) {
      for (; phase < step * phases / steps_; ++phase)
        odds_ -= odds_ / odds_loss;
      try_step();
    }
    remember();
    return std::move(best_);
  }

 private:
  std::uint32_t below(std::size_t limit) {
    return random_.below(static_cast<std::uint32_t>(limit));
  }

  // Gives up one sharing in one place, then shares whatever is common there, except that pair.
  void try_step() {
    const std::size_t defined = relations_.values() - relations_.first_defined();
    const auto v = static_cast<Value>(relations_.first_defined() + below(defined));
    const std::size_t degree = relations_.degree(v);
    if (degree < 2) return;
    const std::size_t nth = below(degree);
    const std::size_t other = below(degree - 1);
    const Relation pivot = relations_.nth_relation(v, nth);
    const std::size_t size = relations_.members(pivot).size();
    if (size < 3 || size > pivot_members_max) return;
    const Relation target = relations_.nth_relation(v, other < nth ? other : other + 1);
    if (!relations_.may_substitute(v, pivot, target)) return;

    const std::size_t before = relations_.xors();
    if (before == fewest_) remember();
    const Pair given_up = size == 3 ? pair_beside(pivot, v) : Pair{};
    relations_.fresh().clear();
    relations_.substitute(v, pivot, target);
    if (share_fresh(given_up) && is_accepted(before)) {
      relations_.keep();
      is_remembered_ = is_remembered_ && relations_.xors() >= fewest_;
      fewest_ = std::min(fewest_, relations_.xors());
    } else {
      relations_.undo();
    }
  }

  bool is_accepted(std::size_t before) {
    for (std::size_t xors = relations_.xors(); xors > before; --xors) {
      if (random_.next() >> 32 >= odds_) return false;
    }
    return true;
  }

  Pair pair_beside(Relation pivot, Value v) const {
    Pair pair{0xFFFF, 0};
    for (const Value x : relations_.members(pivot)) {
      if (x != v) pair = {std::min(pair.p, x), std::max(pair.q, x)};
    }
    return pair;
  }

  // Repeats until no new member is in a common pair. Returns false if there is no room for a value.
  bool share_fresh(Pair given_up) {
    std::vector<Relations::Place>& fresh = relations_.fresh();
    relations_.settle();
    while (!fresh.empty()) {
      const std::uint32_t at = below(fresh.size());
      const Relations::Place place = fresh[at];
      const Value partner = best_partner(place, given_up);
      if (partner == place.value) {
        fresh[at] = fresh.back();
        fresh.pop_back();
        continue;
      }
      if (!relations_.share(place.value, partner)) return false;
      relations_.settle();
    }
    return true;
  }

  // Returns the member that most relations contain together with place.value, ties at random, or
  // that value itself if none is in two. Three relations outweigh that a pair was given up.
  Value best_partner(Relations::Place place, Pair given_up) {
    Value best = place.value;
    if (!relations_.has(place.relation, place.value)) return best;
    std::size_t most = 2;
    std::uint32_t equals = 0;
    for (const Value x : relations_.members(place.relation)) {
      if (x == place.value) continue;
      const std::size_t count = relations_.meetings(place.value, x);
      if (count < most) continue;
      const Pair pair{std::min(x, place.value), std::max(x, place.value)};
      if (count == 2 && pair == given_up) continue;
      if (count > most) equals = 0;
      most = count;
      if (below(++equals) == 0) best = x;
    }
    return best;
  }

  void remember() {
    if (is_remembered_) return;
    best_ = relations_.program();
    is_remembered_ = true;
  }

  Relations relations_;
  ir::Program best_;
  bool is_remembered_ = false;  // best_ has fewest_ XORs
  std::size_t fewest_ = 0;
  const std::size_t steps_;
  std::uint64_t odds_ = first_odds;
  Random random_;
};

}  // namespace

ir::Program walk_relations(const ir::Program& program, const WalkRules& rules) {
  return Walk(program, rules).run();
}

}  // namespace calpe::opt
