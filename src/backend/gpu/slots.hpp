// SPDX-License-Identifier: Apache-2.0
// Device resources of one job: a queue, the table of shard locations, and copy buffers. Slots are
// reused. There are as many as jobs were ever in flight at once, so that jobs cannot deadlock
// waiting for each other's slots.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <calpe/result.hpp>

#include "backend/gpu/driver.hpp"

namespace calpe::backend::gpu {

class Slot {
 public:
  // `alive` is the number of existing slots.
  Slot(Driver& driver, std::unique_ptr<Queue> queue, std::atomic<std::size_t>& alive)
      : driver_(driver), queue_(std::move(queue)), alive_(alive) {
    alive_.fetch_add(1, std::memory_order_relaxed);
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot();

  Queue& queue() noexcept { return *queue_; }

  // Host table of this many shards; upload_table() makes it visible to kernels.
  Result<std::uint64_t*> make_table(std::size_t entries);
  Result<Place> upload_table();

  // Copy buffers, equally large on both sides.
  Status make_room(std::size_t bytes);
  std::byte* host() noexcept { return host_; }
  const Place& device() const noexcept { return device_; }
  std::size_t room() const noexcept { return room_; }

 private:
  Driver& driver_;
  std::unique_ptr<Queue> queue_;
  std::atomic<std::size_t>& alive_;
  std::vector<std::uint64_t> shared_table_;  // in host memory, if the device can read that
  std::uint64_t* host_table_ = nullptr;
  Place device_table_ = {};
  std::size_t table_room_ = 0;
  std::size_t table_entries_ = 0;
  std::byte* host_ = nullptr;
  Place device_ = {};
  std::size_t room_ = 0;
};

class Slots {
 public:
  Slots(Driver& driver, bool profiling) : driver_(driver), profiling_(profiling) {}

  // Returns a free slot or creates one.
  Result<std::unique_ptr<Slot>> take();
  // Returns a free slot, or null.
  std::unique_ptr<Slot> take_free();
  void give_back(std::unique_ptr<Slot> slot);
  // True if our own work is on the device.
  bool is_any_taken() const;

 private:
  Driver& driver_;
  bool profiling_;
  std::atomic<std::size_t> alive_ = 0;  // free or taken; before the slots, which decrement it
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> free_;
};

}  // namespace calpe::backend::gpu
