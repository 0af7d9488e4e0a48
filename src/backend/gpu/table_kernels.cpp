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

// A sample with two row groups and enough inputs to select this word size.
Result<Task> sample_task(const TableKernels::Kind& kind, const Core& core) {
  CALPE_TRY(gf::FieldRef field, gf::Field::create(8, 0x100U + kind.reduction));
  const bool is_few = core.word_for(kind.style, 3) == kind.word_bytes;
  gf::Matrix rows(5, is_few ? 3 : emit::planes_inputs_held_max + 1);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t c = 0; c < rows.columns(); ++c)
      rows(r, c) = static_cast<gf::Element>(1 + (r * 89 + c * 37) % 255);
  }
  const auto inputs = static_cast<std::uint32_t>(rows.columns());
  if (kind.style == emit::TableStyle::planes) {
    return Task{.shape = {.input_shards = inputs, .output_shards = 5},
                .style = kind.style,
                .reduction = kind.reduction,
                .field = std::move(field),
                .rows = std::move(rows)};
  }
  return Task{.shape = {.input_shards = inputs, .output_shards = 5, .unit_count = 8},
              .style = kind.style,
              .program = ir::lower_to_xor(ir::build(std::move(field), rows))};
}

Result<Obtained> obtain_table(Core& core, const TableKernels::Kind& kind, std::size_t word_bytes) {
  Wanted wanted = {
      .program = kind.style == emit::TableStyle::units ? "table of units" : "table of planes",
      .form = core.form(word_bytes)};
  wanted.form.reduction = kind.reduction;
  wanted.emit = [&] { return emit::emit_table(kind.style, wanted.form); };
  return obtain(core, wanted);
}

}  // namespace

Result<TableKernels::Pair> TableKernels::get(Core& core, const Kind& kind) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(entries_, kind, &Entry::kind);
  if (found != entries_.end()) return found->pair;
  CALPE_TRY(const Obtained words, obtain_table(core, kind, kind.word_bytes));
  CALPE_TRY(const Obtained bytes, obtain_table(core, kind, 1));
  const Pair pair = {.words = words.module, .bytes = bytes.module};
  CALPE_TRY(Task task, sample_task(kind, core));
  CALPE_TRY(const std::shared_ptr<GpuKernel> kernel,
            GpuKernel::make_with_tables(core, std::move(task), pair));
  for (const bool accumulate : {false, true})
    CALPE_CHECK(check_module(core, *kernel, nullptr, accumulate));
  keep(core, words);
  keep(core, bytes);
  entries_.push_back({.kind = kind, .pair = pair});
  return pair;
}

}  // namespace calpe::backend::gpu
