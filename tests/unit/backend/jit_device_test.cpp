// SPDX-License-Identifier: Apache-2.0
// Guarantees of the jit besides right bytes: pages that are never both writable and executable,
// stacks that unwind, dumps, and a fallback.
#include "backend/jit/jit_device.hpp"

#include <gtest/gtest.h>

#if defined(__x86_64__)

#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <unwind.h>

#include "conformance/random_program.hpp"
#include "conformance/trial.hpp"
#include "conformance/xor_cases.hpp"
#include "ir/lower_to_xor.hpp"

namespace calpe::backend {
namespace {

using conformance::field_of;
using conformance::Random;

std::unique_ptr<Device> open_or_skip() {
  auto device = open_device("jit");
  return device ? *std::move(device) : nullptr;
}

ir::Program some_program() {
  Random random = Random::of_test("jit");
  const auto field = field_of(4);
  return ir::lower_to_xor(
      ir::build(field, conformance::random_matrix(random, *field, {.rows = 2, .columns = 4})));
}

TEST(JitDevice, pages_are_never_writable_and_executable) {
  const auto device = open_or_skip();
  if (!device) GTEST_SKIP() << "no jit here";
  const auto count_executable = [](bool& has_both) {
    std::ifstream maps("/proc/self/maps");
    int anonymous = 0;
    has_both = false;
    for (std::string line; std::getline(maps, line);) {
      const std::string rights = line.substr(line.find(' ') + 1, 4);
      has_both |= rights[1] == 'w' && rights[2] == 'x';
      const bool is_file =
          line.find('/') != std::string::npos || line.find('[') != std::string::npos;
      anonymous += rights[2] == 'x' && !is_file ? 1 : 0;
    }
    return anonymous;
  };
  bool has_both = true;
  const int before = count_executable(has_both);
  EXPECT_FALSE(has_both);
  {
    const auto kernel = device->compile(some_program());
    ASSERT_TRUE(kernel);
    EXPECT_GT(count_executable(has_both), before);
    EXPECT_FALSE(has_both);
  }
  EXPECT_EQ(count_executable(has_both), before);  // released with the kernel
}

// A read beyond the inputs faults inside the machine code; the handler walks the stack from there.
struct Fault {
  static inline sigjmp_buf back;
  static inline const void* sought = nullptr;
  static inline bool reached = false;

  static _Unwind_Reason_Code visit(_Unwind_Context* context, void*) {
    if (_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(_Unwind_GetIP(context))) == sought)
      reached = true;
    return _URC_NO_REASON;
  }
  static void handle(int) {
    _Unwind_Backtrace(visit, nullptr);
    siglongjmp(back, 1);
  }
};

[[gnu::noinline]] void run_into_fault(Device& device, const Kernel& kernel, const Batch& batch) {
  Fault::sought = reinterpret_cast<const void*>(&run_into_fault);
  if (sigsetjmp(Fault::back, 1) == 0) (void)device.run(kernel, batch);
}

TEST(JitDevice, stacks_unwind_out_of_machine_code) {
  const auto device = open_or_skip();
  if (!device) GTEST_SKIP() << "no jit here";
  const auto kernel = device->compile(some_program());
  ASSERT_TRUE(kernel);
  alignas(64) static std::array<std::byte, 256> memory = {};
  const std::byte* const inputs[] = {memory.data(), memory.data(), nullptr, memory.data()};
  std::byte* const outputs[] = {memory.data(), memory.data()};
  const Batch batch = {
      .inputs = inputs, .outputs = outputs, .geometry = conformance::packed(64, 4, 1)};
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = Fault::handle;
  sigaction(SIGSEGV, &action, &before);
  run_into_fault(*device, **kernel, batch);
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_TRUE(Fault::reached);
}

TEST(JitDevice, dumps_program_and_code) {
  const auto device = open_or_skip();
  if (!device) GTEST_SKIP() << "no jit here";
  std::string folder = (std::filesystem::temp_directory_path() / "calpe-jit-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  setenv("CALPE_DUMP", folder.c_str(), 1);
  ASSERT_TRUE(device->compile(some_program()));
  unsetenv("CALPE_DUMP");
  bool has_program = false;
  bool has_code = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    has_program |= content.find("= XOR(") != std::string::npos;
    has_code |= content.find("vpxor") != std::string::npos;
  }
  EXPECT_TRUE(has_program && has_code);
  std::filesystem::remove_all(folder);
}

// More temporaries than scratch: the generic kernel runs.
TEST(JitDevice, falls_back_for_the_widest_programs) {
  const auto device = open_or_skip();
  if (!device) GTEST_SKIP() << "no jit here";
  Random random = Random::of_test("widest");
  const auto field = field_of(8);
  ir::Program program(
      field,
      {.dialect = ir::Dialect::xor_, .inputs = 8 * 100, .outputs = 8 * 100, .unit_count = 8});
  for (ir::Value v = 0; v < 8 * 100; ++v)
    program.new_temporary();
  const ir::Value first = program.inputs() + program.outputs();
  for (ir::Value v = 0; v < 8 * 100; ++v)
    program.append(first + v, std::array{ir::Term{.value = v}, ir::Term{.value = (v + 1) % 800}});
  for (ir::Value v = 0; v < 8 * 100; ++v) {
    program.append(program.output(v), std::array{ir::Term{.value = first + v},
                                                 ir::Term{.value = first + (v + 400) % 800}});
  }
  EXPECT_TRUE(
      conformance::agrees(*device, random, program, {.geometry = conformance::packed(128, 8, 1)}));
}

// From a finished program of 10+4, w = 8 to its kernel; the best of several runs.
TEST(JitDevice, compiles_an_encoder_in_under_two_milliseconds) {
#if !defined(NDEBUG)
  GTEST_SKIP() << "not an optimised build";
#endif
  const auto device = open_or_skip();
  if (!device) GTEST_SKIP() << "no jit here";
  Random random = Random::of_test("encoder");
  const auto field = field_of(8);
  const ir::Program program = ir::lower_to_xor(
      ir::build(field, conformance::random_matrix(random, *field, {.rows = 4, .columns = 10})));
  auto best = std::chrono::nanoseconds::max();
  for (int trial = 0; trial < 30; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(device->compile(program));
    best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
  }
  EXPECT_LT(best, std::chrono::milliseconds(2));
}

TEST(JitDevice, follows_CALPE_CPU) {
  if (!open_or_skip()) GTEST_SKIP() << "no jit here";
  setenv("CALPE_CPU", "scalar", 1);
  const auto none = open_device("jit");
  const auto automatic = open_device("auto", ir::Dialect::xor_);
  setenv("CALPE_CPU", "avx2", 1);
  const auto avx2 = open_device("auto", ir::Dialect::xor_);
  unsetenv("CALPE_CPU");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "jit: cpu:scalar has vectors of 8 bytes; expected at least 32 (AVX2)");
  ASSERT_TRUE(automatic && avx2);
  EXPECT_EQ((*automatic)->name(), "cpu:scalar");
  EXPECT_EQ((*avx2)->name(), "jit:avx2");
  EXPECT_TRUE((*open_device("auto"))->name().starts_with("cpu:"));  // gf programs
}

}  // namespace
}  // namespace calpe::backend

#endif
