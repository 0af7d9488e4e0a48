// SPDX-License-Identifier: Apache-2.0
// Compares some of what a device wrote with what the CPU computes from the same inputs.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.hpp"
#include "engine/devices/batch_bytes.hpp"

namespace calpe::engine {

// Part of a stripe's columns, at most `bytes` of every shard or one column.
backend::Geometry first_slice(const backend::Geometry& whole, std::size_t units, std::size_t bytes);
backend::Geometry last_slice(const backend::Geometry& whole, std::size_t units, std::size_t bytes);
// Anywhere; `number` decides, and any few numbers are spread over the stripe.
backend::Geometry some_slice(const backend::Geometry& whole, std::size_t units, std::size_t bytes,
                             std::uint64_t number);

// One slice of one stripe. Made before the device works: what is added to has to be kept.
class StripeCheck {
 public:
  // memory: the device's own, or nullptr.
  static Result<StripeCheck> prepare(const KernelShape& shape, const backend::Batch& batch,
                                     std::size_t stripe, const backend::Geometry& slice,
                                     backend::DeviceMemory* memory);

  // After the device's work. Fails with device_failed when a byte differs, and says which.
  Status compare(backend::Device& trusted, const backend::Kernel& kernel) const;

 private:
  StripeCheck(const KernelShape& shape, const backend::Batch& stripe, std::size_t number,
              backend::DeviceMemory* memory)
      : shape_(shape), stripe_(stripe), number_(number), memory_(memory) {}

  bool is_on_device(const std::byte* shard) const {
    return memory_ != nullptr && memory_->holds(shard);
  }
  // Copies the slice of a shard to `to`, with its gaps, from wherever it is.
  Status fetch(std::byte* to, const std::byte* shard) const;

  KernelShape shape_;
  backend::Batch stripe_;  // one, with the slice as its geometry
  std::size_t number_;
  backend::DeviceMemory* memory_;
  std::vector<std::byte> before_;  // accumulate: what the outputs held, extent after extent
};

}  // namespace calpe::engine
