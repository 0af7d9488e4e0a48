// SPDX-License-Identifier: Apache-2.0
// Kernels that read their matrix from a buffer. Built once per device, they serve every plan until
// something better is compiled, and the ends of shards that are not a whole word.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <calpe/result.hpp>

#include "backend/gpu/driver.hpp"
#include "emit/device_kernel.hpp"

namespace calpe::backend::gpu {

struct Core;

class TableKernels {
 public:
  struct Pair {
    std::shared_ptr<const Module> words;  // of Kind::word_bytes
    std::shared_ptr<const Module> bytes;  // any alignment, any length
  };
  struct Kind {
    emit::TableStyle style = {};
    unsigned reduction = 0x1D;
    std::size_t word_bytes = 4;
    bool operator==(const Kind&) const = default;
  };
  // Builds and checks missing kernels.
  Result<Pair> get(Core& core, const Kind& kind);

 private:
  struct Entry {
    Kind kind = {};
    Pair pair = {};
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace calpe::backend::gpu
