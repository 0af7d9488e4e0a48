// SPDX-License-Identifier: Apache-2.0
// Runs an additive FFT over GF(2^16) (ir/transform.hpp), column by column. wide_kernels.hpp
// explains blocks and groups.
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
  struct Slot {  // a shard in a page
    std::uint16_t cell = 0;
    std::uint16_t shard = 0;
  };
  // Up to 256 cells of a coset, if they have shards: as many as a kernel gets at once.
  struct Page {
    std::size_t number = 0;  // within the coset
    std::size_t first_slot = 0;
    std::size_t slot_count = 0;
    std::size_t full = 0;  // cells below have a shard, one after the other in the caller's list
    std::size_t live = 0;  // the last cell with a shard, plus 1
    std::size_t next_shard = 0;  // of the next page, if that is full; else of this one
  };
  struct Coset {
    std::size_t base = 0;
    std::vector<Page> pages = {};
  };
  // Shards by place: cosets, their pages, and cells.
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
  struct Values {  // of a page, on their way to outputs
    WideSource source = {};
    const Page* addend = nullptr;  // of first_
    bool takes_factors = false;
    bool adds = false;
  };
  struct Groups {                           // layers of the groups of one column
    std::optional<std::size_t> start = {};  // area
    std::span<const Coset> cosets = {};
    std::size_t first_area = 0;  // of the cosets
    std::optional<std::size_t> forth_base = {};
    std::size_t to = 0;
  };

  WideTransformRunner() = default;
  Layout lay_out(std::span<const std::uint16_t> places) const;
  void place_inputs(const ir::Transform& transform);
  void place_outputs(const ir::Transform& transform);
  void choose_areas();
  // Null if the only coset, or none, lacks this page.
  static const Page* find_page(std::span<const Coset> coset, std::size_t number) noexcept;
  WidePointTables points() const noexcept;
  void run_columns(const Stripe& stripe, Scratch& scratch) const;
  void sum_cosets(const Stripe& stripe, std::optional<std::size_t> next, Scratch& scratch) const;
  void transform_pages_back(const Stripe& stripe, const Coset& coset, std::size_t area,
                            Scratch& scratch) const;
  void transform_groups(const Groups& groups, std::size_t column, const Scratch& scratch) const;
  void turn_values(const Stripe& stripe, std::optional<std::size_t> next, Scratch& scratch) const;
  void derive(std::byte* cells) const;
  void write_coset(const Stripe& stripe, const Coset& coset, std::size_t area, bool adds,
                   Scratch& scratch) const;
  void write_page(const Stripe& stripe, const WideColumn& column, const Page& page,
                  const Values& values, Scratch& scratch) const;

  const CpuKernels* kernels_ = nullptr;
  std::shared_ptr<const WideProducts> products_;
  std::shared_ptr<const WidePoints> points_;
  std::shared_ptr<WideScratchPool> pool_;
  unsigned log_size_ = 0;
  unsigned log_block_ = 0;
  std::size_t page_cells_ = 0;
  std::size_t pages_ = 0;  // of a coset
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  Layout sources_;  // transformed back and added
  Layout first_;    // inputs of the first coset that are added to its values
  Layout targets_;
  std::vector<gf::Element> scales_;
  std::size_t block_stride_ = 0;  // in an area
  std::size_t page_stride_ = 0;
  std::size_t area_bytes_ = 0;  // N cells
  std::size_t areas_ = 1;       // of a column: the sums, and cosets
  std::size_t columns_ = 1;     // worked on together
};

}  // namespace calpe::backend::cpu
