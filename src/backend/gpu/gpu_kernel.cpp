// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/gpu_kernel.hpp"

#include <algorithm>

#include "backend/gpu/device_programs.hpp"
#include "backend/gpu/job.hpp"
#include "backend/gpu/variant_build.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/linear_map.hpp"

namespace calpe::backend::gpu {

namespace {

// Strides are the caller's packet sizes, so there are few. More would be unusual lengths, for which
// the table kernels are good enough.
constexpr std::size_t variants_max = 8;

gf::BitMatrix map_of(const Task& task) {
  return task.style == emit::TableStyle::units ? ir::bit_map(*task.program) : plane_map(task.rows);
}

}  // namespace

Result<std::shared_ptr<GpuKernel>> GpuKernel::make(std::shared_ptr<Core> core, Task task) {
  CALPE_TRY(
      TableKernels::Pair tables,
      core->tables.get(*core, {.style = task.style,
                               .reduction = task.reduction,
                               .word_bytes = core->word_for(task.style, task.shape.input_shards)}));
  CALPE_TRY(std::shared_ptr<GpuKernel> kernel,
            make_with_tables(*core, std::move(task), std::move(tables)));
  kernel->owned_core_ = std::move(core);
  return kernel;
}

Result<std::shared_ptr<GpuKernel>> GpuKernel::make_with_tables(Core& core, Task task,
                                                               TableKernels::Pair tables) {
  const std::size_t columns = std::size_t{task.shape.input_shards} * task.shape.unit_count;
  if (columns > emit::table_inputs_max) {
    return make_error(ErrorCode::compile_failed, "program has ", columns,
                      " inputs; expected at most ", emit::table_inputs_max);
  }
  std::shared_ptr<GpuKernel> kernel(new GpuKernel(core, std::move(task), std::move(tables)));
  CALPE_CHECK(kernel->upload_bits());
  return kernel;
}

GpuKernel::~GpuKernel() {
  if (core_.is_lost.load(std::memory_order_acquire)) {
    // Hung work may still read them, and a driver may wait for it before it frees anything.
    struct Kept {
      std::vector<std::uint32_t> host_bits;
      TableKernels::Pair tables;
      std::vector<std::shared_ptr<Variant>> variants;
    };
    keep_for_good(Kept{std::move(host_bits_), std::move(tables_), std::move(variants_)});
  } else if (owns_bits_) {
    core_.driver->release(bits_);
  }
}

Status GpuKernel::upload_bits() {
  const gf::BitMatrix map = map_of(task_);
  host_bits_ = emit::table_bits(map);
  row_groups_ = (map.rows() + emit::table_rows - 1) / emit::table_rows;
  if (host_bits_.empty()) host_bits_.resize(1);  // keeps the pointer valid
  const auto* const start = reinterpret_cast<const std::byte*>(host_bits_.data());
  if (core_.info().shares_memory) {
    bits_ = {.buffer = nullptr, .at = reinterpret_cast<std::uint64_t>(start)};
    return Done{};
  }
  const std::size_t bytes = host_bits_.size() * sizeof(std::uint32_t);
  CALPE_TRY(bits_, core_.driver->allocate(bytes));
  owns_bits_ = true;
  CALPE_TRY(std::unique_ptr<Slot> slot, core_.slots.take());
  const Status copied = slot->queue().copy_in(bits_, start, bytes);
  Result<std::unique_ptr<Event>> event =
      copied ? slot->queue().mark() : Result<std::unique_ptr<Event>>(copied.error());
  return finish_slot(core_, std::move(slot), std::move(event), Writes::own_memory);
}

std::shared_ptr<const Variant> GpuKernel::variant(const VariantKey& key) const {
  std::shared_ptr<Variant> found;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    const auto same = std::ranges::find_if(variants_, [&](const auto& v) { return v->key == key; });
    if (same != variants_.end()) {
      found = *same;
    } else if (!core_.options.table_only && variants_.size() < variants_max && owned_core_) {
      found = variants_.emplace_back(std::make_shared<Variant>(key));
      is_new = true;
    }
  }
  if (!found) return nullptr;
  if (is_new) {
    if (core_.options.waits) {
      build_variant(core_, *this, *found);
    } else if (!core_.builder.request([kernel = weak_from_this(), variant = found] {
                 // The kernel is gone if its plan is gone; then the variant is not needed.
                 // Otherwise, lock() keeps the core alive while this runs.
                 if (const auto owner = kernel.lock()) {
                   build_variant(owner->core_, *owner, *variant);
                 }
               })) {
      found->reason = "cannot start a thread to compile it";
      found->state.store(VariantState::failed, std::memory_order_release);
    }
  }
  return found->state.load(std::memory_order_acquire) == VariantState::ready ? found : nullptr;
}

std::vector<std::string> GpuKernel::failures() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> reasons;
  for (const auto& variant : variants_) {
    if (variant->state.load(std::memory_order_acquire) == VariantState::failed) {
      reasons.push_back(variant->reason);
    }
  }
  return reasons;
}

std::vector<std::size_t> GpuKernel::ready_words() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> words;
  for (const auto& variant : variants_) {
    if (variant->state.load(std::memory_order_acquire) == VariantState::ready) {
      words.push_back(variant->word_bytes);
    }
  }
  return words;
}

}  // namespace calpe::backend::gpu
