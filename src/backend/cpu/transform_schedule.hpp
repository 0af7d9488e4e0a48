// SPDX-License-Identifier: Apache-2.0
// A transform with a locator as a list of passes (butterfly_pass.hpp) over blocks of columns. The
// cells of the schedule are blocks of equal length, one after the other, in L1.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/coefficient_tables.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "ir/transform.hpp"

namespace calpe::backend::cpu {

// An operand of a pass.
struct BlockRef {
  enum class Kind : std::uint8_t { zeros, dump, cell, input, output };
  Kind kind = Kind::zeros;
  std::uint16_t index = 0;
  bool operator==(const BlockRef&) const = default;
};

// Immutable after construction.
class TransformSchedule {
 public:
  struct Step {
    enum class Kind : std::uint8_t {
      pass,
      outputs,  // a pass whose targets are outputs
      copy,     // the first source to an output
      sum,      // of all sources
      add,      // the first source to the target
    };
    Kind kind = Kind::pass;
    bool has_factors = true;                 // outputs: not all are 1
    ButterflyKernel kernel = nullptr;        // of a pass
    const OutputKernels* outputs = nullptr;  // of a pass into outputs
    std::uint32_t sources = 0;               // index into sources()
    std::uint32_t targets = 0;               // index into targets()
    std::uint32_t addends = 0;               // index into sources()
    std::uint32_t groups = 1;                // of a pass; of a sum: number of sources
    std::uint32_t run = 1;                   // cells in a block of the pass
    std::size_t tables = 0;                  // offset
    std::size_t table_step = 0;
  };

  const std::vector<Step>& steps() const noexcept { return steps_; }
  const std::vector<BlockRef>& sources() const noexcept { return sources_; }
  const std::vector<BlockRef>& targets() const noexcept { return targets_; }
  const std::byte* tables() const noexcept { return tables_.data(); }
  std::size_t cells() const noexcept { return cells_; }
  std::size_t run_max() const noexcept { return run_max_; }  // cells per block

 private:
  friend class ScheduleBuilder;
  std::vector<Step> steps_;
  std::vector<BlockRef> sources_;
  std::vector<BlockRef> targets_;
  std::vector<std::byte> tables_;
  std::size_t cells_ = 0;
  std::size_t run_max_ = 1;
};

// log2 of the tail if the transform is a single pass through 16 blocks and a tail
// (butterfly_pass.hpp), else 0.
unsigned tail_layers(const ir::Transform& transform) noexcept;

// Requires transform.locator, a field of 8 bits and log_size >= 1. The tables must outlive the
// schedule.
TransformSchedule make_schedule(const ir::Transform& transform, const CpuKernels& kernels,
                                const CoefficientTables& tables);

}  // namespace calpe::backend::cpu
