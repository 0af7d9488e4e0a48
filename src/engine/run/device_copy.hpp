// SPDX-License-Identifier: Apache-2.0
// Copies for staging shards, wherever they are: the host's memory, or some that only a device
// reaches.
#pragma once
#include <cstddef>
#include <cstring>
#include <utility>

#include "backend/backend.hpp"

namespace calpe::engine {

// The device's memory that the host cannot reach; nullptr: none.
inline backend::DeviceMemory* far_memory(backend::Device& device) {
  backend::DeviceMemory* const memory = device.memory();
  return memory == nullptr || memory->is_shared() ? nullptr : memory;
}

class FarCopy {
 public:
  explicit FarCopy(backend::Device& device) : memory_(far_memory(device)) {}

  void operator()(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (memory_ == nullptr) {
      std::memcpy(to, from, bytes);
    } else if (bytes > 0 && result_) {
      copy_far(to, from, bytes);
    }
  }

  // The first failure. Call once, before what was copied is used.
  Status result() { return std::exchange(result_, Done{}); }

 private:
  void copy_far(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (memory_->holds(to) || memory_->holds(from)) {
      result_ = memory_->copy(to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }

  backend::DeviceMemory* memory_;
  Status result_ = Done{};
};

}  // namespace calpe::engine
