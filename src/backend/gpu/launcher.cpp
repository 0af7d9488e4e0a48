// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/launcher.hpp"

#include <algorithm>
#include <bit>

#include "base/try.hpp"

namespace calpe::backend::gpu {

namespace {

// Packets never have larger strides, so compiling for them is not worthwhile.
constexpr std::size_t baked_stride_max = std::size_t{64} << 10U;

VariantKey key_of(const Core& core, const GpuKernel& kernel, const Reached& reached) {
  VariantKey key = {.accumulate = reached.accumulate};
  const bool bakes = !core.info().shares_memory && kernel.task().style == emit::TableStyle::units;
  if (bakes && reached.geometry.unit_stride <= baked_stride_max) {
    key.unit_stride = reached.geometry.unit_stride;
  }
  return key;
}

class Launcher {
 public:
  Launcher(Core& core, LaunchQueue& queue, const GpuKernel& kernel, const Reached& reached)
      : core_(core), queue_(queue), kernel_(kernel), reached_(reached) {}

  Status variant_over(const Variant& variant, std::size_t columns) {
    return over_grid(
        {.end = columns, .word_bytes = variant.word_bytes, .row_groups = variant.row_groups},
        [&](const Launch& launch) { return run(*variant.module, launch); });
  }

  Status table_over(const Module& module, std::size_t begin, std::size_t columns,
                    std::size_t word_bytes) {
    const emit::DeviceShape& shape = kernel_.task().shape;
    const Launch::Table table = {.bits = kernel_.bits(),
                                 .row_groups = kernel_.row_groups(),
                                 .input_shards = shape.input_shards,
                                 .output_shards = shape.output_shards,
                                 .unit_count = shape.unit_count,
                                 .accumulate = reached_.accumulate};
    return over_grid({.begin = begin,
                      .end = begin + columns,
                      .word_bytes = word_bytes,
                      .row_groups = kernel_.row_groups()},
                     [&](Launch launch) {
                       launch.table = &table;
                       return run(module, launch);
                     });
  }

 private:
  Status run(const Module& module, const Launch& launch) {
    core_.counters.launches.fetch_add(1, std::memory_order_relaxed);
    return queue_.launch(module, launch);
  }

  // Columns [begin, end) of every unit.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t word_bytes = 1;
    std::size_t row_groups = 1;
  };

  // In grids that the device supports.
  template <class Each>
  Status over_grid(const Range& range, const Each& each) {
    const std::size_t items = core_.tuning.group_items;
    const std::size_t groups_max = core_.info().words_max / items / range.row_groups;
    const std::size_t most = std::max<std::size_t>(groups_max, 1) * items * range.word_bytes;
    for (Range part = range; part.begin < range.end; part.begin += most) {
      part.end = std::min(range.end, part.begin + most);
      CALPE_CHECK(over_rows(part, each));
    }
    return Done{};
  }

  template <class Each>
  Status over_rows(const Range& range, const Each& each) {
    const std::size_t columns = range.end - range.begin;
    const Geometry& geometry = reached_.geometry;
    const std::size_t most = core_.info().grid_max;
    for (std::size_t stripe = 0; stripe < reached_.stripe_count; stripe += most) {
      for (std::size_t group = 0; group < geometry.group_count; group += most) {
        Launch launch = {.n_base = reached_.n_base,
                         .r_base = reached_.r_base,
                         .shards = reached_.shards,
                         .first = geometry.offset + range.begin + group * geometry.group_stride,
                         .column_bytes = columns,
                         .unit_stride = geometry.unit_stride,
                         .group_stride = geometry.group_stride};
        launch.shards.at += stripe * kernel_.shards() * sizeof(std::uint64_t);
        launch.words = columns / range.word_bytes;
        launch.row_groups = range.row_groups;
        launch.groups = std::min(most, geometry.group_count - group);
        launch.stripes = std::min(most, reached_.stripe_count - stripe);
        CALPE_CHECK(each(launch));
      }
    }
    return Done{};
  }

  Core& core_;
  LaunchQueue& queue_;
  const GpuKernel& kernel_;
  const Reached& reached_;
};

}  // namespace

std::size_t common_alignment(std::uint64_t bits) {
  constexpr std::uint64_t most = 4096;
  return std::size_t{1} << static_cast<unsigned>(std::countr_zero(bits | most));
}

std::uint64_t distance_bits(const Geometry& geometry, const emit::DeviceShape& shape) {
  std::uint64_t bits = geometry.offset;
  if (geometry.group_count > 1) bits |= geometry.group_stride;
  if (shape.unit_count > 1) bits |= geometry.unit_stride;
  return bits;
}

void request_variant(const Core& core, const GpuKernel& kernel, const Reached& reached) {
  static_cast<void>(kernel.variant(key_of(core, kernel, reached)));
}

Status enqueue(Core& core, LaunchQueue& queue, const GpuKernel& kernel, const Reached& reached,
               const Variant* forced) {
  Launcher launcher(core, queue, kernel, reached);
  const std::size_t columns = reached.geometry.unit_bytes;
  const std::size_t word = kernel.word_bytes();
  const bool takes_words = core.info().shares_memory || reached.alignment % word == 0;
  std::size_t whole = takes_words ? columns - columns % word : 0;
  if (whole != 0) {
    std::shared_ptr<const Variant> ready;
    if (forced == nullptr) {
      ready = kernel.variant(key_of(core, kernel, reached));
      forced = ready.get();
    }
    if (forced != nullptr) whole -= whole % forced->word_bytes;
    CALPE_CHECK(forced != nullptr ? launcher.variant_over(*forced, whole)
                                  : launcher.table_over(*kernel.tables().words, 0, whole, word));
  }
  if (whole == columns) return Done{};  // a variant that is only measured has no tables
  return launcher.table_over(*kernel.tables().bytes, whole, columns - whole, 1);
}

}  // namespace calpe::backend::gpu
