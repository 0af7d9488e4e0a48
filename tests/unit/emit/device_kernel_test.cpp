// SPDX-License-Identifier: Apache-2.0
// Tests of device source code that need no device: refusals and the instructions used.
#include "emit/device_kernel.hpp"

#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "conformance/random_program.hpp"

namespace calpe::emit {
namespace {

using conformance::field_of;
using conformance::Random;

ir::Program xor_program(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t units) {
  ir::Program program(
      field_of(8),
      {.dialect = ir::Dialect::xor_, .inputs = inputs, .outputs = outputs, .unit_count = units});
  std::vector<ir::Term> terms;
  for (ir::Value v = 0; v < inputs; ++v)
    terms.push_back({.value = v});
  for (std::uint32_t r = 0; r < outputs; ++r)
    program.append(program.output(r), terms);
  return program;
}

std::string error_of(const Result<DeviceText>& result) {
  if (result) return "";
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  return result.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DeviceKernel, unknown_forms_are_refused) {
  const auto error = [](const DeviceForm& form) {
    return error_of(emit_table(TableStyle::units, form));
  };
  EXPECT_EQ(error({.word_bytes = 8}), "word_bytes is 8; expected 1, 4 or 16, or 64");
  EXPECT_EQ(error({.language = DeviceLanguage::ptx, .word_bytes = 64}),
            "word_bytes is 64; expected 1, 4 or 16 for PTX");
  EXPECT_EQ(error({.language = DeviceLanguage::spirv, .word_bytes = 64}),
            "word_bytes is 64; expected 1, 4 or 16 for SPIR-V");
  EXPECT_EQ(error({.language = DeviceLanguage::ptx, .any_alignment = true}),
            "any_alignment needs OpenCL");
  EXPECT_EQ(error({.group_items = 0}), "group_items is 0; expected 1 to 1024");
  EXPECT_EQ(error({.group_items = 1025}), "group_items is 1025; expected 1 to 1024");
  EXPECT_EQ(error({.word_bytes = 16, .unit_stride = 24}),
            "unit_stride is 24; expected a multiple of 16 of at most 67108864");
  EXPECT_EQ(error({.word_bytes = 64, .any_alignment = true, .unit_stride = 512}), "");
}

TEST(DeviceKernel, row_groups_must_fit_the_shape) {
  const auto units = [](const DeviceShape& shape, const RowGroup& group) {
    return error_of(emit_units(shape, std::vector{group}, {}));
  };
  EXPECT_EQ(units({2, 1, 3}, {xor_program(6, 3, 3), 0}), "");
  EXPECT_EQ(units({3, 1, 3}, {xor_program(6, 3, 3), 0}),
            "program has 6 inputs; expected 3 shards of 3 units");
  EXPECT_EQ(units({2, 1, 3}, {xor_program(6, 3, 3), 1}),
            "row group has 3 outputs starting at 1; expected some of 3");
  EXPECT_EQ(units({2, 1, 3}, {ir::build(field_of(8), gf::Matrix(1, 2)), 0}),
            "program is in the gf dialect; expected xor");
  EXPECT_EQ(error_of(emit_units({2, 1, 3}, {}, {})),
            "kernel has 2 input shards of 3 units and 0 row groups; expected at least one of each");

  const auto planes = [](const DeviceShape& shape, const RowGroup& group) {
    return error_of(emit_planes(shape, std::vector{group}, {}));
  };
  EXPECT_EQ(planes({2, 2, 1}, {xor_program(2, 8, 1), 1}), "");
  EXPECT_EQ(planes({2, 2, 1}, {xor_program(2, 12, 1), 0}),
            "row group has 12 outputs starting at 0; expected eight planes each for some of 2");
  EXPECT_EQ(planes({1, 2, 2}, {xor_program(2, 8, 1), 0}), "unit_count is 2; expected 1 for bytes");
}

TEST(DeviceKernel, sliced_bytes_have_eight_inputs_per_shard) {
  const auto sliced = [](const DeviceShape& shape, const DeviceForm& form) {
    return error_of(emit_sliced(shape, std::vector<RowGroup>{{xor_program(16, 8, 8), 0}}, form));
  };
  EXPECT_EQ(sliced({2, 1, 1}, {.word_bytes = sliced_word_bytes}), "");
  EXPECT_EQ(sliced({2, 1, 1}, {.word_bytes = 16}),
            "word_bytes is 16; expected 32 for sliced bytes");
  EXPECT_EQ(sliced({3, 1, 1}, {.word_bytes = sliced_word_bytes}),
            "program has 16 inputs; expected 3 shards of 8 units");
  EXPECT_EQ(sliced({2, 1, 8}, {.word_bytes = sliced_word_bytes}),
            "unit_count is 8; expected 1 for bytes");
}

TEST(DeviceKernel, an_unsound_program_is_refused) {
  const ir::Program twice(field_of(2), {.dialect = ir::Dialect::xor_, .inputs = 1, .outputs = 1},
                          {.instructions = {{1, 0, 0}, {1, 0, 0}}});
  EXPECT_NE(error_of(emit_units({1, 1, 1}, std::vector<RowGroup>{{twice, 0}}, {})), "");
}

TEST(DeviceKernel, one_entry_for_all_row_groups) {
  const std::vector<RowGroup> groups = {{xor_program(6, 3, 3), 0}, {xor_program(6, 6, 3), 3}};
  for (const DeviceLanguage language :
       {DeviceLanguage::opencl, DeviceLanguage::ptx, DeviceLanguage::spirv}) {
    const auto made = emit_units({2, 3, 3}, groups, {.language = language});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->entries, std::vector<std::string>{"calpe_units"});
    EXPECT_EQ(made->row_groups, 2U);
    EXPECT_TRUE(
        has(made->text, language == DeviceLanguage::spirv ? "calpe_units" : "calpe_units("));
    EXPECT_EQ(emit_units({2, 3, 3}, groups, {.language = language})->text, made->text);
  }
}

TEST(DeviceKernel, a_constant_stride_is_in_the_addresses) {
  const std::vector<RowGroup> groups = {{xor_program(6, 3, 3), 0}};
  DeviceForm form = {.language = DeviceLanguage::ptx, .word_bytes = 16, .unit_stride = 512};
  const auto baked = emit_units({2, 1, 3}, groups, form);
  ASSERT_TRUE(baked);
  EXPECT_TRUE(has(baked->text, "ld.global.nc.v4.u32 {a5, b5, c5, d5}, [n1+1024];"));
  EXPECT_FALSE(has(baked->text, "mad.lo.u64 address"));
  form.unit_stride = 0;
  EXPECT_TRUE(has(emit_units({2, 1, 3}, groups, form)->text, "mad.lo.u64 address, stride, 2, n1;"));
}

// The PTX interpreter of the tests must know these opcodes and no others.
const std::set<std::string> ptx_opcodes = {
    "add.u32",          "add.u64",
    "and.b32",          "bar.sync",
    "bfe.s32",          "bra",
    "cvt.u64.u32",      "div.u32",
    "ld.global.nc.u32", "ld.global.nc.u64",
    "ld.global.nc.u8",  "ld.global.nc.v4.u32",
    "ld.global.u32",    "ld.global.u8",
    "ld.global.v4.u32", "ld.param.u32",
    "ld.param.u64",     "ld.shared.u32",
    "lop3.b32",         "mad.lo.u64",
    "mov.b32",          "mov.u32",
    "mul.lo.u32",       "mul.wide.u32",
    "mov.b64",          "prmt.b32",
    "rem.u32",          "ret",
    "setp.eq.u32",      "setp.ge.u32",
    "setp.ge.u64",      "setp.le.u32",
    "setp.lt.u32",      "setp.ne.u32",
    "setp.ne.u64",      "shl.b32",
    "shl.b64",          "shr.b32",
    "shr.u64",          "st.global.u32",
    "st.global.u8",     "st.global.v4.u32",
    "st.shared.u32",    "sub.u32",
    "xor.b32",
};

void collect_opcodes(const std::string& text, std::set<std::string>& opcodes) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (!line.starts_with("  ") || !(words >> word)) continue;
    if (word.starts_with('@')) words >> word;
    if (word.starts_with('.')) continue;  // a declaration
    if (word.ends_with(';')) word.pop_back();
    opcodes.insert(word);
  }
}

TEST(DeviceKernel, ptx_uses_few_instructions) {
  Random random = Random::of_test("opcodes");
  const ir::Program program = conformance::random_program(
      random, field_of(8),
      {.dialect = ir::Dialect::xor_, .input_shards = 3, .output_shards = 1, .temporaries = 9});
  ir::Program planes(field_of(8), {.dialect = ir::Dialect::xor_, .inputs = 3, .outputs = 8});
  for (std::uint32_t b = 0; b < 8; ++b) {
    if (b % 3 == 0) planes.append(planes.output(b), {});
    if (b % 3 != 0) planes.append(planes.output(b), std::vector<ir::Term>{{b % 3}, {0}});
  }
  std::set<std::string> opcodes;
  for (const std::size_t word : {std::size_t{1}, std::size_t{4}, std::size_t{16}}) {
    for (const bool accumulate : {false, true}) {
      const DeviceForm form = {
          .language = DeviceLanguage::ptx, .word_bytes = word, .accumulate = accumulate};
      DeviceForm sliced = form;
      sliced.word_bytes = sliced_word_bytes;
      for (const auto& made :
           {emit_units({3, 1, 8}, std::vector<RowGroup>{{program, 0}}, form),
            emit_units({3, 2, 8}, std::vector<RowGroup>{{program, 0}, {program, 8}}, form),
            emit_sliced({3, 1, 1}, std::vector<RowGroup>{{program, 0}}, sliced),
            emit_planes({3, 1, 1}, std::vector<RowGroup>{{planes, 0}}, form),
            emit_table(TableStyle::units, form), emit_table(TableStyle::planes, form)}) {
        ASSERT_TRUE(made) << made.error().message;
        EXPECT_TRUE(made->text.starts_with(".version 6.0\n.target sm_50\n.address_size 64\n"));
        collect_opcodes(made->text, opcodes);
      }
    }
  }
  EXPECT_EQ(opcodes, ptx_opcodes);
}

TEST(DeviceKernel, table_bits_are_columns_of_32_rows) {
  gf::BitMatrix map(34, 3);
  map.flip(0, 0);
  map.flip(31, 0);
  map.flip(5, 2);
  map.flip(33, 2);
  EXPECT_EQ(table_bits(map), (std::vector<std::uint32_t>{0x80000001U, 0, 0x20U, 0, 0, 2}));
}

// 64-bit additions per work-item dominate on GPUs without 64-bit adders: 550 instead of 294
// instructions for 10+4 bytes on Intel's Arc.
TEST(DeviceKernel, opencl_addresses_are_uniform_but_for_a_32_bit_offset) {
  const Result<DeviceText> units =
      emit_units({2, 1, 3}, std::vector{RowGroup{xor_program(6, 3, 3), 0}}, {});
  ASSERT_TRUE(units);
  const Result<DeviceText> table = emit_table(TableStyle::planes, {});
  for (const auto& [text, words, id] :
       {std::tuple{&units, "(uint)get_global_id(0)", "get_global_id"},
        std::tuple{&table,
                   "((uint)get_group_id(0) / (uint)row_groups * 64 + (uint)get_local_id(0))",
                   "(uint)get_local_id"}}) {
    ASSERT_TRUE(*text);
    const std::string& source = (*text)->text;
    EXPECT_TRUE(has(source, calpe::text("const uint x = ", words, " * WORD_BYTES;")));
    EXPECT_TRUE(has(source, "const ulong at = first + get_group_id(1) * group_stride;"));
    // The only work-item number that an address depends on.
    EXPECT_EQ(source.find(id, source.find(id) + 1), std::string::npos);
    EXPECT_FALSE(has(source, "(ulong)n_base"));
    EXPECT_FALSE(has(source, "(ulong)r_base"));
  }
}

}  // namespace
}  // namespace calpe::emit
