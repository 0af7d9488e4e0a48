// SPDX-License-Identifier: Apache-2.0
// Stripes as they are now: a lock for each, the slot that it is in, and the slots that are free.
// The index has the slots that are durable; these are ahead of it by what is not committed.
//
// Locks: a stripe's lock guards its slot and its blocks. It is taken after the write gate and
// before the log's commit lock. A thread that needs several takes those of neighbouring stripes,
// fewer than stripe_locks, in ascending order. The free slots have a lock of their own, which is
// taken last.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "array/format/free_slots.hpp"
#include "array/format/index.hpp"
#include "array/format/layout.hpp"

namespace calpe::array {

inline constexpr std::size_t stripe_locks = 1024;  // stripes that are so far apart share one

struct StripeAt {
  std::uint64_t stripe = 0;
  std::uint32_t slot = no_slot;  // no_slot: it is a hole
};

class Stripes {
 public:
  explicit Stripes(const MemberLayout& layout)
      : slots_(layout.stripes, no_slot), free_slots_(layout.slots) {}

  std::shared_mutex& lock_of(std::uint64_t stripe) noexcept {
    return locks_[stripe % locks_.size()];
  }
  // With the stripe's lock; moving it needs the lock exclusively.
  StripeAt at(std::uint64_t stripe) const noexcept { return {stripe, slots_[stripe]}; }
  void move(std::uint64_t stripe, std::uint32_t slot) noexcept { slots_[stripe] = slot; }

  FreeSlots& free_slots() noexcept { return free_slots_; }

  // Takes all slots from the index, once, before other threads use the array.
  void take_from(const Index& index) {
    for (std::uint64_t stripe = 0; stripe < slots_.size(); ++stripe) {
      slots_[stripe] = index.slot_of(stripe);
      if (slots_[stripe] != no_slot) free_slots_.set_taken(slots_[stripe]);
    }
  }

 private:
  std::array<std::shared_mutex, stripe_locks> locks_;
  std::vector<std::uint32_t> slots_;  // by stripe
  FreeSlots free_slots_;
};

}  // namespace calpe::array
