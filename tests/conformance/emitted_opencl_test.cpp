// SPDX-License-Identifier: Apache-2.0
// Runs emitted OpenCL C on the first OpenCL device, usually PoCL. PoCL takes a third of a second
// for a kernel's first launch, so most programs run as functions of a few large kernels.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "emit/emit.hpp"
#include "support/emitted_cases.hpp"
#include "support/emitted_units.hpp"
#include "support/opencl_runner.hpp"

namespace calpe::tests {
namespace {

using conformance::Random;
using Launch = OpenClRunner::Launch;

// Every other source has a constant unit length.
constexpr std::size_t unit_bytes = 203;
constexpr std::size_t unit_stride = 256;

std::string text_of(const EmittedCase& test, bool baked) {
  const auto made = emit::emit(test.program, emit::Target::opencl,
                               {.unit_bytes = baked ? unit_stride : 0, .name = test.name});
  EXPECT_TRUE(made) << test.name << ": " << made.error().message;
  return made ? *made : std::string();
}

class EmittedOpenCl : public testing::Test {
 protected:
  void SetUp() override {
    runner_ = std::make_unique<OpenClRunner>();
    if (!runner_->missing().empty()) GTEST_SKIP() << runner_->missing();
    std::cout << runner_->device_name() << ", " << conformance::repeat_with() << '\n';
  }

  // Words of `width` bytes with the vector kernel, the rest with single bytes.
  void check(const EmittedCase& test, bool baked, std::size_t width,
             const std::vector<Launch>& launches) {
    Random random = Random::of_test(test.name);
    EmittedUnits units(random, test.program, baked ? unit_stride : unit_bytes, unit_stride);
    EXPECT_TRUE(runner_->run(launches, units.n(), units.n_bytes(), units.r(), units.r_bytes()));
    EXPECT_TRUE(units.take_result()) << test.name << ", words of " << width;
  }

  std::unique_ptr<OpenClRunner> runner_;
};

TEST_F(EmittedOpenCl, kernels_equal_the_interpreter) {
  std::vector<EmittedCase> cases;
  for (EmittedCase& test : emitted_cases()) {
    if (test.name.starts_with("encode_5_2_3_")) cases.push_back(std::move(test));
  }
  ASSERT_EQ(cases.size(), styles.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool baked = i % 2 != 0;
    ASSERT_TRUE(runner_->build(text_of(cases[i], baked)));
    const std::size_t bytes = baked ? unit_stride : unit_bytes;
    std::vector<cl_ulong> lengths;
    if (!baked) lengths = {unit_bytes, unit_stride};
    // More work-items than work: the kernels check the end themselves.
    check(cases[i], baked, 1, {{cases[i].name, 0, bytes + 3, lengths}});
    for (const std::size_t width : {std::size_t{16}, std::size_t{64}}) {
      const std::size_t words = bytes / width;
      check(cases[i], baked, width,
            {{cases[i].name + "_" + std::to_string(width), 0, words + 2, lengths},
             {cases[i].name, words * width, bytes - words * width, lengths}});
    }
  }
}

// A switch (which) over the functions of a group of programs, one kernel per width.
std::string group_text(const std::vector<EmittedCase>& cases, std::size_t first, std::size_t last) {
  std::string source = "#define __kernel\n";
  for (std::size_t i = first; i < last; ++i)
    source += text_of(cases[i], i % 2 != 0);
  source += "#undef __kernel\n";
  for (const std::string suffix : {"", "_16", "_64"}) {
    source += "__kernel void group" + suffix +
              "(__global const uchar *n, __global uchar *r, ulong length, ulong stride, "
              "ulong which)\n{\n  switch (which) {\n";
    for (std::size_t i = first; i < last; ++i) {
      source += "    case " + std::to_string(i) + ": " + cases[i].name + suffix + "(n, r" +
                (i % 2 != 0 ? "" : ", length, stride") + "); break;\n";
    }
    source += "  }\n}\n";
  }
  return source;
}

TEST_F(EmittedOpenCl, every_program_equals_the_interpreter) {
  const std::vector<EmittedCase> cases = emitted_cases();
  constexpr std::size_t group = 31;
  for (std::size_t first = 0; first < cases.size() && !HasFailure(); first += group) {
    const std::size_t last = std::min(first + group, cases.size());
    // Without optimisation, because this tests the meaning of the source code.
    ASSERT_TRUE(runner_->build(group_text(cases, first, last), "-cl-std=CL1.2 -cl-opt-disable"));
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t bytes = i % 2 != 0 ? unit_stride : unit_bytes;
      const std::size_t width = first / group % 2 == 0 ? 64 : 16;
      const std::size_t words = bytes / width;
      const std::vector<cl_ulong> numbers = {unit_bytes, unit_stride, i};
      check(cases[i], i % 2 != 0, width,
            {{"group_" + std::to_string(width), 0, words, numbers},
             {"group", words * width, bytes - words * width, numbers}});
    }
  }
  std::cout << cases.size() << " programs\n";
}

}  // namespace
}  // namespace calpe::tests
