// SPDX-License-Identifier: Apache-2.0
// Properties of the CPU device that the conformance suite does not cover: choice of path, errors,
// allocations, and shapes at its limits.
#include "backend/cpu/cpu_device.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/cpu_kernels.hpp"
#include "backend/cpu/xor_runner.hpp"
#include "base/cpu_features.hpp"
#include "conformance/random_transform.hpp"
#include "ir/interpret.hpp"
#include "ir/lower_to_xor.hpp"
#include "support/environment_scope.hpp"

namespace {
std::atomic<std::size_t> allocation_count = 0;
}

// Counts allocations, which submit() must not do. Not inlined, or g++ would report mismatched
// malloc and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocation_count;
  if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace calpe::backend::cpu {
namespace {

class CalpeCpu {  // sets CALPE_CPU for a scope
 public:
  explicit CalpeCpu(const char* value)
      : scope_("CALPE_CPU", value == nullptr ? std::nullopt : std::optional<std::string>(value)) {}

 private:
  tests::EnvironmentScope scope_;
};

std::string name_or_error(std::string_view variant) {
  const auto device = open_cpu(variant);
  return device ? std::string((*device)->name()) : device.error().message;
}

// The paths of this build, best last: "scalar, ssse3, ...".
std::string all_paths() {
  std::string names;
  for (const BackendStatus& row : list_cpu()) {
    if (row.name != "cpu") names += (names.empty() ? "" : ", ") + row.name.substr(4);
  }
  return names;
}

TEST(CpuChoice, environment_forces_a_path_unless_the_caller_names_one) {
  const CalpeCpu scalar("scalar");
  EXPECT_EQ(name_or_error(""), "cpu:scalar");
  const auto rows = list_cpu();
  EXPECT_EQ(rows.front().name, "cpu");
  EXPECT_EQ(rows.front().description, "uses cpu:scalar");
  for (const BackendStatus& row : rows) {
    if (row.name == "cpu" || !row.available) continue;
    EXPECT_EQ(name_or_error(row.name.substr(4)), row.name);
  }
}

TEST(CpuChoice, best_available_path_by_default) {
  for (const char* unset : {static_cast<const char*>(nullptr), ""}) {
    const CalpeCpu none(unset);
    std::string best;
    for (const BackendStatus& row : list_cpu()) {
      if (row.available) best = row.name;
    }
    EXPECT_EQ(name_or_error(""), best);
  }
}

TEST(CpuChoice, unknown_names_are_refused_and_known_ones_listed) {
  const CalpeCpu wrong("avx9");
  const std::string expected = " is not a CPU path; expected one of " + all_paths();
  EXPECT_EQ(name_or_error(""), "CALPE_CPU=avx9" + expected);
  EXPECT_EQ(open_cpu("").error().code, ErrorCode::backend_unavailable);
  EXPECT_FALSE(list_cpu().front().available);
  EXPECT_EQ(list_cpu().front().reason, "CALPE_CPU=avx9" + expected);

  EXPECT_EQ(name_or_error("avx9"), "cpu:avx9" + expected);
  EXPECT_EQ(open_cpu("avx9").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(name_or_error("scalar"), "cpu:scalar");
}

TEST(CpuChoice, paths_that_the_cpu_lacks_are_refused_with_the_reason) {
  for (const BackendStatus& row : list_cpu()) {
    if (row.name == "cpu" || row.available) continue;
    EXPECT_TRUE(row.reason.starts_with("this CPU has no ")) << row.reason;
    const std::string path = row.name.substr(4);
    EXPECT_EQ(name_or_error(path), row.name + ": " + row.reason);
    EXPECT_EQ(open_cpu(path).error().code, ErrorCode::backend_unavailable);
    const CalpeCpu forced(path.c_str());
    EXPECT_EQ(name_or_error(""), "CALPE_CPU=" + path + ": " + row.reason);
  }
}

TEST(CpuChoice, availability_follows_the_features) {
  for (const BackendStatus& row : list_cpu()) {
    if (row.name == "cpu:avx512") {
      EXPECT_EQ(row.available, cpu_features().avx512);
    }
    if (row.name == "cpu:ssse3") {
      EXPECT_EQ(row.available, cpu_features().ssse3);
    }
  }
}

class CpuDeviceOf : public testing::TestWithParam<std::string> {
 protected:
  // Runs the program on random stripes and compares with the interpreter. Shards are `unit_count`
  // units of `unit_bytes`, one group.
  void expect_right(const ir::Program& program, std::size_t unit_bytes, bool accumulate) {
    expect_right(device_->compile(program), program, unit_bytes, accumulate);
  }
  // For a kernel built from an equivalent of the program.
  void expect_right(const Result<KernelRef>& kernel, const ir::Program& program,
                    std::size_t unit_bytes, bool accumulate);

  const std::unique_ptr<Device> device_ = *open_cpu(GetParam());
  const gf::FieldRef field_ = *gf::Field::create(8, 0x11D);
  std::mt19937 random_{7};
};

std::vector<std::string> available_paths() {
  std::vector<std::string> names;
  for (const BackendStatus& row : list_cpu()) {
    if (row.available && row.name != "cpu") names.push_back(row.name.substr(4));
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(paths, CpuDeviceOf, testing::ValuesIn(available_paths()),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           for (char& letter : name)
                             letter = letter == '-' ? '_' : letter;
                           return name;
                         });

using Shards = std::vector<std::vector<std::byte>>;

Shards random_shards(std::mt19937& random, std::size_t count, std::size_t bytes) {
  Shards shards(count, std::vector<std::byte>(bytes));
  for (auto& shard : shards) {
    for (std::byte& byte : shard)
      byte = static_cast<std::byte>(random());
  }
  return shards;
}

template <class Byte>
std::vector<Byte*> units_of(Shards& shards, std::size_t unit_count, std::size_t unit_bytes) {
  std::vector<Byte*> units;
  for (auto& shard : shards) {
    for (std::size_t u = 0; u < unit_count; ++u)
      units.push_back(shard.data() + u * unit_bytes);
  }
  return units;
}

void CpuDeviceOf::expect_right(const Result<KernelRef>& kernel, const ir::Program& program,
                               std::size_t unit_bytes, bool accumulate) {
  ASSERT_TRUE(kernel) << kernel.error().message;
  const std::size_t units = program.unit_count();
  Shards inputs = random_shards(random_, program.input_shards(), units * unit_bytes);
  Shards outputs = random_shards(random_, program.output_shards(), units * unit_bytes);
  Shards expected = outputs;
  ir::interpret(program, units_of<const std::byte>(inputs, units, unit_bytes),
                units_of<std::byte>(expected, units, unit_bytes), unit_bytes, accumulate);

  const auto sources = units_of<const std::byte>(inputs, 1, 0);
  const auto targets = units_of<std::byte>(outputs, 1, 0);
  const Batch batch = {.inputs = sources.data(),
                       .outputs = targets.data(),
                       .geometry = {.unit_bytes = unit_bytes, .unit_stride = unit_bytes},
                       .accumulate = accumulate};
  const std::size_t allocations = allocation_count;
  const Status done = device_->submit(**kernel, batch).wait();
  EXPECT_EQ(allocation_count, allocations);
  ASSERT_TRUE(done);
  ASSERT_EQ(outputs, expected);
}

gf::Matrix random_matrix(std::mt19937& random, std::size_t rows, std::size_t columns) {
  gf::Matrix matrix(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c)
      matrix(r, c) = static_cast<gf::Element>(random() % 256);
  }
  return matrix;
}

TEST_P(CpuDeviceOf, more_rows_than_a_pass) {
  for (std::size_t rows = 1; rows <= kernel_rows_max + 3; ++rows) {
    for (const std::size_t inputs : {1UL, 2UL, 7UL, 20UL}) {
      expect_right(ir::build(field_, random_matrix(random_, rows, inputs)), 301, rows % 2 == 0);
    }
  }
}

TEST_P(CpuDeviceOf, more_inputs_than_a_turn) {
  for (const std::size_t inputs : {24UL, 32UL, 33UL, 48UL, 49UL, 223UL}) {
    for (const bool accumulate : {false, true}) {
      expect_right(ir::build(field_, random_matrix(random_, 3, inputs)), 513, accumulate);
    }
  }
}

TEST_P(CpuDeviceOf, more_bytes_than_a_block) {
  for (const std::size_t bytes : {4095UL, 4096UL, 4097UL, 8191UL, 12300UL}) {
    expect_right(ir::build(field_, random_matrix(random_, kernel_rows_max + 1, 3)), bytes, false);
    expect_right(ir::lower_to_xor(ir::build(field_, random_matrix(random_, 2, 3))), bytes, true);
  }
}

TEST_P(CpuDeviceOf, transforms) {
  conformance::Random random(1);
  for (unsigned log_size = 0; log_size <= 7; ++log_size) {
    for (int round = 0; round < 8; ++round) {
      const ir::Transform transform = conformance::random_transform(random, log_size);
      expect_right(device_->compile_transform(transform), ir::expand(transform),
                   round == 0 ? 1500 : 77, round % 2 == 0);
    }
  }
}

TEST_P(CpuDeviceOf, programs_without_inputs_write_zeros) {
  expect_right(ir::build(field_, gf::Matrix(3, 0)), 100, false);
  expect_right(ir::build(field_, gf::Matrix(3, 0)), 100, true);
  expect_right(ir::build(field_, gf::Matrix(2, 2)), 100, false);
}

TEST_P(CpuDeviceOf, repeated_operands_cancel) {
  ir::Program program(field_, {.inputs = 1, .outputs = 1});
  program.append(program.output(0), std::array{ir::Term{0, 3}, ir::Term{0, 3}, ir::Term{0, 5}});
  expect_right(program, 50, false);
}

TEST_P(CpuDeviceOf, long_sums_take_several_steps) {
  for (const std::uint32_t terms : {63U, 64U, 65U, 128U, 200U}) {
    ir::Program program(
        field_, {.dialect = ir::Dialect::xor_, .inputs = 208, .outputs = 8, .unit_count = 8});
    std::vector<ir::Term> sum;
    for (std::uint32_t v = 0; v < terms; ++v)
      sum.push_back({.value = v});
    for (std::uint32_t u = 0; u < 8; ++u) {
      program.append(program.output(u), sum);
      sum.back().value = program.output(u);  // the next sum reads this one
    }
    expect_right(program, 200, false);
    expect_right(program, 200, true);
  }
}

// Inputs 0..7 and a chain of `length` temporaries; the last `kept` of them are read at the end.
ir::Program chain(const gf::FieldRef& field, std::uint32_t length, std::uint32_t kept) {
  ir::Program program(field,
                      {.dialect = ir::Dialect::xor_, .inputs = 8, .outputs = 8, .unit_count = 8});
  std::vector<ir::Value> links = {0};
  for (std::uint32_t i = 0; i < length; ++i) {
    const ir::Value link = program.new_temporary();
    program.append(link, std::array{ir::Term{links.back()}, ir::Term{i % 8}});
    links.push_back(link);
  }
  std::vector<ir::Term> sum;
  for (std::uint32_t i = 0; i < kept; ++i)
    sum.push_back({.value = links[links.size() - 1 - i]});
  for (std::uint32_t u = 0; u < 8; ++u)
    program.append(program.output(u), sum);
  return program;
}

// Inputs, outputs and scratch of a block stay in the L2 cache together.
TEST(XorRunnerBlocks, are_as_large_as_the_working_set_allows) {
  constexpr std::size_t working_set_bytes = 256 * 1024;
  const ir::Program::Shape shape = {
      .dialect = ir::Dialect::xor_, .inputs = 96, .outputs = 8, .unit_count = 8};
  for (const std::uint32_t slots : {0U, 8U, 16U}) {
    ir::Program program(*gf::Field::create(8, 0), shape);
    std::vector<ir::Term> sum = {{.value = 0}};
    for (std::uint32_t i = 0; i < slots; ++i) {
      sum.push_back({.value = program.new_temporary()});
      program.append(sum.back().value, std::array{ir::Term{i}, ir::Term{i + 1}});
    }
    for (std::uint32_t u = 0; u < shape.outputs; ++u)
      program.append(program.output(u), sum);
    const XorRunner runner = *XorRunner::create(program, kernels_scalar);
    ASSERT_EQ(runner.slot_count(), slots);
    const std::size_t values = shape.inputs + shape.outputs + slots;
    EXPECT_LE(runner.block_bytes() * values, working_set_bytes) << slots;
    EXPECT_GT((runner.block_bytes() + XorRunner::block_bytes_min) * values, working_set_bytes);
  }
}

TEST_P(CpuDeviceOf, temporaries_share_scratch) {
  expect_right(chain(field_, 5000, 1), 700, false);
  expect_right(chain(field_, 500, 200), 700, true);
  expect_right(chain(field_, XorRunner::slots_max, XorRunner::slots_max), 130, false);
}

TEST_P(CpuDeviceOf, refuses_what_it_cannot_run) {
  const auto crowded =
      device_->compile(chain(field_, XorRunner::slots_max + 1, XorRunner::slots_max + 1));
  ASSERT_FALSE(crowded);
  EXPECT_EQ(crowded.error().code, ErrorCode::compile_failed);
  EXPECT_EQ(crowded.error().message,
            "program keeps 1025 values in scratch at once; expected at most 1024");

  const gf::FieldRef nibbles = *gf::Field::create(4, 0);
  const auto narrow = device_->compile(ir::build(nibbles, gf::Matrix(1, 1)));
  ASSERT_FALSE(narrow);
  EXPECT_EQ(narrow.error().code, ErrorCode::compile_failed);
  EXPECT_EQ(narrow.error().message, "gf dialect needs w = 8, got 4");

  for (const std::uint32_t units : {1U, 8U}) {
    const ir::Program unfinished(field_,
                                 {.dialect = units == 1 ? ir::Dialect::gf : ir::Dialect::xor_,
                                  .inputs = units,
                                  .outputs = units,
                                  .unit_count = units});
    const auto kernel = device_->compile(unfinished);
    ASSERT_FALSE(kernel);
    EXPECT_EQ(kernel.error().message, "output 0 is never defined");
  }
}

TEST_P(CpuDeviceOf, describes_itself_to_the_optimiser) {
  const ir::CostModel& model = device_->cost_model();
  EXPECT_EQ(device_->name(), "cpu:" + GetParam());
  EXPECT_EQ(model.three_input_xor, GetParam().starts_with("avx512"));
  EXPECT_GE(model.registers, 16U);
  EXPECT_GE(model.vector_bytes, 8U);
}

}  // namespace
}  // namespace calpe::backend::cpu
