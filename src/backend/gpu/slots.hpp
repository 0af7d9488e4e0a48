// SPDX-License-Identifier: Apache-2.0
// What a piece of work under way needs of the device: a queue, the table of its shards' places, and
// room for copies. Kept and used again; there are as many as pieces of work were ever under way at
// once, so that nobody waits for somebody who waits for him.
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
  // `alive` is the number of slots that there are.
  Slot(Driver& driver, std::unique_ptr<Queue> queue, std::atomic<std::size_t>& alive)
      : driver_(driver), queue_(std::move(queue)), alive_(alive) {
    alive_.fetch_add(1, std::memory_order_relaxed);
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot();

  Queue& queue() noexcept { return *queue_; }

  // A table of so many shards on the host; upload_table() puts it where kernels find it.
  Result<std::uint64_t*> make_table(std::size_t entries);
  Result<Place> upload_table();

  // Room for copies, the same on both sides.
  Status make_room(std::size_t bytes);
  std::byte* host() noexcept { return host_; }
  const Place& device() const noexcept { return device_; }
  std::size_t room() const noexcept { return room_; }

 private:
  Driver& driver_;
  std::unique_ptr<Queue> queue_;
  std::atomic<std::size_t>& alive_;
  std::vector<std::uint64_t> shared_table_;  // the host's own memory, where the device reads that
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

  // A free slot, or a new one.
  Result<std::unique_ptr<Slot>> take();
  // A free slot, or none.
  std::unique_ptr<Slot> take_free();
  void give_back(std::unique_ptr<Slot> slot);
  // Some of our own work is on the device.
  bool is_any_taken() const;

 private:
  Driver& driver_;
  bool profiling_;
  std::atomic<std::size_t> alive_ = 0;  // free or taken; before them, as they count themselves out
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> free_;
};

}  // namespace calpe::backend::gpu
