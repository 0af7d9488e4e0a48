// SPDX-License-Identifier: Apache-2.0
// Saves the outputs of a batch, to restore them when a device fails while adding to them.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>

#include "base/uninitialised.hpp"
#include "engine/devices/batch_bytes.hpp"

namespace calpe::engine {

class SavedOutputs {
 public:
  void save(const backend::Batch& batch, const KernelShape& shape) {
    bytes_ = uninitialised_bytes(output_bytes(batch, shape));
    std::byte* to = bytes_.get();
    walk(batch, shape, [&](std::byte* run, std::size_t bytes) {
      std::memcpy(to, run, bytes);
      to += bytes;
    });
  }

  // Does nothing if nothing was saved.
  void restore(const backend::Batch& batch, const KernelShape& shape) const {
    if (bytes_ == nullptr) return;
    const std::byte* from = bytes_.get();
    walk(batch, shape, [&](std::byte* run, std::size_t bytes) {
      std::memcpy(run, from, bytes);
      from += bytes;
    });
  }

 private:
  template <class Visit>
  static void walk(const backend::Batch& batch, const KernelShape& shape, const Visit& visit) {
    for (std::size_t i = 0; i < batch.stripe_count * shape.shards.outputs; ++i) {
      for_each_run(batch.geometry, shape.units, [&](std::size_t offset, std::size_t bytes) {
        visit(batch.outputs[i] + offset, bytes);
      });
    }
  }

  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace calpe::engine
