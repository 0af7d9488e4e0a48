// SPDX-License-Identifier: Apache-2.0
// Multiplies a matrix over GF(2^8), polynomial 0x11D, by shards in one call. Builds the kernel
// tables on the stack, so nothing is prepared, kept or allocated.
#pragma once
#include <cstddef>

#include <calpe/result.hpp>
#include <calpe/stores.hpp>

#include "backend/cpu/coefficient_tables.hpp"
#include "backend/cpu/coefficient_view.hpp"
#include "backend/cpu/cpu_kernels.hpp"

namespace calpe::backend::cpu {

struct DirectJob {
  const std::byte* const* inputs = nullptr;
  std::byte* const* outputs = nullptr;  // must not overlap
  std::size_t bytes = 0;
  bool accumulate = false;
  Stores stores = Stores::automatic;
};

class DirectProduct {
 public:
  explicit DirectProduct(const CpuKernels& kernels);

  // Uses the path of the "cpu" backend at the time of the first call. Lives until the process ends,
  // because a thread may still use it when static objects are destroyed. Fails with
  // backend_unavailable; may throw bad_alloc.
  static const Result<const DirectProduct*>& of_this_cpu();

  // Does not allocate. Thread-safe.
  void run(const CoefficientView& rows, const DirectJob& job) const;

 private:
  void run_short(const CoefficientView& rows, const DirectJob& job) const;
  void run_tiles(const CoefficientView& rows, const DirectJob& job) const;

  const CpuKernels& kernels_;
  CoefficientTables tables_;
};

}  // namespace calpe::backend::cpu
