// SPDX-License-Identifier: Apache-2.0
// An xor program without an order: relations, each a set of values whose sum is zero. The
// instruction u = a + b + c is the relation {u, a, b, c}, which also defines a.
//
// A relation of n values costs n - 2 XORs, whichever of them it defines. Two steps turn any such
// system into any other with the same linear map, and neither can change that map:
//
//   share      values p, q that occur together in c relations become one new value s = p + q there:
//              c relations lose a value, {s, p, q} is new: c - 1 XORs fewer. Because targets count
//              as members, this finds cancellations too: of u = a+b+c and v = u+a+d, the pair
//              (u, a) makes s = b+c, u = s+a, v = s+d; 3 XORs for 4.
//   substitute a relation with the value v is added to another one with v, so that v leaves that
//              one; a value that has left all others is no longer needed.
//
// Each value also stores the relation that defines it, so that an order of computation always
// exists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/program.hpp"

namespace calpe::opt {

class Relations {
 public:
  using Value = std::uint16_t;     // numbered as in the program: inputs, outputs, temporaries
  using Relation = std::uint16_t;  // index; a relation without members is free
  static constexpr std::size_t values_max = 8192;

  // Takes a sound xor program of at most values_max values, in normal form (see settle). Leaves
  // room for a quarter more temporaries.
  explicit Relations(const ir::Program& program);

  std::size_t xors() const noexcept { return xors_; }
  ir::Program program() const;

  // Values that are not inputs, used or not: first_defined() .. values() - 1.
  Value first_defined() const noexcept { return static_cast<Value>(shape_.inputs); }
  std::size_t values() const noexcept { return degree_.size(); }
  bool is_temporary(Value v) const noexcept { return v >= shape_.inputs + shape_.outputs; }
  std::size_t degree(Value v) const noexcept { return degree_[v]; }  // relations that contain it
  Relation definition(Value v) const noexcept { return definition_[v]; }
  std::span<const Value> members(Relation r) const noexcept { return members_[r]; }
  bool has(Relation r, Value v) const noexcept {
    return (relations_of(v)[r / 64] >> (r % 64) & 1) != 0;
  }
  Relation nth_relation(Value v, std::size_t n) const noexcept;  // of those that contain v
  // Counts relations with both values; fewer than two count as none, which is faster to test.
  std::size_t meetings(Value p, Value q) const noexcept;

  // Returns whether `pivot` can be added to `target` (both contain v) and an order of computation
  // still exists. Always true if it defines v; otherwise what it defines must not need what the
  // other defines.
  bool may_substitute(Value v, Relation pivot, Relation target) const;
  void substitute(Value v, Relation pivot, Relation target);
  // Shares in all relations that contain both. Returns false, without a change, if there is no room
  // for another value.
  bool share(Value p, Value q);

  // Brings the system to normal form, which never costs XORs: no temporary in fewer than three
  // relations, because a value used once is better inlined; no copies or zeros except of outputs.
  void settle();

  // New members since the last clear, in relations that may have lost them again: where to look for
  // common pairs. Initially all members.
  struct Place {
    Relation relation;
    Value value;
  };
  std::vector<Place>& fresh() noexcept { return fresh_; }

  void keep() noexcept;  // commits the changes since the last keep or undo
  void undo();           // reverts them

 private:
  std::span<const std::uint64_t> relations_of(Value v) const noexcept {
    return {bits_.data() + std::size_t{v} * words_, words_};
  }
  template <class Visit>
  void for_relations(Value v, Visit visit) const;
  Value target_of(Relation r) const noexcept;
  void toggle(Relation r, Value v);  // without the journal
  void flip(Relation r, Value v);
  void define(Value v, Relation r);
  void add(Relation target, Relation source, Value leaving);
  void clear(Relation r);
  void eliminate(Value v, Relation pivot);
  void settle_value(Value v);
  void settle_relation(Relation r);
  bool find_room(Value& v, Relation& r);

  gf::FieldRef field_;
  ir::Program::Shape shape_;
  std::size_t words_ = 0;  // 64 relations each
  std::size_t xors_ = 0;
  std::vector<std::vector<Value>> members_;  // by relation, in no order
  std::vector<std::uint64_t> bits_;          // by value: which relations have it
  std::vector<std::uint32_t> degree_;
  std::vector<Relation> definition_;

  std::vector<Place> fresh_;
  std::vector<Value> unsettled_values_;
  std::vector<Relation> unsettled_relations_;
  std::vector<Place> flipped_;
  std::vector<std::pair<Value, Relation>> redefined_;  // with the previous definition
  Value next_value_ = 0;                               // where to look for a free value first
  Relation next_relation_ = 0;
  mutable std::vector<std::uint32_t> mark_;  // used by the search of may_substitute
  mutable std::uint32_t last_mark_ = 0;
  mutable std::vector<Value> waiting_;
  std::vector<Value> copied_;
};

}  // namespace calpe::opt
