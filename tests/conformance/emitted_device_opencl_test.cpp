// SPDX-License-Identifier: Apache-2.0
// Runs device kernels in OpenCL C, of all styles and forms, on the first OpenCL device, and
// compares them with the interpreter and with arithmetic in the field.
#include <array>
#include <gtest/gtest.h>
#include <iostream>
#include <memory>

#include "backend/gpu/device_programs.hpp"
#include "conformance/random_program.hpp"
#include "support/emitted_cases.hpp"
#include "support/opencl_stripes.hpp"

namespace calpe::tests {
namespace {

using conformance::field_of;
using conformance::Random;

class DeviceOpenCl : public testing::Test {
 protected:
  void SetUp() override {
    if (runner_ == nullptr) runner_ = std::make_unique<OpenClRunner>();
    if (!runner_->missing().empty()) GTEST_SKIP() << runner_->missing();
    std::cout << runner_->device_name() << ", " << conformance::repeat_with() << '\n';
  }

  // This tests the meaning of the source code, so most is built without optimisation.
  static constexpr const char* quick = "-cl-std=CL1.2 -cl-opt-disable";

  // Opened once per process: opening a device takes half a second.
  static inline std::unique_ptr<OpenClRunner> runner_;
};

struct FormCase {
  std::size_t word_bytes;
  bool any_alignment;
  bool is_baked;
  bool accumulate;
  unsigned group_items;
};
constexpr std::array form_cases = {
    FormCase{1, false, false, false, 16}, FormCase{4, false, true, true, 8},
    FormCase{4, true, false, false, 5},   FormCase{16, false, false, true, 4},
    FormCase{16, true, true, false, 1},   FormCase{64, false, true, false, 2},
    FormCase{64, true, false, true, 2},
};

emit::DeviceForm form_of(const FormCase& c, std::size_t unit_stride) {
  return {.word_bytes = c.word_bytes,
          .any_alignment = c.any_alignment,
          .unit_stride = c.is_baked ? unit_stride : 0,
          .accumulate = c.accumulate,
          .group_items = c.group_items};
}

std::string name_of(const FormCase& c) {
  return text("word of ", c.word_bytes, c.any_alignment ? ", any alignment" : "",
              c.is_baked ? ", baked stride" : "", c.accumulate ? ", accumulate" : "");
}

// Sizes that no kernel is made for: three and a half words, two groups, three stripes.
DeviceSizes sizes_of(const emit::DeviceShape& shape, const FormCase& c) {
  return {.shape = shape,
          .column_bytes = c.word_bytes * 7 + (c.any_alignment ? 3 : 0),
          .unit_stride = 512,
          .group_count = 2,
          .stripe_count = 3,
          .alignment = c.any_alignment ? 1 : c.word_bytes,
          .accumulate = c.accumulate};
}

// One source for whole words and one for single bytes, as in a backend.
struct Texts {
  emit::DeviceText words;
  emit::DeviceText bytes;
  emit::DeviceForm form;
  emit::DeviceForm byte_form;
};

template <class Emit>
Texts texts_of(const emit::DeviceForm& form, const Emit& emit) {
  Texts texts{.words = {}, .bytes = {}, .form = form, .byte_form = form};
  texts.byte_form.word_bytes = 1;
  texts.byte_form.any_alignment = false;
  texts.words = *emit(texts.form);
  texts.bytes = *emit(texts.byte_form);
  return texts;
}

testing::AssertionResult run(OpenClRunner& runner, const char* options, const Texts& texts,
                             DeviceStripes& stripes, Addressing how,
                             const DeviceTable* table = nullptr) {
  OpenClStripes device(runner, stripes, how);
  const std::size_t bytes = stripes.sizes().column_bytes;
  const std::size_t whole = bytes / texts.form.word_bytes * texts.form.word_bytes;
  testing::AssertionResult result = runner.build(texts.words.text, options);
  if (result) result = device.run(texts.words, texts.form, 0, whole, table);
  if (result && whole < bytes) {
    result = runner.build(texts.bytes.text, options);
    if (result) result = device.run(texts.bytes, texts.byte_form, whole, bytes - whole, table);
  }
  if (result) result = device.take();
  return result ? stripes.check() : result;
}

TEST_F(DeviceOpenCl, units_equal_the_interpreter) {
  Random random = Random::of_test("device units");
  for (const FormCase& c : form_cases) {
    SCOPED_TRACE(name_of(c));
    const ir::Program program = conformance::random_program(
        random, field_of(3),
        {.dialect = ir::Dialect::xor_, .input_shards = 5, .output_shards = 2, .temporaries = 9});
    const emit::DeviceShape shape = {.input_shards = 5, .output_shards = 2, .unit_count = 3};
    DeviceStripes stripes(random, sizes_of(shape, c));
    stripes.expect_units(program);
    const std::vector<emit::RowGroup> groups = {{program, 0}};
    const Texts texts = texts_of(form_of(c, 512), [&](const emit::DeviceForm& form) {
      return emit::emit_units(shape, groups, form);
    });
    ASSERT_TRUE(run(*runner_, quick, texts, stripes, Addressing::offsets));
  }
}

TEST_F(DeviceOpenCl, planes_equal_products_in_the_field) {
  Random random = Random::of_test("device planes");
  for (const FormCase& c : form_cases) {
    SCOPED_TRACE(name_of(c));
    const gf::FieldRef field = field_of(8);
    gf::Matrix rows = conformance::random_matrix(random, *field, {4, 5, 20});
    for (std::size_t column = 0; column < 5; ++column) {
      rows(0, column) = 0;  // nothing to add
      rows(1, column) = 1;  // nothing to double
    }
    const emit::DeviceShape shape = {.input_shards = 5, .output_shards = 4};
    DeviceStripes stripes(random, sizes_of(shape, c));
    stripes.expect_product(*field, rows);
    const auto groups = backend::gpu::plane_groups(field, rows, {.registers = 16});
    ASSERT_TRUE(groups);
    const Texts texts = texts_of(form_of(c, 512), [&](const emit::DeviceForm& form) {
      return emit::emit_planes(shape, *groups, form);
    });
    ASSERT_TRUE(run(*runner_, quick, texts, stripes, Addressing::addresses));
  }
}

TEST_F(DeviceOpenCl, sliced_bytes_equal_products_in_the_field) {
  Random random = Random::of_test("device sliced");
  for (const FormCase& c : {FormCase{emit::sliced_word_bytes, false, false, false, 4},
                            FormCase{emit::sliced_word_bytes, true, false, true, 3}}) {
    SCOPED_TRACE(name_of(c));
    const gf::FieldRef field = field_of(8);
    const gf::Matrix rows = conformance::random_matrix(random, *field, {4, 5, 20});
    const emit::DeviceShape shape = {.input_shards = 5, .output_shards = 4};
    DeviceSizes sizes = sizes_of(shape, c);
    sizes.alignment = c.any_alignment ? 1 : emit::sliced_word_bytes / 2;
    DeviceStripes stripes(random, sizes);
    stripes.expect_product(*field, rows);
    const auto sliced = backend::gpu::sliced_groups(field, rows, {.registers = 40});
    const auto planes = backend::gpu::plane_groups(field, rows, {.registers = 16});
    ASSERT_TRUE(sliced && planes);
    EXPECT_GT(sliced->size(), 1U);
    const Texts texts = texts_of(form_of(c, 512), [&](const emit::DeviceForm& form) {
      return form.word_bytes == 1 ? emit::emit_planes(shape, *planes, form)
                                  : emit::emit_sliced(shape, *sliced, form);
    });
    ASSERT_TRUE(run(*runner_, quick, texts, stripes, Addressing::addresses));
  }
}

// Optimised programs in several row groups, also optimised by the compiler.
TEST_F(DeviceOpenCl, row_groups_of_codes) {
  Random random = Random::of_test("device row groups");
  const FormCase c = {64, false, true, false, 2};
  const code::Code code = cauchy_code({10, 4, 8});
  const gf::Matrix& rows = plan::encode_recipe(code).coefficients;
  const ir::Program direct = ir::lower_to_xor(ir::build(code.field, rows));
  {
    const auto groups = backend::gpu::unit_groups(
        direct, backend::gpu::limits_for(form_of(c, 512), direct.inputs(), false));
    ASSERT_TRUE(groups);
    EXPECT_EQ(groups->size(), 1U);
    const emit::DeviceShape shape = {.input_shards = 10, .output_shards = 4, .unit_count = 8};
    DeviceStripes stripes(random, sizes_of(shape, c));
    stripes.expect_units(direct);
    const Texts texts = texts_of(form_of(c, 512), [&](const emit::DeviceForm& form) {
      return emit::emit_units(shape, *groups, form);
    });
    ASSERT_TRUE(run(*runner_, "-cl-std=CL1.2", texts, stripes, Addressing::addresses));
  }
  const auto groups = backend::gpu::plane_groups(code.field, rows, {.registers = 30});
  ASSERT_TRUE(groups);
  EXPECT_GT(groups->size(), 1U);
  const emit::DeviceShape shape = {.input_shards = 10, .output_shards = 4};
  DeviceStripes stripes(random, sizes_of(shape, c));
  stripes.expect_product(*code.field, rows);
  const Texts texts = texts_of(form_of(c, 512), [&](const emit::DeviceForm& form) {
    return emit::emit_planes(shape, *groups, form);
  });
  ASSERT_TRUE(run(*runner_, "-cl-std=CL1.2", texts, stripes, Addressing::offsets));
}

struct TableShape {
  std::uint32_t inputs;
  std::uint32_t outputs;
  std::uint32_t units;
};

TEST_F(DeviceOpenCl, table_kernel_handles_any_units) {
  Random random = Random::of_test("device table units");
  constexpr std::array shapes = {TableShape{1, 1, 1},   TableShape{5, 2, 3},   TableShape{4, 8, 4},
                                 TableShape{10, 4, 8},  TableShape{16, 16, 8}, TableShape{7, 11, 3},
                                 TableShape{223, 32, 8}};
  for (const FormCase& c : form_cases) {
    SCOPED_TRACE(name_of(c));
    const Texts texts = texts_of(form_of(c, 512), [&](const emit::DeviceForm& form) {
      return emit::emit_table(emit::TableStyle::units, form);
    });
    for (const TableShape& s : shapes) {
      SCOPED_TRACE(text(s.inputs, "+", s.outputs, ", ", s.units, " units"));
      const emit::DeviceShape shape = {s.inputs, s.outputs, s.units};
      ir::Program program(field_of(8), {.dialect = ir::Dialect::xor_,
                                        .inputs = s.inputs * s.units,
                                        .outputs = s.outputs * s.units,
                                        .unit_count = s.units});
      gf::BitMatrix map(s.outputs * s.units, s.inputs * s.units);
      for (std::uint32_t r = 0; r < map.rows(); ++r) {
        std::vector<ir::Term> terms;
        for (std::uint32_t column = 0; column < map.columns(); ++column) {
          if (random.coin()) terms.push_back({.value = column});
        }
        for (const ir::Term& term : terms)
          map.flip(r, term.value);
        program.append(program.output(r), terms);
      }
      DeviceStripes stripes(random, sizes_of(shape, c));
      stripes.expect_units(program);
      const DeviceTable table = {emit::table_bits(map), (map.rows() + 31) / 32};
      ASSERT_TRUE(run(*runner_, quick, texts, stripes, Addressing::offsets, &table));
    }
  }
}

TEST_F(DeviceOpenCl, table_kernel_handles_any_matrix) {
  Random random = Random::of_test("device table planes");
  for (const FormCase& c : form_cases) {
    SCOPED_TRACE(name_of(c));
    const Texts texts = texts_of(form_of(c, 0), [&](const emit::DeviceForm& form) {
      return emit::emit_table(emit::TableStyle::planes, form);
    });
    constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 5> shapes = {
        {{1, 1}, {3, 2}, {10, 4}, {16, 16}, {223, 31}}};
    for (const auto& [inputs, outputs] : shapes) {
      SCOPED_TRACE(text(inputs, "+", outputs));
      const gf::FieldRef field = field_of(8);
      const gf::Matrix rows = conformance::random_matrix(random, *field, {outputs, inputs, 10});
      DeviceStripes stripes(random, sizes_of({inputs, outputs, 1}, c));
      stripes.expect_product(*field, rows);
      const gf::BitMatrix map = backend::gpu::plane_map(rows);
      const DeviceTable table = {emit::table_bits(map), (map.rows() + 31) / 32};
      ASSERT_TRUE(run(*runner_, quick, texts, stripes, Addressing::addresses, &table));
    }
  }
}

}  // namespace
}  // namespace calpe::tests
