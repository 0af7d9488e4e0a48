// SPDX-License-Identifier: Apache-2.0
// State shared by all kernels of one device. One per device and process, for all codecs.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "backend/gpu/builder.hpp"
#include "backend/gpu/context_wait.hpp"
#include "backend/gpu/driver.hpp"
#include "backend/gpu/gpu_options.hpp"
#include "backend/gpu/memory_map.hpp"
#include "backend/gpu/slots.hpp"
#include "backend/gpu/table_kernels.hpp"
#include "base/process_fork.hpp"
#include "kernel_cache/disk_cache.hpp"

namespace calpe::backend::gpu {

// Best settings according to tuning.
struct Tuning {
  std::size_t word_bytes = 4;
  unsigned group_items = 64;
};

struct Counters {
  std::atomic<std::uint64_t> builds = 0;
  std::atomic<std::uint64_t> launches = 0;
  std::atomic<std::uint64_t> copy_in_bytes = 0;
  std::atomic<std::uint64_t> copy_out_bytes = 0;
  std::mutex mutex = {};  // guards the seconds
  double build_seconds = 0;
  PhaseSeconds phases = {};
};

struct Core {
  Core(std::unique_ptr<Driver> made, const GpuOptions& given)
      : driver(std::move(made)),
        options(given),
        slots(*driver, given.profiling),
        context(*driver, slots, is_lost, given.time_limit),
        memory(*driver, context, given.time_limit) {
    options.slot_bytes = std::min(options.slot_bytes, info().allocation_max);
  }

  std::unique_ptr<Driver> driver;  // first member: outlives everything it created
  GpuOptions options;
  std::optional<kernel::DiskCache> disk = {};
  std::unique_ptr<Device> cpu = {};  // kernels are checked against it
  Tuning tuning = {};
  Counters counters = {};
  const ProcessMark mark = {};  // process that opened the driver
  // The device hung: never wait for it again. Its slots are neither returned nor freed.
  std::atomic<bool> is_lost = false;
  Slots slots;
  ContextWait context;
  MemoryMap memory;
  TableKernels tables = {};
  std::atomic<bool> may_still_write = false;
  std::atomic<std::size_t> users = 0;  // GpuDevice objects
  Builder builder = {};                // last member: ends before what it uses

  const DriverInfo& info() const noexcept { return driver->info(); }
  // Maximum number of stripes, given their shard count, whose table fits into one allocation.
  std::size_t stripes_max(std::size_t shards) const {
    return std::max<std::size_t>(info().allocation_max / (shards * sizeof(std::uint64_t)), 1);
  }
  // Word of every unit that a work-item computes. With narrow registers, wide words only pay off
  // for planes whose inputs all fit into registers.
  std::size_t word_for(emit::TableStyle style, std::size_t inputs) const {
    const bool is_wide =
        info().language != emit::DeviceLanguage::ptx ||
        (style == emit::TableStyle::planes && inputs <= emit::planes_inputs_held_max);
    return is_wide ? tuning.word_bytes : std::min<std::size_t>(4, tuning.word_bytes);
  }
  // Form of the source code for this device.
  emit::DeviceForm form(std::size_t word_bytes) const {
    return {.language = info().language,
            .word_bytes = word_bytes,
            .any_alignment = info().shares_memory,
            .group_items = tuning.group_items};
  }
};

}  // namespace calpe::backend::gpu
