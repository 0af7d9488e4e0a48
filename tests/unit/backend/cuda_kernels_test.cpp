// SPDX-License-Identifier: Apache-2.0
// Runs device kernels in PTX, of all styles and forms, through the CUDA driver and the PTX
// interpreter. Compares them with the program interpreter and with field arithmetic.
#include <array>
#include <chrono>
#include <iostream>

#include "backend/gpu/device_programs.hpp"
#include "base/text.hpp"
#include "conformance/random_program.hpp"
#include "support/device_stripes.hpp"
#include "support/emitted_cases.hpp"
#include "unit/backend/cuda_bench.hpp"

namespace calpe::backend::cuda {
namespace {

using conformance::field_of;
using conformance::Random;
using tests::DeviceSizes;
using tests::DeviceStripes;

struct FormCase {
  std::size_t word_bytes;
  bool is_baked;
  bool accumulate;
  unsigned group_items;
};
constexpr std::array form_cases = {
    FormCase{1, false, false, 64}, FormCase{1, true, true, 5},     FormCase{4, true, true, 32},
    FormCase{4, false, false, 7},  FormCase{16, false, true, 256}, FormCase{16, true, false, 4},
};

emit::DeviceForm form_of(const FormCase& c, std::size_t unit_stride) {
  return {.language = emit::DeviceLanguage::ptx,
          .word_bytes = c.word_bytes,
          .unit_stride = c.is_baked ? unit_stride : 0,
          .accumulate = c.accumulate,
          .group_items = c.group_items};
}

std::string name_of(const FormCase& c) {
  return text("word of ", c.word_bytes, c.is_baked ? ", baked stride" : "",
              c.accumulate ? ", accumulate" : "", ", groups of ", c.group_items);
}

// Sizes that no kernel is specialised for: some words, two groups, three stripes.
DeviceSizes sizes_of(const emit::DeviceShape& shape, const FormCase& c) {
  return {.shape = shape,
          .column_bytes = c.word_bytes * 13,
          .unit_stride = 512,
          .group_count = 2,
          .stripe_count = 3,
          .alignment = c.word_bytes,
          .accumulate = c.accumulate};
}

struct Table {
  std::vector<std::uint32_t> bits;
  std::size_t row_groups = 1;
};

class CudaKernelsTest : public CudaBench {
 protected:
  void SetUp() override {
    CudaBench::SetUp();
    std::cout << conformance::repeat_with() << '\n';
    calpe_ptx_delay(0, 0);
  }

  gpu::Launch launch_of_stripes(DeviceStripes& stripes, const gpu::Place& n, const gpu::Place& r,
                                const emit::DeviceForm& form) {
    const DeviceSizes& sizes = stripes.sizes();
    return {.n_base = reinterpret_cast<void*>(n.at),
            .r_base = reinterpret_cast<void*>(r.at),
            .shards = put(std::span<const std::uint64_t>(stripes.table())),
            .first = stripes.first(),
            .column_bytes = sizes.column_bytes,
            .unit_stride = sizes.unit_stride,
            .group_stride = sizes.group_stride(),
            .words = sizes.column_bytes / form.word_bytes,
            .groups = sizes.group_count,
            .stripes = sizes.stripe_count};
  }

  testing::AssertionResult run(const emit::DeviceText& text, const emit::DeviceForm& form,
                               DeviceStripes& stripes, const Table* table = nullptr) {
    const auto module = driver_->build(text, form);
    if (!module) return testing::AssertionFailure() << module.error().message;
    const gpu::Place n = put(std::span<const unsigned char>(stripes.n()));
    const gpu::Place r = put(std::span<const unsigned char>(stripes.r()));
    gpu::Launch launch = launch_of_stripes(stripes, n, r, form);
    gpu::Launch::Table arguments;
    launch.row_groups = text.row_groups;
    if (table != nullptr) {
      const DeviceSizes& sizes = stripes.sizes();
      arguments = {.bits = put(std::span<const std::uint32_t>(table->bits)),
                   .row_groups = table->row_groups,
                   .input_shards = sizes.shape.input_shards,
                   .output_shards = sizes.shape.output_shards,
                   .unit_count = sizes.shape.unit_count,
                   .accumulate = sizes.accumulate};
      launch.table = &arguments;
      launch.row_groups = table->row_groups;
    }
    const Status launched = queue_->launch(**module, launch);
    if (!launched) return testing::AssertionFailure() << launched.error().message;
    const Status copied =
        queue_->copy_out(reinterpret_cast<std::byte*>(stripes.r().data()), r, stripes.r().size());
    const Status waited = wait();
    if (!copied || !waited)
      return testing::AssertionFailure() << (copied ? waited : copied).error().message;
    return stripes.check();
  }
};

TEST_F(CudaKernelsTest, UnitsEqualTheInterpreter) {
  Random random = Random::of_test("cuda units");
  for (const FormCase& c : form_cases) {
    for (unsigned round = 0; round < 5; ++round) {
      SCOPED_TRACE(name_of(c));
      const ir::Program program = conformance::random_program(
          random, field_of(3),
          {.dialect = ir::Dialect::xor_, .input_shards = 5, .output_shards = 2, .temporaries = 9});
      const emit::DeviceShape shape = {.input_shards = 5, .output_shards = 2, .unit_count = 3};
      DeviceStripes stripes(random, sizes_of(shape, c));
      stripes.expect_units(program);
      const emit::DeviceForm form = form_of(c, 512);
      const auto text = emit::emit_units(shape, std::vector<emit::RowGroup>{{program, 0}}, form);
      ASSERT_TRUE(text) << text.error().message;
      ASSERT_TRUE(run(*text, form, stripes));
    }
  }
}

TEST_F(CudaKernelsTest, PlanesEqualProductsInTheField) {
  Random random = Random::of_test("cuda planes");
  for (const FormCase& c : form_cases) {
    for (const std::uint32_t inputs : {1U, 5U, 24U}) {
      SCOPED_TRACE(text(name_of(c), ", ", inputs, " inputs"));
      const gf::FieldRef field = field_of(8);
      gf::Matrix rows = conformance::random_matrix(random, *field, {4, inputs, 20});
      for (std::size_t column = 0; column < inputs; ++column) {
        rows(0, column) = 0;  // nothing to add up
        rows(1, column) = 1;  // nothing to double
      }
      const emit::DeviceShape shape = {.input_shards = inputs, .output_shards = 4};
      DeviceStripes stripes(random, sizes_of(shape, c));
      stripes.expect_product(*field, rows);
      const auto groups = gpu::plane_groups(field, rows, {.registers = 16});
      ASSERT_TRUE(groups);
      const emit::DeviceForm form = form_of(c, 0);
      const auto text = emit::emit_planes(shape, *groups, form);
      ASSERT_TRUE(text) << text.error().message;
      ASSERT_TRUE(run(*text, form, stripes));
    }
  }
}

TEST_F(CudaKernelsTest, SlicedBytesEqualProductsInTheField) {
  Random random = Random::of_test("cuda sliced");
  for (const FormCase& c : {FormCase{emit::sliced_word_bytes, false, false, 64},
                            FormCase{emit::sliced_word_bytes, false, true, 5}}) {
    for (const std::uint32_t inputs : {1U, 5U, 12U}) {
      SCOPED_TRACE(text(name_of(c), ", ", inputs, " inputs"));
      const gf::FieldRef field = field_of(8);
      gf::Matrix rows = conformance::random_matrix(random, *field, {4, inputs, 20});
      for (std::size_t column = 0; column < inputs; ++column) {
        rows(0, column) = 0;  // nothing to add up
        rows(1, column) = 1;
        rows(2, column) = rows(3, column);  // an output that is another one
      }
      const emit::DeviceShape shape = {.input_shards = inputs, .output_shards = 4};
      DeviceSizes sizes = sizes_of(shape, c);
      sizes.alignment = emit::sliced_word_bytes / 2;
      DeviceStripes stripes(random, sizes);
      stripes.expect_product(*field, rows);
      const auto groups = gpu::sliced_groups(field, rows, {.registers = 48});
      ASSERT_TRUE(groups);
      const emit::DeviceForm form = form_of(c, 0);
      const auto text = emit::emit_sliced(shape, *groups, form);
      ASSERT_TRUE(text) << text.error().message;
      ASSERT_TRUE(run(*text, form, stripes));
    }
  }
}

struct TableShape {
  std::uint32_t inputs;
  std::uint32_t outputs;
  std::uint32_t units;
};

TEST_F(CudaKernelsTest, TableKernelServesAnyUnits) {
  Random random = Random::of_test("cuda table units");
  constexpr std::array shapes = {TableShape{1, 1, 1}, TableShape{5, 2, 3}, TableShape{4, 8, 4},
                                 TableShape{10, 4, 8}, TableShape{7, 11, 3}};
  for (const FormCase& c : form_cases) {
    const emit::DeviceForm form = form_of(c, 0);
    const auto text = emit::emit_table(emit::TableStyle::units, form);
    ASSERT_TRUE(text) << text.error().message;
    for (const TableShape& s : shapes) {
      SCOPED_TRACE(calpe::text(name_of(c), ", ", s.inputs, "+", s.outputs));
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
      DeviceStripes stripes(random, sizes_of({s.inputs, s.outputs, s.units}, c));
      stripes.expect_units(program);
      const Table table = {emit::table_bits(map), (map.rows() + 31) / 32};
      ASSERT_TRUE(run(*text, form, stripes, &table));
    }
  }
}

TEST_F(CudaKernelsTest, TableKernelServesAnyMatrix) {
  Random random = Random::of_test("cuda table planes");
  for (const FormCase& c : form_cases) {
    const emit::DeviceForm form = form_of(c, 0);
    const auto text = emit::emit_table(emit::TableStyle::planes, form);
    ASSERT_TRUE(text) << text.error().message;
    constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 5> shapes = {
        {{1, 1}, {3, 2}, {10, 4}, {16, 16}, {223, 31}}};
    for (const auto& [inputs, outputs] : shapes) {
      if (inputs > 100 && c.word_bytes != 4) continue;  // a second each under a sanitizer
      SCOPED_TRACE(calpe::text(name_of(c), ", ", inputs, "+", outputs));
      const gf::FieldRef field = field_of(8);
      const gf::Matrix rows = conformance::random_matrix(random, *field, {outputs, inputs, 10});
      DeviceStripes stripes(random, sizes_of({inputs, outputs, 1}, c));
      stripes.expect_product(*field, rows);
      const gf::BitMatrix map = gpu::plane_map(rows);
      const Table table = {emit::table_bits(map), (map.rows() + 31) / 32};
      ASSERT_TRUE(run(*text, form, stripes, &table));
    }
  }
}

// A code in several row groups, as on a device. Prints the rate of the interpreter, to show when it
// becomes too slow.
TEST_F(CudaKernelsTest, RowGroupsOfACode) {
  Random random = Random::of_test("cuda row groups");
  const code::Code code = tests::cauchy_code({10, 4, 8});
  const gf::Matrix& rows = plan::encode_recipe(code).coefficients;
  const ir::Program direct = ir::lower_to_xor(ir::build(code.field, rows));
  const FormCase c = {16, true, false, 256};
  const DeviceSizes base = {
      .column_bytes = 4096, .unit_stride = 4096, .group_count = 2, .alignment = 16};
  const auto timed = [&](std::string_view name, const emit::DeviceText& text,
                         const emit::DeviceForm& form, DeviceStripes& stripes) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(run(text, form, stripes));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const auto bytes = static_cast<double>(stripes.n().size());
    std::cout << name << ", " << text.row_groups
              << " row groups: " << static_cast<int>(bytes / seconds.count() / 1e6)
              << " MB/s, interpreted\n";
  };
  {
    const auto groups = gpu::unit_groups(direct, {.registers = 128});
    ASSERT_TRUE(groups);
    DeviceSizes sizes = base;
    sizes.shape = {.input_shards = 10, .output_shards = 4, .unit_count = 8};
    DeviceStripes stripes(random, sizes);
    stripes.expect_units(direct);
    const emit::DeviceForm form = form_of(c, sizes.unit_stride);
    const auto text = emit::emit_units(sizes.shape, *groups, form);
    ASSERT_TRUE(text);
    timed("units 10+4", *text, form, stripes);
  }
  const auto groups = gpu::plane_groups(code.field, rows, {.registers = 30});
  ASSERT_TRUE(groups);
  EXPECT_GT(groups->size(), 1U);
  DeviceSizes sizes = base;
  sizes.shape = {.input_shards = 10, .output_shards = 4};
  sizes.group_count = 16;
  DeviceStripes stripes(random, sizes);
  stripes.expect_product(*code.field, rows);
  const emit::DeviceForm form = form_of(c, 0);
  const auto text = emit::emit_planes(sizes.shape, *groups, form);
  ASSERT_TRUE(text);
  timed("planes 10+4", *text, form, stripes);
}

}  // namespace
}  // namespace calpe::backend::cuda
