// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/slots.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace calpe::backend::gpu {

Slot::~Slot() {
  alive_.fetch_sub(1, std::memory_order_relaxed);
  queue_.reset();  // nothing that it holds is in use now
  if (host_table_ != nullptr) {
    driver_.release_host(reinterpret_cast<std::byte*>(host_table_));
    driver_.release(device_table_);
  }
  if (host_ != nullptr) {
    driver_.release_host(host_);
    driver_.release(device_);
  }
}

Result<std::uint64_t*> Slot::make_table(std::size_t entries) {
  table_entries_ = entries;
  if (driver_.info().shares_memory) {
    shared_table_.resize(entries);
    return shared_table_.data();
  }
  if (entries > table_room_) {
    // Doubles the size, so that growing batches do not allocate every time.
    const std::size_t most = driver_.info().allocation_max / sizeof(std::uint64_t);
    const std::size_t room =
        std::max(entries, std::min(std::max<std::size_t>(2 * entries, 512), most));
    CALPE_TRY(std::byte* const host, driver_.allocate_host(room * sizeof(std::uint64_t)));
    Result<Place> device = driver_.allocate(room * sizeof(std::uint64_t));
    if (!device) {
      driver_.release_host(host);
      return std::move(device).error();
    }
    if (host_table_ != nullptr) {
      driver_.release_host(reinterpret_cast<std::byte*>(host_table_));
      driver_.release(device_table_);
    }
    host_table_ = reinterpret_cast<std::uint64_t*>(host);
    device_table_ = *device;
    table_room_ = room;
  }
  return host_table_;
}

Result<Place> Slot::upload_table() {
  if (driver_.info().shares_memory) {
    return Place{.buffer = nullptr, .at = reinterpret_cast<std::uint64_t>(shared_table_.data())};
  }
  CALPE_CHECK(queue_->copy_in(device_table_, reinterpret_cast<const std::byte*>(host_table_),
                              table_entries_ * sizeof(std::uint64_t)));
  return device_table_;
}

Status Slot::make_room(std::size_t bytes) {
  if (bytes <= room_) return Done{};
  CALPE_TRY(std::byte* const host, driver_.allocate_host(bytes));
  Result<Place> device = driver_.allocate(bytes);
  if (!device) {
    driver_.release_host(host);
    return std::move(device).error();
  }
  if (host_ != nullptr) {
    driver_.release_host(host_);
    driver_.release(device_);
  }
  host_ = host;
  device_ = *device;
  room_ = bytes;
  return Done{};
}

std::unique_ptr<Slot> Slots::take_free() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return nullptr;
  std::unique_ptr<Slot> slot = std::move(free_.back());
  free_.pop_back();
  return slot;
}

Result<std::unique_ptr<Slot>> Slots::take() {
  if (std::unique_ptr<Slot> slot = take_free()) return slot;
  CALPE_TRY(std::unique_ptr<Queue> queue, driver_.open_queue({.profiling = profiling_}));
  return std::make_unique<Slot>(driver_, std::move(queue), alive_);
}

bool Slots::is_any_taken() const {
  const std::lock_guard lock(mutex_);
  return alive_.load(std::memory_order_relaxed) > free_.size();
}

void Slots::give_back(std::unique_ptr<Slot> slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(slot));
}

}  // namespace calpe::backend::gpu
