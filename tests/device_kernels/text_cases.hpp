// SPDX-License-Identifier: Apache-2.0
// Device source for the shapes with budgets: encoders of the `cauchy` profile.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/gpu/device_programs.hpp"
#include "base/assert.hpp"
#include "base/text.hpp"
#include "emit/device_kernel.hpp"
#include "ir/lower_to_xor.hpp"
#include "support/emitted_cases.hpp"

namespace calpe::tests {

struct TextCase {
  std::string name;
  emit::DeviceForm form;
  emit::DeviceText text;
  std::size_t data_bytes = 0;  // read per work-item; 0: depends on the table
};

inline emit::DeviceForm ptx_form(std::size_t word_bytes, std::size_t unit_stride = 0) {
  return {.language = emit::DeviceLanguage::ptx,
          .word_bytes = word_bytes,
          .unit_stride = unit_stride,
          .group_items = 128};
}

// The recipe of an encoder, or of a decoder that rebuilds the first `lost` data shards.
inline gf::Matrix coefficients_of(const code::Code& code, std::size_t lost) {
  if (lost == 0) return plan::encode_recipe(code).coefficients;
  std::vector<ShardIndex> available;
  std::vector<ShardIndex> wanted;
  for (std::size_t i = 0; i < code.data_shards() + lost; ++i)
    (i < lost ? wanted : available).push_back(static_cast<ShardIndex>(i));
  const auto recipe = plan::DecodePlanner(code).plan(available, wanted, {});
  CALPE_ASSERT(recipe.has_value());
  return recipe->coefficients;
}

inline TextCase units_case(const CodeShape& code_shape, const emit::DeviceForm& form,
                           std::size_t rounds = 1, std::size_t lost = 0) {
  const code::Code code = cauchy_code(code_shape);
  const gf::Matrix rows = coefficients_of(code, lost);
  const ir::Program direct = ir::lower_to_xor(ir::build(code.field, rows));
  backend::gpu::ProgramLimits limits = backend::gpu::limits_for(form, direct.inputs(), false);
  limits.rounds = rounds;
  const auto groups = backend::gpu::unit_groups(direct, limits);
  CALPE_ASSERT(groups.has_value());
  auto made = emit::emit_units(
      {direct.input_shards(), direct.output_shards(), code_shape.word_bits}, *groups, form);
  CALPE_ASSERT(made.has_value());
  return {text("units_", code_shape.data_shards, "_", code_shape.parity_shards, "_w",
               unsigned{code_shape.word_bits}, "_word", form.word_bytes, "_stride",
               form.unit_stride, lost == 0 ? "" : "_rebuild"),
          form, *std::move(made), direct.inputs() * form.word_bytes};
}

inline TextCase planes_case(const CodeShape& code_shape, const emit::DeviceForm& form,
                            std::size_t rounds = 1, std::size_t lost = 0) {
  const code::Code code = cauchy_code({code_shape.data_shards, code_shape.parity_shards, 8});
  const gf::Matrix rows = coefficients_of(code, lost);
  const auto inputs = static_cast<std::uint32_t>(rows.columns());
  backend::gpu::ProgramLimits limits = backend::gpu::limits_for(form, inputs, true);
  limits.rounds = rounds;
  const auto groups = backend::gpu::plane_groups(code.field, rows, limits);
  CALPE_ASSERT(groups.has_value());
  auto made =
      emit::emit_planes({inputs, static_cast<std::uint32_t>(rows.rows()), 1}, *groups, form);
  CALPE_ASSERT(made.has_value());
  return {text("planes_", code_shape.data_shards, "_", code_shape.parity_shards, "_word",
               form.word_bytes, lost == 0 ? "" : "_rebuild"),
          form, *std::move(made), inputs * form.word_bytes};
}

inline TextCase sliced_case(const CodeShape& code_shape, emit::DeviceForm form,
                            std::size_t rounds = 1, std::size_t lost = 0) {
  const code::Code code = cauchy_code({code_shape.data_shards, code_shape.parity_shards, 8});
  const gf::Matrix rows = coefficients_of(code, lost);
  const auto inputs = static_cast<std::uint32_t>(rows.columns());
  form.word_bytes = emit::sliced_word_bytes;
  const auto groups = backend::gpu::sliced_groups(code.field, rows, {.rounds = rounds});
  CALPE_ASSERT(groups.has_value());
  auto made =
      emit::emit_sliced({inputs, static_cast<std::uint32_t>(rows.rows()), 1}, *groups, form);
  CALPE_ASSERT(made.has_value());
  return {text("sliced_", code_shape.data_shards, "_", code_shape.parity_shards,
               lost == 0 ? "" : "_rebuild"),
          form, *std::move(made), inputs * form.word_bytes};
}

inline TextCase table_case(emit::TableStyle style, const emit::DeviceForm& form) {
  auto made = emit::emit_table(style, form);
  CALPE_ASSERT(made.has_value());
  return {text("table_", style == emit::TableStyle::units ? "units" : "planes", "_word",
               form.word_bytes),
          form, *std::move(made), 0};
}

}  // namespace calpe::tests
