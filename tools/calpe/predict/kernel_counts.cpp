// SPDX-License-Identifier: Apache-2.0
#include "calpe/predict/kernel_counts.hpp"

#include <utility>
#include <vector>

#include "backend/gpu/device_programs.hpp"
#include "base/try.hpp"
#include "calpe/predict/ptx_counts.hpp"
#include "emit/device_kernel.hpp"
#include "ir/lower_to_xor.hpp"

namespace calpe::tools {

namespace {

// Words of one register, or of four if all inputs fit into registers: then the address arithmetic
// per byte is a quarter. Tuning on a device chooses between the same two.
constexpr std::size_t narrow_bytes = 4;
constexpr std::size_t wide_bytes = 16;
constexpr unsigned group_items = 64;
constexpr std::size_t rounds = 2;  // as for an encoder built in the background

backend::gpu::ProgramLimits limits_for(const emit::DeviceForm& form, std::uint32_t inputs,
                                       bool is_planes) {
  backend::gpu::ProgramLimits limits = backend::gpu::limits_for(form, inputs, is_planes);
  limits.rounds = rounds;
  return limits;
}

Result<CountedKernel> counted(CountedKernel kernel) {
  CALPE_TRY(const PtxCounts counts, count_ptx(kernel.text.text, kernel.text.row_groups));
  const double bytes = static_cast<double>(kernel.form.word_bytes) * kernel.shape.input_shards *
                       kernel.shape.unit_count;
  kernel.word_bytes = kernel.form.word_bytes;
  kernel.counts = {.alu_per_byte = static_cast<double>(counts.alu) / bytes,
                   .issue_per_byte = static_cast<double>(counts.issue) / bytes,
                   .row_groups = kernel.text.row_groups};
  return kernel;
}

}  // namespace

Result<CountedKernel> count_kernel(const CodeSpec& spec) {
  CALPE_TRY(const std::vector<std::uint16_t> cells, parity_rows(spec));
  CALPE_TRY(const gf::FieldRef field, gf::Field::create(spec.word_bits, spec.polynomial));
  gf::Matrix rows(spec.parity_shards, spec.data_shards);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t c = 0; c < rows.columns(); ++c)
      rows(r, c) = cells[r * rows.columns() + c];
  }
  CountedKernel kernel = {
      .style = "planes",
      .counts = {},
      .text = {},
      .form = {.language = emit::DeviceLanguage::ptx, .group_items = group_items},
      .shape = {.input_shards = spec.data_shards, .output_shards = spec.parity_shards}};
  emit::DeviceForm& form = kernel.form;
  if (spec.layout == Layout::bytes) {
    const bool is_wide = spec.data_shards <= emit::planes_inputs_held_max;
    form.word_bytes = is_wide ? wide_bytes : narrow_bytes;
    form.reduction = field->polynomial() & 0xFFU;
    CALPE_TRY(
        const backend::gpu::BytesKernel bytes,
        backend::gpu::bytes_kernel(field, rows, form, limits_for(form, spec.data_shards, true)));
    if (bytes.is_sliced) kernel.style = "sliced";
    form = bytes.form;
    CALPE_TRY(kernel.text, backend::gpu::emit_bytes(kernel.shape, bytes));
    return counted(std::move(kernel));
  }
  kernel.style = "units";
  kernel.shape.unit_count = spec.word_bits;
  form.word_bytes = narrow_bytes;
  form.unit_stride = spec.packet_bytes == 0 ? std::size_t{512} : spec.packet_bytes;
  const ir::Program program = ir::lower_to_xor(ir::build(field, rows));
  CALPE_TRY(const auto groups,
            backend::gpu::unit_groups(program, limits_for(form, program.inputs(), false)));
  CALPE_TRY(kernel.text, emit::emit_units(kernel.shape, groups, form));
  return counted(std::move(kernel));
}

}  // namespace calpe::tools
