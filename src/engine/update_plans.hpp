// SPDX-License-Identifier: Apache-2.0
// Plans for update() of all parity: at most two per data shard, kept in the codec. Small writes are
// frequent and short, and a lookup in a cache shared by all threads would cost more than the write
// itself.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/process_fork.hpp"

namespace calpe::engine {

template <class PlanImpl>
class UpdatePlans {
 public:
  explicit UpdatePlans(std::size_t data_shards) : slots_(2 * data_shards) {
    owned_.reserve(slots_.size());
  }

  // Returns nullptr if there is no plan yet. `addends` is 1 or 2.
  const PlanImpl* find(std::size_t data_index, std::size_t addends) const noexcept {
    return slots_[2 * data_index + addends - 1].load(std::memory_order_acquire);
  }

  // Keeps the existing plan if another thread stored one first.
  const PlanImpl* keep(std::size_t data_index, std::size_t addends,
                       std::shared_ptr<const PlanImpl> plan) {
    const std::lock_guard lock(mutex_);
    if (const PlanImpl* const earlier = find(data_index, addends)) return earlier;
    const PlanImpl* const kept = plan.get();
    owned_.push_back(std::move(plan));
    slots_[2 * data_index + addends - 1].store(kept, std::memory_order_release);
    return kept;
  }

 private:
  std::vector<std::atomic<const PlanImpl*>> slots_;
  ForkMutex mutex_;
  std::vector<std::shared_ptr<const PlanImpl>> owned_;
};

}  // namespace calpe::engine
