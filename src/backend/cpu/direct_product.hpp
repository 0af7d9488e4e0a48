// SPDX-License-Identifier: Apache-2.0
// A matrix of GF(2^8) with polynomial 0x11D times shards in one call: the tables that kernels want
// are made on the stack, so that nothing is prepared, kept or allocated.
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
  std::byte* const* outputs = nullptr;  // overlap nothing
  std::size_t bytes = 0;
  bool accumulate = false;
  Stores stores = Stores::automatic;
};

class DirectProduct {
 public:
  explicit DirectProduct(const CpuKernels& kernels);

  // On the path that the "cpu" backend would take when this is first called. Lives until the
  // process ends, as a thread may still be in it when static objects are destroyed. Fails with
  // backend_unavailable; may throw bad_alloc.
  static const Result<const DirectProduct*>& of_this_cpu();

  // Allocates nothing; may be called by many threads.
  void run(const CoefficientView& rows, const DirectJob& job) const;

 private:
  void run_short(const CoefficientView& rows, const DirectJob& job) const;
  void run_tiles(const CoefficientView& rows, const DirectJob& job) const;

  const CpuKernels& kernels_;
  CoefficientTables tables_;
};

}  // namespace calpe::backend::cpu
