// SPDX-License-Identifier: Apache-2.0
#include "emit/emit.hpp"

#include <array>
#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::emit {
namespace {

using conformance::field_of;
using ir::Dialect;
using ir::Program;
using ir::Term;

std::string error_of(const Result<std::string>& result) {
  if (result) return "";
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  return result.error().message;
}

std::string emitted(const Program& program, Target target, const Options& options = {}) {
  const auto made = emit(program, target, options);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Program pair_program() {  // two units per shard
  return Program(field_of(2),
                 {.dialect = Dialect::xor_, .inputs = 2, .outputs = 2, .unit_count = 2});
}

constexpr std::array all_targets = {Target::c,   Target::openmp, Target::opencl, Target::cuda,
                                    Target::ptx, Target::hip,    Target::spirv};

TEST(Emit, targets_have_names) {
  constexpr std::array names = {"c", "openmp", "opencl", "cuda", "ptx", "hip", "spirv"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto target = target_by_name(names[i]);
    ASSERT_TRUE(target) << names[i];
    EXPECT_EQ(*target, all_targets[i]);
  }
  const auto unknown = target_by_name("fortran");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(unknown.error().message,
            "target is \"fortran\"; expected one of c, openmp, opencl, cuda, ptx, hip, "
            "spirv");
}

TEST(Emit, refuses_programs_it_cannot_emit) {
  EXPECT_EQ(error_of(emit(ir::build(field_of(8), gf::Matrix::identity(2)), Target::c, {})),
            "program is in the gf dialect; expected xor");
  EXPECT_EQ(error_of(emit(pair_program(), Target::c, {})), "output 0 is never defined");
  const Program nothing(field_of(2),
                        {.dialect = Dialect::xor_, .inputs = 0, .outputs = 0, .unit_count = 2});
  EXPECT_EQ(error_of(emit(nothing, Target::c, {})),
            "program has 0 inputs and 0 outputs; expected at least one of each");
}

TEST(Emit, refuses_options_that_would_break_the_source) {
  const Program program = ir::program_of(ir::listing_1);
  for (const std::string name : {"", "1st", "a-b", "a b", "f(void);int g"}) {
    EXPECT_EQ(error_of(emit(program, Target::c, {.name = name})),
              "name is \"" + name + "\"; expected a C identifier");
  }
  for (const std::string title : {"two\nlines", "goes on \\", "\r"}) {
    EXPECT_EQ(error_of(emit(program, Target::c, {.title = title})),
              "title has a control character or a backslash; expected one line of text");
  }
  EXPECT_EQ(error_of(emit(program, Target::c, {.unit_bytes = std::size_t{1} << 41})),
            "unit_bytes is 2199023255552; expected at most 1099511627776");
  EXPECT_EQ(error_of(emit(program, Target::opencl, {.form = Form::shards})),
            "form shards needs target c or openmp");
  EXPECT_EQ(error_of(emit(program, Target::c, {.unit_bytes = 4, .form = Form::shards})),
            "unit_bytes is 4; expected 0 with form shards");
}

TEST(Emit, is_deterministic) {
  const Program program = ir::program_of(ir::listing_2);
  for (const Target target : all_targets)
    EXPECT_EQ(emitted(program, target), emitted(program, target));
}

// Unneeded values would be unused variables. Outputs that are read later must not come from memory.
TEST(Emit, omits_unneeded_values_and_keeps_outputs_that_are_read) {
  Program program = pair_program();
  const ir::Value unused = program.new_temporary();
  const ir::Value also_unused = program.new_temporary();
  program.append(unused, std::array{Term{.value = 0}});
  program.append(also_unused, std::array{Term{.value = unused}});
  program.append(2, std::array{Term{.value = 0}, Term{.value = 1}});
  program.append(3, std::array{Term{.value = 2}, Term{.value = 1}});
  for (const Target target :
       {Target::c, Target::openmp, Target::opencl, Target::cuda, Target::hip}) {
    const std::string text = emitted(program, target);
    EXPECT_FALSE(has(text, "t0")) << text;
    EXPECT_FALSE(has(text, "t1")) << text;
    EXPECT_TRUE(has(text, "const word u2 = OUNIT(0) ^ OUNIT(1);")) << text;
    EXPECT_TRUE(has(text, "RUNIT(0) = u2;")) << text;
    EXPECT_TRUE(has(text, "RUNIT(1) = u2 ^ OUNIT(1);")) << text;
  }
  EXPECT_TRUE(has(emitted(program, Target::c), "2 equations, 2 XORs"));
}

TEST(Emit, an_empty_sum_is_zero) {
  Program program = pair_program();
  program.append(2, {});
  program.append(3, {});
  EXPECT_TRUE(has(emitted(program, Target::c), "RUNIT(0) = (word){0};"));
  EXPECT_TRUE(has(emitted(program, Target::opencl), "RUNIT(0) = (word)(0);"));
  EXPECT_TRUE(has(emitted(program, Target::cuda), "RUNIT(0) = (word)0;"));
  EXPECT_TRUE(has(emitted(program, Target::ptx), "mov.b32 u2, 0;"));
}

// AMD's compiler otherwise expects 1,024 threads, and keeps values in memory.
TEST(Emit, hip_is_cuda_with_its_header) {
  Program program = pair_program();
  program.append(2, std::array{Term{.value = 1}});
  program.append(3, std::array{Term{.value = 0}});
  const std::string cuda = emitted(program, Target::cuda);
  std::string hip = emitted(program, Target::hip);
  const std::string header = "#if !defined(__HIPCC_RTC__)\n#include <hip/hip_runtime.h>\n#endif\n";
  ASSERT_TRUE(has(hip, header)) << hip;
  EXPECT_TRUE(has(hip, "__global__ void __launch_bounds__(256) calpe_xor_4(")) << hip;
  hip.erase(hip.find(header), header.size());
  EXPECT_EQ(hip, cuda);
}

TEST(Emit, ptx_adds_far_offsets) {
  Program program = pair_program();
  program.append(2, std::array{Term{.value = 1}});
  program.append(3, std::array{Term{.value = 1}});
  EXPECT_TRUE(has(emitted(program, Target::ptx, {.unit_bytes = 0x7FFFFFFF}), "[n+2147483647]"));
  EXPECT_TRUE(has(emitted(program, Target::ptx, {.unit_bytes = 0x80000000}),
                  "add.u64 address, n, 2147483648;"));
}

// With more inputs than are kept in registers, the first is loaded again and the last is not.
TEST(Emit, ptx_keeps_a_bounded_number_of_inputs) {
  constexpr std::uint32_t inputs = 100;
  Program program(field_of(2),
                  {.dialect = Dialect::xor_, .inputs = inputs, .outputs = 2, .unit_count = 2});
  std::vector<Term> all;
  for (ir::Value v = 0; v < inputs; ++v)
    all.push_back({.value = v});
  program.append(inputs, all);
  program.append(inputs + 1, std::array{Term{.value = inputs - 1}, Term{.value = 0}});
  const std::string text = emitted(program, Target::ptx);
  const auto loads = [&](const std::string& unit) {
    std::size_t count = 0;
    const std::string load = "ld.global.nc.u32 " + unit + ",";
    for (std::size_t at = text.find(load); at != std::string::npos; at = text.find(load, at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(loads("u0"), 2U);
  EXPECT_EQ(loads("u99"), 1U);
}

TEST(Emit, long_sums_take_several_lines) {
  const Program program = ir::program_of(ir::listing_1);
  const std::string text = emitted(program, Target::c);
  std::size_t longest = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    longest = std::max(longest, end - start);
    start = end + 1;
  }
  EXPECT_LE(longest, 100U);
  EXPECT_TRUE(has(text, "RUNIT(0) = OUNIT(2) ^ OUNIT(3)"));
}

}  // namespace
}  // namespace calpe::emit
