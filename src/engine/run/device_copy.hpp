// SPDX-License-Identifier: Apache-2.0
// Copies shards for staging, from and to host memory or memory that only a device can access.
#pragma once
#include <cstddef>
#include <cstring>
#include <utility>

#include "backend/backend.hpp"

namespace calpe::engine {

// Returns the device's memory if the host cannot access it, or else nullptr.
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

  // Returns the first failure. Call once, before using the copies.
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
