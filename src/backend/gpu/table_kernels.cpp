// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/table_kernels.hpp"

#include <algorithm>

#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"
#include "backend/gpu/module_check.hpp"
#include "backend/gpu/module_store.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/lower_to_xor.hpp"

namespace calpe::backend::gpu {

namespace {

// Something of the style that has rows in two row groups.
Result<Task> sample_task(emit::TableStyle style, unsigned reduction) {
  CALPE_TRY(gf::FieldRef field, gf::Field::create(8, 0x100U + reduction));
  gf::Matrix rows(5, 3);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t c = 0; c < rows.columns(); ++c)
      rows(r, c) = static_cast<gf::Element>(1 + (r * 89 + c * 37) % 255);
  }
  if (style == emit::TableStyle::planes) {
    return Task{.shape = {.input_shards = 3, .output_shards = 5},
                .style = style,
                .reduction = reduction,
                .field = std::move(field),
                .rows = std::move(rows)};
  }
  return Task{.shape = {.input_shards = 3, .output_shards = 5, .unit_count = 8},
              .style = style,
              .program = ir::lower_to_xor(ir::build(std::move(field), rows))};
}

Result<Obtained> obtain_table(Core& core, emit::TableStyle style, unsigned reduction,
                              std::size_t word_bytes) {
  Wanted wanted = {
      .program = style == emit::TableStyle::units ? "table of units" : "table of planes",
      .form = core.form(word_bytes)};
  wanted.form.reduction = reduction;
  wanted.emit = [&] { return emit::emit_table(style, wanted.form); };
  return obtain(core, wanted);
}

}  // namespace

Result<TableKernels::Pair> TableKernels::get(Core& core, emit::TableStyle style,
                                             std::uint8_t reduction) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.style == style && entry.reduction == reduction;
  });
  if (found != entries_.end()) return found->pair;
  CALPE_TRY(const Obtained words, obtain_table(core, style, reduction, core.tuning.word_bytes));
  CALPE_TRY(const Obtained bytes, obtain_table(core, style, reduction, 1));
  const Pair pair = {.words = words.module, .bytes = bytes.module};
  CALPE_TRY(Task task, sample_task(style, reduction));
  CALPE_TRY(const std::shared_ptr<GpuKernel> kernel,
            GpuKernel::make_with_tables(core, std::move(task), pair));
  for (const bool accumulate : {false, true})
    CALPE_CHECK(check_module(core, *kernel, nullptr, accumulate));
  keep(core, words);
  keep(core, bytes);
  entries_.push_back({.style = style, .reduction = reduction, .pair = pair});
  return pair;
}

}  // namespace calpe::backend::gpu
