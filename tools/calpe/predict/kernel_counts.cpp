// SPDX-License-Identifier: Apache-2.0
#include "calpe/predict/kernel_counts.hpp"

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
constexpr std::size_t wide_inputs_max = 20;

Result<CountedKernel> counted(std::string_view style, const emit::DeviceText& text,
                              const emit::DeviceShape& shape, std::size_t word_bytes) {
  CALPE_TRY(const PtxCounts counts, count_ptx(text.text));
  const double bytes = static_cast<double>(word_bytes) * shape.input_shards * shape.unit_count;
  return CountedKernel{.style = style,
                       .word_bytes = word_bytes,
                       .counts = {.alu_per_byte = static_cast<double>(counts.alu) / bytes,
                                  .issue_per_byte = static_cast<double>(counts.issue) / bytes,
                                  .row_groups = counts.entries}};
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
  const backend::gpu::ProgramLimits limits;
  emit::DeviceShape shape{.input_shards = spec.data_shards, .output_shards = spec.parity_shards};
  if (spec.layout == Layout::bytes) {
    const bool is_wide = spec.data_shards <= wide_inputs_max;
    const emit::DeviceForm form{.language = emit::DeviceLanguage::ptx,
                                .word_bytes = is_wide ? wide_bytes : narrow_bytes};
    CALPE_TRY(const auto groups, backend::gpu::plane_groups(field, rows, limits));
    CALPE_TRY(const emit::DeviceText text, emit::emit_planes(shape, groups, form));
    return counted("planes", text, shape, form.word_bytes);
  }
  shape.unit_count = spec.word_bits;
  const emit::DeviceForm form{
      .language = emit::DeviceLanguage::ptx,
      .word_bytes = narrow_bytes,
      .unit_stride = spec.packet_bytes == 0 ? std::size_t{512} : spec.packet_bytes};
  const ir::Program program = ir::lower_to_xor(ir::build(field, rows));
  CALPE_TRY(const auto groups, backend::gpu::unit_groups(program, limits));
  CALPE_TRY(const emit::DeviceText text, emit::emit_units(shape, groups, form));
  return counted("units", text, shape, form.word_bytes);
}

}  // namespace calpe::tools
