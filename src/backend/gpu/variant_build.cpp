// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/variant_build.hpp"

#include <exception>

#include "backend/gpu/device_programs.hpp"
#include "backend/gpu/module_check.hpp"
#include "backend/gpu/module_store.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/text_form.hpp"

namespace calpe::backend::gpu {

namespace {

// The smallest form that is tried if a driver reports spills. It may spill a little; still faster
// than the table kernel.
constexpr std::size_t registers_least = 16;
constexpr std::size_t spill_bytes_max = 256;
constexpr std::size_t narrowed_least = 16;  // words of 4 bytes have one register per value

std::string program_text(const Task& task) {
  if (task.program) return ir::print(*task.program);
  std::string cells = text("matrix ", task.rows.rows(), " x ", task.rows.columns(), ":");
  for (const gf::Element cell : task.rows.cells())
    cells += text(" ", cell);
  return cells;
}

std::size_t ones_of(const Task& task) {
  return task.program ? task.program->terms().size() : plane_map(task.rows).ones();
}

Result<emit::DeviceText> emit_text(const Task& task, const emit::DeviceForm& form,
                                   const ProgramLimits& limits) {
  if (task.program) {
    CALPE_TRY(const std::vector<emit::RowGroup> groups, unit_groups(*task.program, limits));
    return emit::emit_units(task.shape, groups, form);
  }
  CALPE_TRY(const BytesKernel kernel, bytes_kernel(task.field, task.rows, form, limits));
  return emit_bytes(task.shape, kernel);
}

Result<Obtained> obtain_form(Core& core, const Task& task, const emit::DeviceForm& form,
                             const ProgramLimits& limits) {
  Wanted wanted = {.program = text(program_text(task), "\nregisters ", limits.registers,
                                   limits.may_slice ? "" : ", not sliced"),
                   .form = form};
  wanted.emit = [&] { return emit_text(task, form, limits); };
  return obtain(core, wanted);
}

// Leaves bit slices and then narrows words until the compiler reports no spills, then halves the
// registers. A narrower word takes a quarter of the registers for the same program, and fewer
// registers mean more row groups, each of which reads all inputs again.
Result<Obtained> compile(Core& core, const GpuKernel& kernel, const VariantKey& key) {
  const Task& task = kernel.task();
  emit::DeviceForm form = core.form(kernel.word_bytes());
  form.unit_stride = key.unit_stride;
  form.accumulate = key.accumulate;
  form.reduction = task.reduction;
  const auto limits_of = [&] {
    ProgramLimits limits = limits_for(
        form, task.program ? task.program->inputs() : task.shape.input_shards, !task.program);
    // A long search pays off in the background only, for programs that run long enough to tune for.
    limits.rounds = core.options.waits || !core.options.tunes ? 1 : 2;
    return limits;
  };
  ProgramLimits limits = limits_of();
  while (true) {
    Result<Obtained> obtained = obtain_form(core, task, form, limits);
    if (!obtained && obtained.error().code != ErrorCode::compile_failed) {
      return std::move(obtained).error();
    }
    const std::size_t spill_bytes = obtained ? obtained->module->spill_bytes() : 0;
    const bool is_last = form.word_bytes < narrowed_least && limits.registers <= registers_least;
    if (obtained && (spill_bytes == 0 || (is_last && spill_bytes <= spill_bytes_max))) {
      return obtained;
    }
    if (is_last) {
      if (!obtained) return std::move(obtained).error();
      return make_error(ErrorCode::compile_failed, "kernel spills ", spill_bytes,
                        " bytes per work-item with ", limits.registers, " registers");
    }
    // Found in the cache the next time, instead of compiled.
    if (obtained) keep(core, *obtained);
    if (obtained && obtained->word_bytes > form.word_bytes) {
      limits.may_slice = false;
    } else if (form.word_bytes >= narrowed_least) {
      form.word_bytes /= 4;
      limits = limits_of();
    } else {
      limits.registers /= 2;
    }
  }
}

Status build(Core& core, const GpuKernel& kernel, Variant& variant) {
  const Task& task = kernel.task();
  if (const std::size_t ones = ones_of(task); ones > core.info().terms_max) {
    return make_error(ErrorCode::compile_failed, "program has ", ones, " terms; expected at most ",
                      core.info().terms_max);
  }
  CALPE_TRY(const Obtained obtained, compile(core, kernel, variant.key));
  variant.module = obtained.module;
  variant.row_groups = obtained.row_groups;
  variant.word_bytes = obtained.word_bytes;
  CALPE_CHECK(check_module(core, kernel, &variant, variant.key.accumulate));
  keep(core, obtained);
  return Done{};
}

}  // namespace

void build_variant(Core& core, const GpuKernel& kernel, Variant& variant) noexcept {
  try {
    const Status done = build(core, kernel, variant);
    if (!done) variant.reason = done.error().message;
    variant.state.store(done ? VariantState::ready : VariantState::failed,
                        std::memory_order_release);
  } catch (const std::exception&) {  // out of memory: keep using the table kernels
    variant.state.store(VariantState::failed, std::memory_order_release);
  }
}

}  // namespace calpe::backend::gpu
