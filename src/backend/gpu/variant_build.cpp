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

// If a driver reports spills, retry with half the registers, then a quarter.
constexpr std::size_t registers_least = 16;

// Compile time grows faster than the number of terms. For CPUs (words of 64 bytes), compilers are
// slower and gain less over the table kernel than for GPUs. Packets of any 10+4 are below the
// limit.
std::size_t ones_max(const Core& core) {
  return core.info().word_bytes.front() == 64 ? 2'000 : 30'000;
}

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
  CALPE_TRY(const std::vector<emit::RowGroup> groups, plane_groups(task.field, task.rows, limits));
  return emit::emit_planes(task.shape, groups, form);
}

Status build(Core& core, const GpuKernel& kernel, Variant& variant) {
  const Task& task = kernel.task();
  if (const std::size_t ones = ones_of(task); ones > ones_max(core)) {
    return make_error(ErrorCode::compile_failed, "program has ", ones, " terms; expected at most ",
                      ones_max(core));
  }
  Wanted wanted = {.program = program_text(task), .form = core.form(kernel.word_bytes())};
  wanted.form.unit_stride = variant.key.unit_stride;
  wanted.form.accumulate = variant.key.accumulate;
  wanted.form.reduction = task.reduction;
  ProgramLimits limits = limits_for(
      wanted.form, task.program ? task.program->inputs() : task.shape.input_shards, !task.program);
  // Quick search if a caller waits, better search in the background.
  limits.rounds = core.options.waits ? 1 : 2;
  wanted.emit = [&] { return emit_text(task, wanted.form, limits); };
  Result<Obtained> obtained = obtain(core, wanted);
  while (!obtained && obtained.error().code == ErrorCode::compile_failed &&
         limits.registers > registers_least) {
    limits.registers /= 2;
    obtained = obtain(core, wanted);
  }
  if (!obtained) return std::move(obtained).error();
  variant.module = obtained->module;
  variant.entry_count = obtained->entries.size();
  CALPE_CHECK(check_module(core, kernel, &variant, variant.key.accumulate));
  keep(core, *obtained);
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
