// SPDX-License-Identifier: Apache-2.0
#include "opt/relations.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace calpe::opt {

namespace {

constexpr Relations::Relation undefined = 0xFFFF;

std::size_t xors_of(std::size_t members) {
  return members < 2 ? 0 : members - 2;
}

}  // namespace

template <class Visit>
void Relations::for_relations(Value v, Visit visit) const {
  const std::uint64_t* bits = bits_.data() + std::size_t{v} * words_;
  for (std::size_t i = 0; i < words_; ++i) {
    for (std::uint64_t word = bits[i]; word != 0; word &= word - 1) {
      visit(static_cast<Relation>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
    }
  }
}

Relations::Relations(const ir::Program& program)
    : field_(program.field_ref()), shape_(program.shape()) {
  CALPE_ASSERT(program.dialect() == ir::Dialect::xor_ && program.values() <= values_max);
  const std::size_t spare = program.temporaries() / 4 + 16;
  const std::size_t relation_count = program.instructions().size() + spare;
  const std::size_t value_count = program.values() + spare;
  words_ = (relation_count + 63) / 64;
  members_.resize(relation_count);
  bits_.resize(value_count * words_);
  degree_.resize(value_count);
  definition_.assign(value_count, undefined);
  mark_.resize(value_count);

  Relation r = 0;
  for (const ir::Instruction& instruction : program.instructions()) {
    definition_[instruction.target] = r;
    flip(r, static_cast<Value>(instruction.target));
    for (const ir::Term& term : program.terms(instruction))
      flip(r, static_cast<Value>(term.value));  // named twice: cancels
    unsettled_relations_.push_back(r++);
  }
  for (std::size_t v = 0; v < program.values(); ++v)
    unsettled_values_.push_back(static_cast<Value>(v));
  settle();
  fresh_.clear();
  for (r = 0; r < relation_count; ++r) {
    for (const Value v : members_[r])
      fresh_.push_back({r, v});
  }
  keep();
}

void Relations::toggle(Relation r, Value v) {
  std::uint64_t& word = bits_[std::size_t{v} * words_ + r / 64];
  const std::uint64_t bit = std::uint64_t{1} << (r % 64);
  std::vector<Value>& members = members_[r];
  xors_ -= xors_of(members.size());
  word ^= bit;
  if ((word & bit) != 0) {
    members.push_back(v);
    ++degree_[v];
  } else {
    *std::ranges::find(members, v) = members.back();
    members.pop_back();
    --degree_[v];
  }
  xors_ += xors_of(members.size());
}

void Relations::flip(Relation r, Value v) {
  toggle(r, v);
  flipped_.push_back({r, v});
}

void Relations::define(Value v, Relation r) {
  redefined_.emplace_back(v, definition_[v]);
  definition_[v] = r;
}

void Relations::keep() noexcept {
  flipped_.clear();
  redefined_.clear();
}

void Relations::undo() {
  for (; !flipped_.empty(); flipped_.pop_back())
    toggle(flipped_.back().relation, flipped_.back().value);
  for (; !redefined_.empty(); redefined_.pop_back())
    definition_[redefined_.back().first] = redefined_.back().second;
  unsettled_values_.clear();
  unsettled_relations_.clear();
}

Relations::Relation Relations::nth_relation(Value v, std::size_t n) const noexcept {
  Relation found = undefined;
  for_relations(v, [&](Relation r) {
    if (n-- == 0) found = r;
  });
  return found;
}

std::size_t Relations::meetings(Value p, Value q) const noexcept {
  const std::uint64_t* a = bits_.data() + std::size_t{p} * words_;
  const std::uint64_t* b = bits_.data() + std::size_t{q} * words_;
  std::size_t count = 0;
  for (std::size_t i = 0; i < words_; ++i) {
    for (std::uint64_t word = a[i] & b[i]; word != 0; word &= word - 1)
      ++count;
  }
  return count < 2 ? 0 : count;
}

Relations::Value Relations::target_of(Relation r) const noexcept {
  for (const Value v : members_[r]) {
    if (definition_[v] == r) return v;
  }
  CALPE_ASSERT(false && "every relation defines a value");
  return 0;
}

bool Relations::may_substitute(Value v, Relation pivot, Relation target) const {
  if (definition_[v] == pivot) return true;
  if (definition_[v] == target) return false;  // v would lose its definition
  const std::uint32_t seen = ++last_mark_;
  const Value forbidden = target_of(target);
  waiting_.assign(1, target_of(pivot));
  mark_[waiting_[0]] = seen;
  while (!waiting_.empty()) {
    const Relation needed = definition_[waiting_.back()];
    waiting_.pop_back();
    for (const Value x : members_[needed]) {
      if (x < shape_.inputs || mark_[x] == seen) continue;
      if (x == forbidden) return false;
      mark_[x] = seen;
      waiting_.push_back(x);
    }
  }
  return true;
}

// Adds all members of source; `leaving` is in both.
void Relations::add(Relation target, Relation source, Value leaving) {
  copied_.assign(members_[source].begin(), members_[source].end());
  for (const Value v : copied_) {
    flip(target, v);
    if (has(target, v)) {
      fresh_.push_back({target, v});
    } else if (v != leaving) {
      unsettled_values_.push_back(v);
    }
  }
  if (members_[target].size() <= 2) unsettled_relations_.push_back(target);
}

void Relations::clear(Relation r) {
  copied_.assign(members_[r].begin(), members_[r].end());
  for (const Value v : copied_) {
    flip(r, v);
    unsettled_values_.push_back(v);
  }
}

// v is a temporary. A pivot that defines another value y is a copy; y then gets v's definition.
void Relations::eliminate(Value v, Relation pivot) {
  if (definition_[v] != pivot) define(target_of(pivot), definition_[v]);
  for_relations(v, [&](Relation r) {
    if (r != pivot) add(r, pivot, v);
  });
  clear(pivot);
}

void Relations::substitute(Value v, Relation pivot, Relation target) {
  add(target, pivot, v);
  unsettled_values_.push_back(v);
}

bool Relations::find_room(Value& v, Relation& r) {
  const auto first = static_cast<Value>(shape_.inputs + shape_.outputs);
  const std::size_t value_count = values() - first;
  for (std::size_t tried = 0; degree_[first + next_value_] != 0; ++tried) {
    if (tried == value_count) return false;
    if (++next_value_ == value_count) next_value_ = 0;
  }
  // There are as many relations as values to define, so one is free.
  while (!members_[next_relation_].empty()) {
    if (++next_relation_ == members_.size()) next_relation_ = 0;
  }
  v = static_cast<Value>(first + next_value_);
  r = next_relation_;
  return true;
}

bool Relations::share(Value p, Value q) {
  // {p, q, s} may exist already.
  Value sum = 0;
  Relation definer = undefined;
  for_relations(p, [&](Relation r) {
    if (members_[r].size() != 3 || !has(r, q)) return;
    definer = r;
    for (const Value v : members_[r]) {
      if (v != p && v != q) sum = v;
    }
  });
  if (definer == undefined) {
    if (!find_room(sum, definer)) return false;
    for (const Value v : {sum, p, q})
      flip(definer, v);
    define(sum, definer);
  }
  for_relations(p, [&](Relation r) {
    if (r == definer || !has(r, q)) return;
    for (const Value v : {p, q, sum})
      flip(r, v);
    // If p was the target, p = q + rest, then s = rest now comes first and p = s + q follows.
    for (const Value v : {p, q}) {
      if (definition_[v] != r) continue;
      define(v, definer);
      define(sum, r);
    }
    if (has(r, sum)) fresh_.push_back({r, sum});
    if (members_[r].size() <= 2) unsettled_relations_.push_back(r);
  });
  for (const Value v : {p, q, sum})
    unsettled_values_.push_back(v);
  return true;
}

void Relations::settle() {
  while (!unsettled_values_.empty() || !unsettled_relations_.empty()) {
    if (!unsettled_relations_.empty()) {
      const Relation r = unsettled_relations_.back();
      unsettled_relations_.pop_back();
      settle_relation(r);
    } else {
      const Value v = unsettled_values_.back();
      unsettled_values_.pop_back();
      settle_value(v);
    }
  }
}

void Relations::settle_value(Value v) {
  if (!is_temporary(v) || degree_[v] == 0 || degree_[v] > 2) return;
  if (degree_[v] == 1) {
    clear(definition_[v]);  // unused
  } else {
    eliminate(v, definition_[v]);
  }
}

// A copy, {x, y} with y = x, or a zero, {y}, where y is not used elsewhere.
void Relations::settle_relation(Relation r) {
  if (members_[r].empty() || members_[r].size() > 2) return;
  const Value y = target_of(r);
  if (members_[r].size() == 2) {
    const Value x = members_[r][0] == y ? members_[r][1] : members_[r][0];
    if (!is_temporary(y) && is_temporary(x)) {
      eliminate(x, r);  // y replaces x
      return;
    }
  }
  if (is_temporary(y)) {
    eliminate(y, r);
    return;
  }
  for_relations(y, [&](Relation other) {
    if (other != r) add(other, r, y);
  });
}

ir::Program Relations::program() const {
  ir::Program result(field_, shape_);
  std::vector<ir::Value> number(values(), 0);  // in the result; temporaries when they are defined
  for (ir::Value v = 0; v < shape_.inputs + shape_.outputs; ++v)
    number[v] = v;
  std::vector<bool> is_done(values());
  std::vector<ir::Term> terms;
  std::vector<Value> stack;
  const auto is_ready = [&](Value v) { return v < shape_.inputs || is_done[v]; };
  std::size_t depth_max = 1;
  for (const std::vector<Value>& relation : members_)
    depth_max += relation.size();
  // Depth first from each output, so that values are computed shortly before use.
  for (std::uint32_t output = 0; output < shape_.outputs; ++output) {
    stack.push_back(static_cast<Value>(shape_.inputs + output));
    while (!stack.empty()) {
      const Value v = stack.back();
      const std::size_t depth = stack.size();
      if (!is_done[v]) {
        for (const Value x : members_[definition_[v]]) {
          if (x != v && !is_ready(x)) stack.push_back(x);
        }
      }
      CALPE_ASSERT(stack.size() <= depth_max);  // otherwise a value depends on itself
      if (stack.size() > depth) continue;
      stack.pop_back();
      if (is_done[v]) continue;
      is_done[v] = true;
      terms.clear();
      for (const Value x : members_[definition_[v]]) {
        if (x != v) terms.push_back({.value = number[x]});
      }
      std::ranges::sort(terms, {}, &ir::Term::value);
      if (is_temporary(v)) number[v] = result.new_temporary();
      result.append(number[v], terms);
    }
  }
  return result;
}

}  // namespace calpe::opt
