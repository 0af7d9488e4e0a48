// SPDX-License-Identifier: Apache-2.0
// Checks common to all device source code: valid forms, and row groups that fit the shape.
#include "emit/device_kernel.hpp"

#include "base/text.hpp"
#include "base/try.hpp"
#include "emit/device_walk.hpp"
#include "ir/verify.hpp"

namespace calpe::emit {

namespace {

constexpr unsigned group_items_max = 1024;
// A PTX offset is a signed 32-bit number; a shard has at most 16 units.
constexpr std::size_t unit_stride_max = std::size_t{1} << 26U;

Status check_form(const DeviceForm& form, bool is_sliced = false) {
  const bool is_opencl = form.language == DeviceLanguage::opencl;
  const std::size_t bytes = form.word_bytes;
  if (is_sliced && bytes != sliced_word_bytes) {
    return invalid("word_bytes is ", bytes, "; expected ", sliced_word_bytes, " for sliced bytes");
  }
  if (!is_sliced && bytes != 1 && bytes != 4 && bytes != 16 && !(is_opencl && bytes == 64)) {
    return invalid("word_bytes is ", bytes, "; expected 1, 4 or 16",
                   is_opencl                                ? ", or 64"
                   : form.language == DeviceLanguage::spirv ? " for SPIR-V"
                                                            : " for PTX");
  }
  if (!is_opencl && form.any_alignment) return invalid("any_alignment needs OpenCL");
  if (form.group_items == 0 || form.group_items > group_items_max) {
    return invalid("group_items is ", form.group_items, "; expected 1 to ", group_items_max);
  }
  if (form.unit_stride > unit_stride_max || form.unit_stride % bytes != 0) {
    return invalid("unit_stride is ", form.unit_stride, "; expected a multiple of ", bytes,
                   " of at most ", unit_stride_max);
  }
  return Done{};
}

Status check_group(const DeviceShape& shape, const RowGroup& group, DeviceStyle style) {
  const ir::Program& program = group.program;
  if (program.dialect() != ir::Dialect::xor_) {
    return invalid("program is in the gf dialect; expected xor");
  }
  CALPE_CHECK(ir::verify(program));
  const std::uint32_t per_input = style == DeviceStyle::sliced ? planes_per_byte : shape.unit_count;
  if (program.inputs() != shape.input_shards * per_input) {
    return invalid("program has ", program.inputs(), " inputs; expected ", shape.input_shards,
                   " shards of ", per_input, " units");
  }
  const bool is_planes = style != DeviceStyle::units;
  const std::uint32_t per_output = is_planes ? planes_per_byte : 1;
  const std::uint64_t outputs = std::uint64_t{shape.output_shards} * shape.unit_count;
  const std::uint64_t end = std::uint64_t{group.first_output} + program.outputs() / per_output;
  if (program.outputs() == 0 || program.outputs() % per_output != 0 || end > outputs) {
    return invalid("row group has ", program.outputs(), " outputs starting at ", group.first_output,
                   "; expected ", is_planes ? "eight planes each for some of " : "some of ",
                   outputs);
  }
  return Done{};
}

std::string_view name_of(DeviceStyle style) {
  switch (style) {
    case DeviceStyle::planes:
      return "calpe_planes";
    case DeviceStyle::sliced:
      return "calpe_sliced";
    case DeviceStyle::units:
      break;
  }
  return "calpe_units";
}

std::string text_of(const DeviceEntry& entry) {
  switch (entry.form.language) {
    case DeviceLanguage::opencl:
      return opencl_prelude(entry.form) + opencl_kernel(entry);
    case DeviceLanguage::spirv:
      return spirv_kernel(entry);
    case DeviceLanguage::ptx:
      break;
  }
  return ptx_prelude() + ptx_kernel(entry);
}

Result<DeviceText> emit_entry(const DeviceShape& shape, std::span<const RowGroup> groups,
                              const DeviceForm& form, DeviceStyle style) {
  CALPE_CHECK(check_form(form, style == DeviceStyle::sliced));
  if (shape.input_shards == 0 || shape.unit_count == 0 || groups.empty()) {
    return invalid("kernel has ", shape.input_shards, " input shards of ", shape.unit_count,
                   " units and ", groups.size(), " row groups; expected at least one of each");
  }
  if (style != DeviceStyle::units && shape.unit_count != 1) {
    return invalid("unit_count is ", shape.unit_count, "; expected 1 for bytes");
  }
  for (const RowGroup& group : groups)
    CALPE_CHECK(check_group(shape, group, style));
  const DeviceEntry entry = {.shape = shape,
                             .groups = groups,
                             .form = form,
                             .style = style,
                             .name = std::string(name_of(style))};
  return DeviceText{.text = text_of(entry),
                    .entries = {entry.name},
                    .row_groups = static_cast<std::uint32_t>(groups.size()),
                    .word_bytes = form.word_bytes};
}

}  // namespace

std::string_view name_of(DeviceLanguage language) {
  switch (language) {
    case DeviceLanguage::opencl:
      return "opencl";
    case DeviceLanguage::spirv:
      return "spirv";
    case DeviceLanguage::ptx:
      break;
  }
  return "ptx";
}

std::string_view file_name_of(DeviceLanguage language) {
  switch (language) {
    case DeviceLanguage::opencl:
      return "kernel.cl";
    case DeviceLanguage::spirv:
      return "kernel.spv";
    case DeviceLanguage::ptx:
      break;
  }
  return "kernel.ptx";
}

Result<DeviceText> emit_units(const DeviceShape& shape, std::span<const RowGroup> groups,
                              const DeviceForm& form) {
  return emit_entry(shape, groups, form, DeviceStyle::units);
}

Result<DeviceText> emit_planes(const DeviceShape& shape, std::span<const RowGroup> groups,
                               const DeviceForm& form) {
  return emit_entry(shape, groups, form, DeviceStyle::planes);
}

Result<DeviceText> emit_sliced(const DeviceShape& shape, std::span<const RowGroup> groups,
                               const DeviceForm& form) {
  return emit_entry(shape, groups, form, DeviceStyle::sliced);
}

Result<DeviceText> emit_table(TableStyle style, const DeviceForm& form) {
  CALPE_CHECK(check_form(form));
  const std::size_t bytes = form.word_bytes;
  const std::string name = style == TableStyle::planes ? "calpe_table_planes" : "calpe_table_units";
  switch (form.language) {
    case DeviceLanguage::opencl:
      return DeviceText{
          text(opencl_prelude(form), opencl_table(style, form, name)), {name}, 1, bytes};
    case DeviceLanguage::spirv:
      return DeviceText{spirv_table(style, form, name), {name}, 1, bytes};
    case DeviceLanguage::ptx:
      break;
  }
  return DeviceText{text(ptx_prelude(), ptx_table(style, form, name)), {name}, 1, bytes};
}

std::vector<std::uint32_t> table_bits(const gf::BitMatrix& map) {
  const std::size_t row_groups = (map.rows() + table_rows - 1) / table_rows;
  std::vector<std::uint32_t> bits(row_groups * map.columns());
  for (std::size_t r = 0; r < map.rows(); ++r) {
    for (std::size_t c = 0; c < map.columns(); ++c) {
      if (!map.get(r, c)) continue;
      bits[r / table_rows * map.columns() + c] |= std::uint32_t{1} << (r % table_rows);
    }
  }
  return bits;
}

}  // namespace calpe::emit
