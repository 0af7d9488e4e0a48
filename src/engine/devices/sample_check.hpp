// SPDX-License-Identifier: Apache-2.0
// Compares a part of a device's output with the CPU's result for the same inputs, or its tags with
// those that follow from the tags of the inputs (docs/tags.md).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cpu/tagger.hpp"
#include "engine/devices/batch_bytes.hpp"

namespace calpe::engine {

// Returns a part of a stripe's columns: at most `bytes` bytes per shard, or one column.
backend::Geometry first_slice(const backend::Geometry& whole, std::size_t units, std::size_t bytes);
backend::Geometry last_slice(const backend::Geometry& whole, std::size_t units, std::size_t bytes);
// The same at a position that depends on `number`. Consecutive numbers are spread over the stripe.
backend::Geometry some_slice(const backend::Geometry& whole, std::size_t units, std::size_t bytes,
                             std::uint64_t number);

// Checks one slice of one stripe. Create it before the device runs, as accumulated outputs must be
// saved.
class SampleCheck {
 public:
  // memory: the device's memory, or nullptr.
  static Result<SampleCheck> prepare(const KernelShape& shape, const backend::Batch& batch,
                                     std::size_t stripe, const backend::Geometry& slice,
                                     backend::DeviceMemory* memory);

  // Call after the device is done. Fails with device_failed if a byte differs, and names it. With a
  // tagger (or nullptr), the CPU may compare tags, and repeats the work if these differ.
  Status compare(backend::Device& trusted, const backend::Kernel& kernel,
                 const backend::cpu::Tagger* tagger) const;

 private:
  SampleCheck(const KernelShape& shape, const backend::Batch& stripe, std::size_t number,
              backend::DeviceMemory* memory)
      : shape_(shape), stripe_(stripe), number_(number), memory_(memory) {}

  bool is_on_device(const std::byte* shard) const {
    return memory_ != nullptr && memory_->holds(shard);
  }
  // Equal bytes have equal tags. `in` has the inputs from the slice on, `found` room for one
  // output.
  Result<bool> has_right_tags(backend::Device& trusted, const backend::Kernel& kernel,
                              const backend::cpu::Tagger& tagger,
                              std::span<const std::byte* const> in, std::byte* found) const;
  // Copies the slice of a shard to `to`, including gaps, from host or device memory.
  Status fetch(std::byte* to, const std::byte* shard) const;

  KernelShape shape_;
  backend::Batch stripe_;  // one stripe, with the slice as its geometry
  std::size_t number_;
  backend::DeviceMemory* memory_;
  std::vector<std::byte> before_;  // with accumulate: previous outputs, extent after extent
};

}  // namespace calpe::engine
