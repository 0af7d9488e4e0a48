// SPDX-License-Identifier: Apache-2.0
// Runs a matrix over GF(2^16): rows in passes, inputs in turns that stay in L2.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "backend/cpu/wide_columns.hpp"
#include "backend/cpu/wide_tables.hpp"
#include "gf/matrix.hpp"

namespace calpe::backend::cpu {

// Immutable. run() does not allocate, needs 40 KiB of stack and is thread-safe.
class WideMatrixRunner {
 public:
  // Fails with compile_failed for another field than gf::Field::tower().
  static Result<WideMatrixRunner> create(const gf::Field& field, const gf::Matrix& rows,
                                         const CpuKernels& kernels, WideTableCache& cache);

  void run(const Batch& batch) const;

 private:
  struct Stripe {
    const std::byte* const* inputs = nullptr;
    std::byte* const* outputs = nullptr;
    bool accumulate = false;
  };
  struct Run {  // of whole cells at equal distances
    WideColumn first;
    std::size_t step = 0;
    std::size_t count = 0;
  };

  WideMatrixRunner() = default;
  std::size_t turn_inputs(std::size_t cells) const noexcept;
  void run_whole(const Stripe& stripe, const Run& cells) const;
  void run_short(const Stripe& stripe, const WideColumn& column) const;
  template <class Use>
  void for_each_pass(Use use) const;

  const CpuKernels* kernels_ = nullptr;
  std::shared_ptr<const WideProducts> products_;
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  std::vector<std::uint16_t> coefficients_;  // pass by pass, then input by input
};

}  // namespace calpe::backend::cpu
