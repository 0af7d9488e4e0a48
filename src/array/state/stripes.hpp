// SPDX-License-Identifier: Apache-2.0
// The current state of stripes: a lock and a slot for each, and the free slots. The index has the
// durable slots; these include changes that are not committed.
//
// Locks: the lock of a stripe guards its slot and its blocks. It is taken after the write gate and
// before the commit lock of the log. A thread that needs several takes those of neighbouring
// stripes, fewer than stripe_locks, in ascending order. The free slots have their own lock, which
// is taken last.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "array/format/free_slots.hpp"
#include "array/format/index.hpp"
#include "array/format/layout.hpp"

namespace calpe::array {

inline constexpr std::size_t stripe_locks = 1024;  // stripes at this distance share a lock

struct StripeAt {
  std::uint64_t stripe = 0;
  std::uint32_t slot = no_slot;  // no_slot = hole
};

class Stripes {
 public:
  explicit Stripes(const MemberLayout& layout) : slots_(layout.stripes), free_slots_(layout.slots) {
    for (std::atomic<std::uint32_t>& slot : slots_)
      slot.store(no_slot, std::memory_order_relaxed);
  }

  std::shared_mutex& lock_of(std::uint64_t stripe) noexcept {
    return locks_[stripe % locks_.size()];
  }
  // Needs the lock of the stripe.
  StripeAt at(std::uint64_t stripe) const noexcept { return {stripe, slot_hint(stripe)}; }
  // The slot, which may change meanwhile. Needs no lock.
  std::uint32_t slot_hint(std::uint64_t stripe) const noexcept {
    return slots_[stripe].load(std::memory_order_relaxed);
  }
  // Every change of a stripe, of its slot or only of its contents. Needs its exclusive lock.
  void change(std::uint64_t stripe, std::uint32_t slot) noexcept {
    slots_[stripe].store(slot, std::memory_order_relaxed);
    ++changes_[stripe % stripe_locks];
  }
  // A number that differs after a change. Needs the lock of the stripe.
  std::uint64_t changes(std::uint64_t stripe) const noexcept {
    return changes_[stripe % stripe_locks];
  }

  FreeSlots& free_slots() noexcept { return free_slots_; }

  // Loads all slots from the index, once, before other threads use the array.
  void take_from(const Index& index) {
    for (std::uint64_t stripe = 0; stripe < slots_.size(); ++stripe) {
      const std::uint32_t slot = index.slot_of(stripe);
      slots_[stripe].store(slot, std::memory_order_relaxed);
      if (slot != no_slot) free_slots_.set_taken(slot);
    }
  }

 private:
  std::array<std::shared_mutex, stripe_locks> locks_;
  std::array<std::uint64_t, stripe_locks> changes_ = {};  // by lock
  std::vector<std::atomic<std::uint32_t>> slots_;         // by stripe
  FreeSlots free_slots_;
};

}  // namespace calpe::array
