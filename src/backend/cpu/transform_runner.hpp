// SPDX-License-Identifier: Apache-2.0
// Runs an additive FFT: columns in blocks that stay in L1; places without a shard read as zeros.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/cpu/coefficient_tables.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "backend/cpu/matrix_runner.hpp"
#include "backend/cpu/schedule_runner.hpp"
#include "ir/transform.hpp"

namespace calpe::backend::cpu {

// Immutable. run() does not allocate, needs 90 KiB of stack and is thread-safe.
class TransformRunner {
 public:
  // False for no shards, or for more than a code can have.
  static bool has_kernels(const ir::Transform& transform) noexcept;
  // Requires has_kernels().
  static Result<TransformRunner> create(const ir::Transform& transform, const CpuKernels& kernels,
                                        CoefficientTableCache& cache);

  void run(const Batch& batch) const;

 private:
  struct Columns;  // of one stripe
  struct Scratch;
  struct Values {  // where values are written
    std::byte* const* outputs = nullptr;
    std::size_t begin = 0;  // offset in every output
    std::size_t wanted = 0;
    bool streams = false;
  };

  TransformRunner() = default;
  void set_chunks(std::size_t places);
  std::size_t block_bytes(const Columns& columns) const noexcept;
  void run_columns(const Columns& columns, Scratch& scratch) const;
  void run_block(const Columns& columns, std::size_t begin, std::size_t bytes,
                 Scratch& scratch) const;
  void run_staged(const Columns& columns, std::size_t begin, std::size_t bytes,
                  Scratch& scratch) const;
  void enter(const std::byte* const* shards, Scratch& scratch) const;
  void transform(std::size_t begin, std::size_t bytes, const Values& to, Scratch& scratch) const;
  void finish(const Columns& columns, std::size_t begin, std::size_t bytes, Scratch& scratch) const;
  Status place_direct(const ir::Locator& locator, const gf::Field& field,
                      CoefficientTableCache& cache);
  void run_direct(const Columns& columns, std::size_t begin, std::size_t bytes) const;

  // Products of some inputs for some outputs, after the schedule.
  struct Direct {
    std::vector<std::uint16_t> inputs = {};
    std::vector<std::uint16_t> outputs = {};
    bool adds = false;
    std::optional<MatrixRunner> matrix = {};
  };

  const CpuKernels* kernels_ = nullptr;
  TransformKernels transforms_ = {};
  CoefficientTablesRef shared_tables_;
  std::vector<std::byte> points_;  // tables
  std::size_t size_ = 0;           // N
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  std::vector<std::int16_t> input_at_;       // by place N, N+1, ...; -1: none
  std::vector<std::uint16_t> empty_places_;  // indices into input_at_
  std::size_t chunks_ = 0;
  std::size_t tail_ = 0;
  bool is_narrow_ = false;
  bool is_direct_ = false;  // outputs are the first values in kernel order
  std::vector<std::uint16_t> values_;
  std::vector<std::int16_t> added_;  // input that is added to values_[i]; -1: none
  std::size_t value_count_ = 0;      // number of values to compute
  std::optional<MatrixRunner> finish_;
  std::vector<Direct> direct_;              // with a schedule only
  std::optional<ScheduleRunner> schedule_;  // with a locator; then most of the above is unused
  std::size_t schedule_block_bytes_ = 0;    // the longest block; a division is slow for short ones
};

}  // namespace calpe::backend::cpu
