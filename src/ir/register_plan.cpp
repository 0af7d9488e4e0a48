// SPDX-License-Identifier: Apache-2.0
#include "ir/register_plan.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.hpp"

namespace calpe::ir {

namespace {

constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();
constexpr Value no_value = std::numeric_limits<Value>::max();
constexpr Register nowhere = 255;

// The next read of the value, for every operand of every instruction.
class Uses {
 public:
  explicit Uses(const Program& program)
      : next_(program.terms().size()), first_(program.values(), never) {
    const auto instructions = program.instructions();
    for (std::size_t at = instructions.size(); at-- > 0;) {
      const Instruction& instruction = instructions[at];
      const auto terms = program.terms(instruction);
      for (std::size_t i = terms.size(); i-- > 0;) {
        next_[instruction.first_term + i] = first_[terms[i].value];
      }
      for (const Term& term : terms)
        first_[term.value] = static_cast<std::uint32_t>(at);
    }
  }
  std::uint32_t after(std::size_t term_index) const { return next_[term_index]; }
  std::uint32_t first(Value v) const { return first_[v]; }

 private:
  std::vector<std::uint32_t> next_;   // by term: the next instruction that reads the value
  std::vector<std::uint32_t> first_;  // by value
};

class Planner {
 public:
  Planner(const Program& program, const RegisterSet& registers)
      : program_(program),
        registers_(registers),
        uses_(program),
        next_use_(program.values()),
        in_register_(program.values(), nowhere),
        slot_of_(program.values(), never) {
    CALPE_ASSERT(registers.count >= 4 && registers.count <= registers_max);
    holds_.fill(no_value);
    for (Value v = 0; v < program.values(); ++v)
      next_use_[v] = uses_.first(v);
    plan_.steps.reserve(program.terms().size() + program.outputs());
  }

  RegisterPlan plan() {
    for (const Instruction& instruction : program_.instructions())
      add_instruction(instruction);
    plan_.slots = slots_;
    return std::move(plan_);
  }

 private:
  // Collects each operand once; a value named twice cancels out.
  void gather_operands(const Instruction& instruction) {
    operands_.clear();
    const auto terms = program_.terms(instruction);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Value v = terms[i].value;
      next_use_[v] = uses_.after(instruction.first_term + i);
      const auto twin = std::ranges::find(operands_, v);
      if (twin == operands_.end()) {
        operands_.push_back(v);
      } else {
        operands_.erase(twin);
        cancelled_.push_back(v);
      }
    }
  }

  void add_instruction(const Instruction& instruction) {
    ++now_;
    gather_operands(instruction);
    pinned_ = 0;
    for (const Value v : operands_) {
      if (in_register_[v] != nowhere) pin(in_register_[v]);
    }
    const Register result = sum();
    for (const Value v : operands_)
      forget_if_dead(v);
    for (const Value v : cancelled_)
      forget_if_dead(v);
    cancelled_.clear();

    const Value target = instruction.target;
    if (program_.is_output(target)) {
      step({.kind = Step::Kind::store, .target = result, .place = output_place(target)});
    }
    if (next_use_[target] != never) {
      holds_[result] = target;
      in_register_[target] = result;
    }
  }

  // Computes the sum of the operands and returns its register.
  Register sum() {
    if (operands_.empty()) {
      const Register r = take_register();
      step({.kind = Step::Kind::zero, .target = r});
      return r;
    }
    load_what_is_read_again();
    // Operands in memory first, then those in registers, each kind in its order.
    kept_.clear();
    in_memory_ = 0;
    for (const Value v : operands_) {
      if (in_register_[v] == nowhere) {
        operands_[in_memory_++] = v;
      } else {
        kept_.push_back(v);
      }
    }
    std::ranges::copy(kept_, operands_.begin() + static_cast<std::ptrdiff_t>(in_memory_));
    next_memory_ = 0;
    next_register_ = in_memory_;
    const Register result = start();
    while (remaining() > 0)
      add_to(result);
    return result;
  }

  // Loads operands that are read again soon, if a register is free or holds a less urgent value.
  void load_what_is_read_again() {
    for (const Value v : operands_) {
      if (in_register_[v] != nowhere || next_use_[v] == never) continue;
      const Register r = free_register();
      if (r == nowhere) {
        const Register victim = least_urgent();
        if (victim == nowhere || is_dirty(holds_[victim]) ||
            next_use_[holds_[victim]] <= next_use_[v]) {
          continue;
        }
        evict(victim);
        load(v, victim);
      } else {
        if (free_count() < 3) continue;  // a result needs one, and maybe its start
        load(v, r);
      }
    }
  }

  std::size_t remaining() const {
    return (in_memory_ - next_memory_) + (operands_.size() - next_register_);
  }
  bool has_memory() const { return next_memory_ < in_memory_; }
  bool has_register() const { return next_register_ < operands_.size(); }
  Place next_place() { return place_of(operands_[next_memory_++]); }
  // The register is free once it is named.
  Register next_register() {
    const Register r = in_register_[operands_[next_register_++]];
    unpin(r);
    return r;
  }

  // Returns the register that becomes the sum, holding one or two terms already. With three-input
  // XORs an odd sum starts with one term and adds two at a time; an even one starts with two.
  Register start() {
    for (std::size_t i = in_memory_; i < operands_.size(); ++i) {
      if (next_use_[operands_[i]] != never) continue;
      std::swap(operands_[i], operands_[next_register_]);  // overwrite a value that dies here
      break;
    }
    const bool is_odd = operands_.size() % 2 == 1;
    const bool wants_one = operands_.size() == 1 || (registers_.three_input_xor && is_odd);
    return wants_one ? start_with_one() : start_with_two();
  }

  bool leader_dies() const {
    return has_register() && next_use_[operands_[next_register_]] == never;
  }
  Register take_over_leader() {
    const Value leader = operands_[next_register_];
    const Register r = next_register();
    release(leader);
    pin(r);
    return r;
  }

  Register start_with_one() {
    if (leader_dies()) return take_over_leader();
    const Register r = take_register();
    if (has_memory()) {
      step({.kind = Step::Kind::load, .target = r, .place = next_place()});
    } else {
      step({.kind = Step::Kind::copy, .target = r, .first = next_register()});
    }
    return r;
  }

  Register start_with_two() {
    const bool is_ours = leader_dies();
    const Register r = is_ours ? take_over_leader() : take_register();
    // Check only now: taking a register may have spilled an operand.
    if (!is_ours && !has_register()) {
      step({.kind = Step::Kind::load, .target = r, .place = next_place()});
    }
    const bool holds_one = is_ours || next_memory_ > 0;
    const Register first = holds_one ? r : next_register();
    if (has_memory()) {
      step({.kind = Step::Kind::add_place, .target = r, .first = first, .place = next_place()});
    } else {
      step({.kind = Step::Kind::add, .target = r, .first = first, .second = next_register()});
    }
    return r;
  }

  void add_to(Register sum) {
    if (registers_.three_input_xor && remaining() >= 2) {
      if (has_register()) {
        const Register first = next_register();
        if (has_memory()) {
          step({.kind = Step::Kind::add_one_each,
                .target = sum,
                .first = first,
                .place = next_place()});
        } else {
          step({.kind = Step::Kind::add_two,
                .target = sum,
                .first = first,
                .second = next_register()});
        }
        return;
      }
      // Two are in memory: load one through a register.
      const Register helper = take_register();
      step({.kind = Step::Kind::load, .target = helper, .place = next_place()});
      step({.kind = Step::Kind::add_one_each,
            .target = sum,
            .first = helper,
            .place = next_place()});
      unpin(helper);
      return;
    }
    if (has_memory()) {
      step({.kind = Step::Kind::add_place, .target = sum, .first = sum, .place = next_place()});
    } else {
      step({.kind = Step::Kind::add, .target = sum, .first = sum, .second = next_register()});
    }
  }

  // --- registers ---

  void pin(Register r) { pinned_ |= std::uint32_t{1} << r; }
  void unpin(Register r) { pinned_ &= ~(std::uint32_t{1} << r); }
  bool is_pinned(Register r) const { return (pinned_ >> r & 1) != 0; }
  bool is_free(Register r) const { return holds_[r] == no_value && !is_pinned(r); }

  Register free_register() const {
    for (Register r = 0; r < registers_.count; ++r) {
      if (is_free(r)) return r;
    }
    return nowhere;
  }
  std::size_t free_count() const {
    std::size_t count = 0;
    for (Register r = 0; r < registers_.count; ++r)
      count += is_free(r) ? 1 : 0;
    return count;
  }

  // Spilling a sum costs a store; an input or a value spilled before costs nothing.
  bool is_dirty(Value v) const { return !program_.is_input(v) && slot_of_[v] == never; }

  // Returns the unpinned register that is read again last. A value that must be stored first needs
  // to be read twice as late.
  Register least_urgent() const {
    Register best = nowhere;
    std::uint64_t latest = 0;
    const std::uint64_t now = now_;
    for (Register r = 0; r < registers_.count; ++r) {
      if (holds_[r] == no_value || is_pinned(r)) continue;
      const std::uint64_t distance = next_use_[holds_[r]] - now + 1;
      const std::uint64_t weight = is_dirty(holds_[r]) ? distance : 2 * distance;
      if (weight > latest) {
        latest = weight;
        best = r;
      }
    }
    return best;
  }

  // Takes a register for a new sum, pinned until the instruction ends.
  Register take_register() {
    Register r = free_register();
    if (r == nowhere) {
      r = least_urgent();
      if (r == nowhere) r = unpin_an_operand();
      evict(r);
    }
    pin(r);
    return r;
  }

  // A wide sum may name every register: one of its operands is then read from memory.
  Register unpin_an_operand() {
    for (std::size_t i = operands_.size(); i-- > next_register_;) {
      const Value v = operands_[i];
      const Register r = in_register_[v];
      unpin(r);
      evict(r);
      std::rotate(operands_.begin() + static_cast<std::ptrdiff_t>(in_memory_),
                  operands_.begin() + static_cast<std::ptrdiff_t>(i),
                  operands_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      ++in_memory_;
      ++next_register_;
      return r;
    }
    CALPE_ASSERT(false);
    return nowhere;
  }

  void evict(Register r) {
    const Value v = holds_[r];
    if (v == no_value) return;
    if (is_dirty(v)) {
      slot_of_[v] = take_slot();
      step({.kind = Step::Kind::store, .target = r, .place = place_of(v)});
    }
    release(v);
  }
  void release(Value v) {
    holds_[in_register_[v]] = no_value;
    in_register_[v] = nowhere;
  }
  void load(Value v, Register r) {
    step({.kind = Step::Kind::load, .target = r, .place = place_of(v)});
    holds_[r] = v;
    in_register_[v] = r;
    pin(r);
  }
  void forget_if_dead(Value v) {
    if (next_use_[v] != never) return;
    if (in_register_[v] != nowhere) release(v);
    if (slot_of_[v] != never) {
      free_slots_.push_back(slot_of_[v]);
      slot_of_[v] = never;
    }
  }
  std::uint32_t take_slot() {
    if (free_slots_.empty()) return slots_++;
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  Place shard_place(Place::Space space, Value index) const {
    return {.space = space,
            .unit = static_cast<std::uint16_t>(index % program_.unit_count()),
            .shard = index / program_.unit_count()};
  }
  Place output_place(Value v) const {
    return shard_place(Place::Space::output, v - program_.inputs());
  }
  Place place_of(Value v) const {
    if (program_.is_input(v)) return shard_place(Place::Space::input, v);
    CALPE_ASSERT(slot_of_[v] != never);
    return {.space = Place::Space::scratch, .unit = 0, .shard = slot_of_[v]};
  }
  void step(const Step& s) { plan_.steps.push_back(s); }

  const Program& program_;
  const RegisterSet registers_;
  Uses uses_;
  std::vector<std::uint32_t> next_use_;  // by value: the next instruction that reads it
  std::vector<Register> in_register_;    // by value
  std::vector<std::uint32_t> slot_of_;   // by value
  std::vector<std::uint32_t> free_slots_;
  std::array<Value, registers_max> holds_ = {};
  std::uint32_t pinned_ = 0;  // by register: needed until this instruction ends
  std::uint32_t now_ = 0;
  std::uint32_t slots_ = 0;

  std::vector<Value> operands_;  // of this instruction: memory first, then registers
  std::vector<Value> cancelled_;
  std::vector<Value> kept_;
  std::size_t in_memory_ = 0;
  std::size_t next_memory_ = 0;
  std::size_t next_register_ = 0;

  RegisterPlan plan_;
};

}  // namespace

RegisterPlan plan_registers(const Program& program, const RegisterSet& registers) {
  return Planner(program, registers).plan();
}

}  // namespace calpe::ir
