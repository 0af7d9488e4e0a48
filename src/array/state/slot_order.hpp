// SPDX-License-Identifier: Apache-2.0
// Stripes in the order of their slots, so that members are read and written in sequence. Stripes
// that were rewritten are anywhere.
//
// A window of slots is looked up at a time. A stripe that moves afterwards is not found at its new
// slot, where all of it was just written.
//
// Locks: none; for one thread. Stripes change meanwhile, so the caller locks a stripe that it was
// given, and checks that it still has the slot.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "array/state/stripes.hpp"

namespace calpe::array {

class SlotOrder {
 public:
  SlotOrder(const MemberLayout& layout, const Stripes& stripes)
      : layout_(layout), stripes_(stripes) {}

  // Forgets the window, which may be older than what the caller relies on.
  void reset() noexcept {
    first_ = 0;
    in_slot_.clear();
  }
  // Moves `slot` to the first slot from there on, and below `end`, that has a stripe, and sets
  // `stripe`. Returns false, with `slot` at `end`, if there is none.
  bool find(std::uint64_t& slot, std::uint64_t end, std::uint64_t& stripe) {
    for (; slot < end; ++slot) {
      if (slot < first_ || slot - first_ >= in_slot_.size()) look_up(slot);
      if (in_slot_[slot - first_] == no_stripe) continue;
      stripe = in_slot_[slot - first_];
      return true;
    }
    return false;
  }

 private:
  static constexpr std::uint32_t no_stripe = 0xFFFFFFFF;
  static constexpr std::uint64_t slots_most = 1U << 22U;  // 16 MiB of memory

  void look_up(std::uint64_t slot) {
    first_ = slot;
    in_slot_.assign(std::min(slots_most, layout_.slots - slot), no_stripe);
    for (std::uint64_t stripe = 0; stripe < layout_.stripes; ++stripe) {
      const std::uint64_t at = stripes_.slot_hint(stripe);
      if (at < first_ || at - first_ >= in_slot_.size()) continue;
      in_slot_[at - first_] = static_cast<std::uint32_t>(stripe);
    }
  }

  const MemberLayout& layout_;
  const Stripes& stripes_;
  std::uint64_t first_ = 0;
  std::vector<std::uint32_t> in_slot_;  // stripe, by slot from first_ on
};

}  // namespace calpe::array
