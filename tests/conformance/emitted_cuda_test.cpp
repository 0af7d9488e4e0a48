// SPDX-License-Identifier: Apache-2.0
// Tests emitted CUDA C++ and PTX without a GPU: nvcc and ptxas must accept all source code, and a
// host compiler runs CUDA C++ with a shim for CUDA's built-in names.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "emit/emit.hpp"
#include "support/emitted_cases.hpp"
#include "support/emitted_units.hpp"
#include "support/workshop.hpp"

namespace calpe::tests {
namespace {

using conformance::Random;

// Every other source has a constant unit length: 64 threads of 4 bytes, or a tail.
constexpr std::size_t baked_bytes = 256;
constexpr std::size_t unit_bytes = 203;
constexpr std::size_t unit_stride = 208;

std::size_t baked_of(std::size_t index) {
  return index % 2 == 0 ? 0 : baked_bytes;
}

std::string all_texts(const std::vector<EmittedCase>& cases, emit::Target target) {
  std::string all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto made =
        emit::emit(cases[i].program, target, {.unit_bytes = baked_of(i), .name = cases[i].name});
    EXPECT_TRUE(made) << cases[i].name;
    if (!made) continue;
    // A PTX module has one header.
    const std::size_t start = target == emit::Target::ptx && i != 0 ? made->find(".visible") : 0;
    all += made->substr(start);
  }
  return all;
}

// The toolkit is often not in PATH.
std::optional<std::string> find_cuda_program(const std::string& name) {
  if (auto found = find_program(name)) return found;
  return find_program("/usr/local/cuda/bin/" + name);
}

TEST(EmittedPtx, is_assembled) {
  const auto ptxas = find_cuda_program("ptxas");
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed: part of NVIDIA's CUDA toolkit";
  const Workshop workshop;
  const std::vector<EmittedCase> cases = emitted_cases();
  const std::string source = workshop.write("all.ptx", all_texts(cases, emit::Target::ptx));
  EXPECT_TRUE(
      Workshop::run({*ptxas, "-arch=sm_75", "-Werror", source, "-o", workshop.path("all.cubin")}));
}

// An assembler that ignores its input would pass the test above.
TEST(EmittedPtx, is_not_assembled_with_an_unknown_register) {
  const auto ptxas = find_cuda_program("ptxas");
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed: part of NVIDIA's CUDA toolkit";
  const Workshop workshop;
  std::string text = all_texts({emitted_cases().front()}, emit::Target::ptx);
  text.replace(text.find("st.global.u8 [r]"), 16, "st.global.u8 [q]");
  const std::string source = workshop.write("wrong.ptx", text);
  EXPECT_FALSE(Workshop::run({*ptxas, "-arch=sm_75", source, "-o", workshop.path("wrong.cubin")}));
}

TEST(EmittedCuda, is_compiled_by_nvcc) {
  const auto nvcc = find_cuda_program("nvcc");
  if (!nvcc) GTEST_SKIP() << "nvcc is not installed: part of NVIDIA's CUDA toolkit";
  const Workshop workshop;
  const std::vector<EmittedCase> cases = emitted_cases();
  const std::string source = workshop.write("all.cu", all_texts(cases, emit::Target::cuda));
  // -G disables optimisation, which would take three times as long.
  EXPECT_TRUE(Workshop::run({*nvcc, "-arch=sm_75", "-G", "-Werror", "all-warnings", "-ptx", source,
                             "-o", workshop.path("all.ptx")}));
}

// launch_<name>(n, r, bytes, stride): words with the vector kernel, the tail byte by byte.
std::string launchers(const std::vector<EmittedCase>& cases) {
  std::string all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string& name = cases[i].name;
    const std::string lengths = baked_of(i) == 0 ? ", bytes, stride" : "";
    all += text("extern \"C\" void launch_", name,
                "(const unsigned char* n, unsigned char* r, size_t bytes, size_t stride) {\n"
                "  (void)bytes, (void)stride;\n"
                "  shim_launch(",
                name, "_4, 3, 32, n, r", lengths, ");\n  shim_launch(", name,
                ", 1, 7, n, r, bytes / 4 * 4", lengths, ");\n}\n");
  }
  return all;
}

TEST(EmittedCuda, equals_the_interpreter_through_a_shim) {
  // Prefer clang++: g++ takes twenty times as long for long sums of bytes.
  auto compiler = find_program("clang++");
  if (!compiler) compiler = find_program("g++");
  if (!compiler) GTEST_SKIP() << "neither clang++ nor g++ is installed";
  const Workshop workshop;
  const std::vector<EmittedCase> cases = emitted_cases();
  const std::string source =
      workshop.write("all.cpp", "#include \"support/cuda_shim.hpp\"\n" +
                                    all_texts(cases, emit::Target::cuda) + launchers(cases));
  ASSERT_TRUE(Workshop::run({*compiler, "-std=c++17", "-O0", "-fPIC", "-shared", "-Wall", "-Werror",
                             "-I" CALPE_TEST_DATA, source, "-o", workshop.path("all.so")}));
  const Loaded loaded(workshop.path("all.so"));
  for (std::size_t i = 0; i < cases.size() && !HasFailure(); ++i) {
    Random random = Random::of_test(cases[i].name);
    const std::size_t bytes = baked_of(i) == 0 ? unit_bytes : baked_bytes;
    const std::size_t stride = baked_of(i) == 0 ? unit_stride : baked_bytes;
    EmittedUnits units(random, cases[i].program, bytes, stride);
    using Launch = void(const unsigned char*, unsigned char*, std::size_t, std::size_t);
    loaded.find<Launch>("launch_" + cases[i].name)(units.n(), units.r(), bytes, stride);
    EXPECT_TRUE(units.take_result()) << cases[i].name;
  }
  std::cout << cases.size() << " programs, " << conformance::repeat_with() << '\n';
}

}  // namespace
}  // namespace calpe::tests
