// SPDX-License-Identifier: Apache-2.0
// Runs an additive FFT over GF(2^16) (ir/transform.hpp), column by column.
//
// Up to 256 cells are a block, which one kernel transforms in L1. A longer transform of N = R * 256
// cells takes two steps: layers 0..7 of R blocks, and the other layers of 256 groups. A group has
// one cell of every block. Its transform is that of R cells, at the position of the coset divided
// by 256, because the point of a layer only depends on the bits above it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "backend/cpu/wide_columns.hpp"
#include "backend/cpu/wide_scratch.hpp"
#include "backend/cpu/wide_tables.hpp"
#include "ir/transform.hpp"

namespace calpe::backend::cpu {

// Immutable. Takes its scratch memory from the pool; run() throws std::bad_alloc without memory. It
// needs 16 KiB of stack and is thread-safe.
class WideTransformRunner {
 public:
  // False for a transform that ends with a matrix.
  static bool has_kernels(const ir::Transform& transform) noexcept;
  // Requires has_kernels(). Fails with compile_failed for another field than gf::Field::tower().
  static Result<WideTransformRunner> create(const ir::Transform& transform,
                                            const CpuKernels& kernels, WideTableCache& cache,
                                            std::shared_ptr<WideScratchPool> pool);

  void run(const Batch& batch) const;

 private:
  struct Slot {  // a shard in a block
    std::uint16_t cell = 0;
    std::uint16_t shard = 0;
  };
  struct Block {             // cells of a coset that have shards
    std::size_t number = 0;  // within the coset
    std::size_t first_slot = 0;
    std::size_t slot_count = 0;
    std::size_t live = 0;   // the last cell with a shard, plus 1
    bool is_dense = false;  // all cells have shards, one after the other
  };
  struct Coset {
    std::size_t base = 0;
    std::vector<Block> blocks = {};
  };
  // Shards by place: cosets, their blocks, and cells.
  struct Layout {
    std::vector<Coset> cosets;  // ascending
    std::vector<Slot> slots;
    std::vector<gf::Element> factors;  // of the slots
  };
  class Scratch;
  struct Stripe {
    const std::byte* const* inputs = nullptr;
    std::byte* const* outputs = nullptr;
    bool accumulate = false;
    std::span<const WideColumn> columns = {};  // worked on together
  };
  struct Values {  // of a block, on their way to outputs
    WideSource source = {};
    const Block* addend = nullptr;  // of first_
    bool takes_factors = false;
    bool adds = false;
  };

  struct CosetValues {  // of one column, after the layers of groups
    std::size_t area = 0;
    bool adds = false;
  };
  struct GroupsBack {
    std::size_t base = 0;
    std::size_t from = 0;  // areas
    std::size_t to = 0;
    bool adds = false;
    std::optional<std::size_t> next = {};  // then transformed forward at this base
  };

  WideTransformRunner() = default;
  Layout lay_out(std::span<const std::uint16_t> places) const;
  void place_inputs(const ir::Transform& transform);
  void place_outputs(const ir::Transform& transform);
  void choose_columns();
  // Null if the only coset, or none, lacks this block.
  static const Block* find_block(std::span<const Coset> coset, std::size_t number) noexcept;
  WideTransform transform_at(std::size_t position, unsigned log_size,
                             const Scratch& scratch) const noexcept;
  void run_columns(const Stripe& stripe, Scratch& scratch) const;
  void sum_cosets(const Stripe& stripe, std::optional<std::size_t> next, Scratch& scratch) const;
  void transform_blocks_back(const Stripe& stripe, const Coset& coset, bool is_first,
                             Scratch& scratch) const;
  void transform_groups_back(const GroupsBack& groups, Scratch& scratch) const;
  void transform_groups_forth(std::size_t base, std::size_t from, std::size_t to,
                              Scratch& scratch) const;
  void turn_values(const Stripe& stripe, std::optional<std::size_t> next, Scratch& scratch) const;
  void derive(std::size_t area, const Scratch& scratch) const;
  void write_coset(const Stripe& stripe, std::size_t g, const Coset& coset,
                   const CosetValues& values, Scratch& scratch) const;
  void write_block(const Stripe& stripe, const WideColumn& column, const Block& block,
                   const Values& values, Scratch& scratch) const;

  const CpuKernels* kernels_ = nullptr;
  std::shared_ptr<const WideProducts> products_;
  std::shared_ptr<const WidePoints> points_;
  std::shared_ptr<WideScratchPool> pool_;
  unsigned log_size_ = 0;
  unsigned log_block_ = 0;
  std::size_t block_cells_ = 0;
  std::size_t blocks_ = 0;  // of a coset
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  Layout sources_;  // transformed back and added
  Layout first_;    // inputs of the first coset that are added to its values
  Layout targets_;
  std::vector<gf::Element> scales_;
  bool needs_other_ = false;      // a second area
  std::size_t block_stride_ = 0;  // in an area
  std::size_t area_bytes_ = 0;    // N cells
  std::size_t columns_ = 1;       // worked on together
};

}  // namespace calpe::backend::cpu
