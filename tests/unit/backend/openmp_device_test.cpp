// SPDX-License-Identifier: Apache-2.0
// From generic to compiled code, and everything that can go wrong.
#include "backend/openmp/openmp_device.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/files.hpp"
#include "conformance/trial.hpp"
#include "conformance/xor_cases.hpp"
#include "ir/text_form.hpp"
#include "support/environment_scope.hpp"
#include "support/workshop.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::backend::openmp {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using tests::EnvironmentScope;
using tests::Workshop;

class OpenMpDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    // The compiler of the test itself, so that cross builds compile for their target.
    const char* named = std::getenv("CALPE_CC");
    real_compiler_ = named == nullptr ? "" : named;
    if (const auto found = find_compiler(real_compiler_); !found) {
      GTEST_SKIP() << found.error().message;
    }
    real_compiler_ = find_compiler(real_compiler_)->path;
  }

  std::unique_ptr<Device> open(OpenMpOptions options = {}) {
    if (options.compiler.empty()) options.compiler = real_compiler_;
    auto device = make_openmp_device(options);
    EXPECT_TRUE(device) << device.error().message;
    return device ? *std::move(device) : nullptr;
  }
  // A fake compiler that runs `script`; $REAL is the real one. All answer --version.
  std::string fake_compiler(const std::string& script) {
    const std::string path = workshop_.write(
        "fake-cc", "#!/bin/sh\nREAL=" + real_compiler_ +
                       "\nif [ \"$1\" = --version ]; then echo fake 1; exit 0; fi\n" + script);
    EXPECT_EQ(chmod(path.c_str(), 0755), 0);
    return path;
  }
  KernelRef compile(Device& device) {
    auto kernel = device.compile(program_);
    EXPECT_TRUE(kernel) << kernel.error().message;
    return kernel ? *kernel : nullptr;
  }
  testing::AssertionResult agrees(Device& device, const KernelRef& kernel) {
    if (!kernel) return testing::AssertionFailure() << "no kernel";
    const conformance::Work work = {
        .geometry = conformance::packed(300 + random_.below(5000), 3, 2),
        .stripe_count = 2,
        .accumulate = random_.coin()};
    conformance::Trial trial(random_, program_, work);
    if (const Status done = device.run(*kernel, trial.batch()); !done) {
      return testing::AssertionFailure() << done.error().message;
    }
    return trial.check();
  }
  // Runs the kernel, which must always be right, until the build is settled.
  KernelState run_until_settled(Device& device, const KernelRef& kernel) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < deadline) {
      EXPECT_TRUE(agrees(device, kernel));
      const KernelState state =
          kernel ? kernel_state(*kernel) : KernelState{.phase = Phase::failed};
      if (state.phase >= Phase::compiled) return state;
      std::this_thread::sleep_for(1ms);
    }
    ADD_FAILURE() << "never settled";
    return kernel_state(*kernel);
  }
  // Stays on the generic path with right results, and returns the reason.
  std::string reason_with(const std::string& script, std::chrono::milliseconds limit = 60s) {
    const auto device = open({.compiler = fake_compiler(script), .time_limit = limit});
    const KernelRef kernel = compile(*device);
    const KernelState state = run_until_settled(*device, kernel);
    EXPECT_EQ(state.phase, Phase::failed);
    EXPECT_TRUE(agrees(*device, kernel));
    return state.reason;
  }

  const Workshop workshop_{};
  std::string real_compiler_;
  const ir::Program program_ = ir::program_of(ir::listing_2);
  conformance::Random random_ = conformance::Random::of_test("openmp");
};

bool has_child() {
  return waitpid(-1, nullptr, WNOHANG) != -1;
}

TEST_F(OpenMpDeviceTest, serves_generically_until_compiled_and_never_waits) {
  // Compiles only on a signal, so that the first phase is deterministic.
  const std::string go = workshop_.path("go");
  const auto device =
      open({.compiler = fake_compiler("while [ ! -e " + go +
                                      " ]; do sleep 0.01; done\nexec $REAL \"$@\"")});
  const KernelRef kernel = compile(*device);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(agrees(*device, kernel));
    EXPECT_EQ(kernel_state(*kernel).phase, Phase::compiling);
  }
  workshop_.write("go", "");
  EXPECT_EQ(run_until_settled(*device, kernel).phase, Phase::compiled);
  EXPECT_TRUE(agrees(*device, kernel));
  EXPECT_FALSE(has_child());
}

TEST_F(OpenMpDeviceTest, waits_when_asked_to) {
  const auto device = open({.waits = true});
  const KernelRef kernel = compile(*device);
  EXPECT_EQ(kernel_state(*kernel).phase, Phase::compiled);
  EXPECT_TRUE(agrees(*device, kernel));
}

TEST_F(OpenMpDeviceTest, the_same_program_is_compiled_once) {
  const std::string log = workshop_.path("log");
  const auto device = open(
      {.compiler = fake_compiler("echo run >> " + log + "\nexec $REAL \"$@\""), .waits = true});
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(agrees(*device, compile(*device)));  // the kernel is destroyed each time
  EXPECT_EQ(*read_file(log), "run\n");
}

TEST_F(OpenMpDeviceTest, threads_are_asked_for_by_name) {
  const EnvironmentScope cache("CALPE_CACHE_DIR", "");
  const auto one = open_openmp("");
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)->name(), "openmp");
  EXPECT_TRUE((*one)->runs_on_caller());
  const auto three = open_openmp("3");
  ASSERT_TRUE(three);
  EXPECT_EQ((*three)->name(), "openmp:3");
  EXPECT_FALSE((*three)->runs_on_caller());
  for (const std::string variant : {"0", "-1", "1025", "2x", "fast", " 2"}) {
    const auto device = open_openmp(variant);
    ASSERT_FALSE(device) << variant;
    EXPECT_EQ(device.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(device.error().message,
              "openmp has no variant \"" + variant + "\"; expected a number of threads, 1 to 1024");
  }
}

// OpenMP's idle threads outlive the test, and LeakSanitizer, which stops all threads at exit, has
// crashed on them.
#if !defined(__has_feature)
#define __has_feature(name) 0
#endif
constexpr bool leaks_are_sought = __has_feature(address_sanitizer);

TEST_F(OpenMpDeviceTest, runs_on_several_openmp_threads) {
  if (leaks_are_sought) GTEST_SKIP() << "leaves threads behind";
  const auto device = open({.threads = 3, .waits = true});
  const auto kernel = device->compile(program_);
  if (!kernel) GTEST_SKIP() << "the compiler has no OpenMP: " << kernel.error().message;
  EXPECT_EQ(kernel_state(**kernel).phase, Phase::compiled);
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(agrees(*device, *kernel));
}

TEST_F(OpenMpDeviceTest, without_a_compiler_it_is_unavailable) {
  const auto none = make_openmp_device({.compiler = "no-such-cc"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::backend_unavailable);
  EXPECT_EQ(none.error().message, "CALPE_CC=no-such-cc: no such program");
  const EnvironmentScope compiler("CALPE_CC", std::nullopt);
  const EnvironmentScope path("PATH", "/nowhere");
  EXPECT_EQ(make_openmp_device({}).error().message,
            "no C compiler: neither cc nor gcc nor clang is in PATH");
  ASSERT_EQ(list_openmp().size(), 1U);
  EXPECT_FALSE(list_openmp().front().available);
  EXPECT_EQ(list_openmp().front().reason, "no C compiler: neither cc nor gcc nor clang is in PATH");
}

TEST_F(OpenMpDeviceTest, a_compiler_without_a_version_is_refused) {
  const std::string path = workshop_.write("broken-cc", "#!/bin/sh\nexit 4\n");
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_EQ(make_openmp_device({.compiler = path}).error().message,
            path + " --version exited with 4");
}

TEST_F(OpenMpDeviceTest, a_compiler_that_fails_leaves_the_generic_path_and_its_first_error) {
  EXPECT_EQ(reason_with("echo 'kernel.c: warning: hm'; echo 'kernel.c:3:1: error: no' >&2; exit 1"),
            workshop_.path("fake-cc") + " exited with 1: kernel.c:3:1: error: no");
  EXPECT_EQ(reason_with("exit 3"), workshop_.path("fake-cc") + " exited with 3");
  EXPECT_EQ(reason_with("kill -11 $$"), workshop_.path("fake-cc") + " killed by signal 11");
  EXPECT_EQ(reason_with("exit 0"),
            workshop_.path("fake-cc") + " exited with 0");  // wrote no output
}

TEST_F(OpenMpDeviceTest, a_hung_compiler_is_killed) {
  EXPECT_EQ(reason_with("sleep 1000", 200ms),
            workshop_.path("fake-cc") + " killed after its time limit");
  EXPECT_FALSE(has_child());
}

// The last argument is the source; `edit` is a sed command for it.
std::string wrong_code(const std::string& edit) {
  return "for last; do :; done\nsed -i '" + edit + "' $last\nexec $REAL \"$@\"";
}

TEST_F(OpenMpDeviceTest, wrong_code_is_never_used) {
  EXPECT_TRUE(reason_with(wrong_code("s/t4 = t0 ^ t2/t4 = t0/"))
                  .starts_with("compiled code differs from the cpu: byte 3 of output 0 is"));
  // Only the columns after the last vector, and only accumulated sums.
  EXPECT_TRUE(reason_with(wrong_code("s/if (whole != bytes)/if (whole > bytes)/"))
                  .starts_with("compiled code differs from the cpu"));
  EXPECT_NE(reason_with(wrong_code("s/ ^= out/ = out/")).find(", accumulated is "),
            std::string::npos);
  // Beyond the unit: a byte that must not be touched.
  EXPECT_TRUE(reason_with(wrong_code("s/const size_t left = .*/const size_t left = "
                                     "work->unit_bytes - done + 1;/"))
                  .starts_with("compiled code differs from the cpu"));
}

TEST_F(OpenMpDeviceTest, a_damaged_object_is_refused) {
  const std::string out = "while [ \"$1\" != -o ]; do shift; done\n";
  EXPECT_EQ(reason_with(out + "echo nonsense > $2"),
            "compiled object cannot be loaded: the ELF file is incomplete");
  EXPECT_EQ(reason_with("$REAL \"$@\" || exit 1\n" + out + "truncate -s -200 $2"),
            "compiled object cannot be loaded: the ELF file is incomplete");
  EXPECT_EQ(reason_with(wrong_code("s/calpe_xor/another/g")),
            "compiled object cannot be loaded: no function calpe_xor");
}

TEST_F(OpenMpDeviceTest, waiting_makes_failure_visible) {
  const auto device =
      open({.compiler = fake_compiler("echo 'x.c:1:1: error: no'; exit 1"), .waits = true});
  const auto kernel = device->compile(program_);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::compile_failed);
  EXPECT_EQ(kernel.error().message,
            workshop_.path("fake-cc") + " exited with 1: x.c:1:1: error: no");
}

TEST_F(OpenMpDeviceTest, kernels_destroyed_early_leave_no_files) {
  const std::string temporary = workshop_.path("tmp");
  fs::create_directory(temporary);
  const EnvironmentScope folder("TMPDIR", temporary);
  const auto device = open({.compiler = fake_compiler("sleep 1000")});
  for (int i = 0; i < 3; ++i) {
    const KernelRef kernel = compile(*device);
    EXPECT_EQ(kernel_state(*kernel).phase, Phase::compiling);
  }
  EXPECT_FALSE(has_child());
  EXPECT_TRUE(fs::is_empty(temporary));
}

// Kernels may be destroyed last.
TEST_F(OpenMpDeviceTest, kernels_outlive_their_device) {
  auto device = open({.compiler = fake_compiler("sleep 1000")});
  KernelRef kernel = compile(*device);
  device.reset();
  EXPECT_EQ(kernel_state(*kernel).phase, Phase::compiling);
  kernel.reset();
  EXPECT_FALSE(has_child());
}

TEST_F(OpenMpDeviceTest, few_compilers_run_at_once) {
  const auto device = open({.compiler = fake_compiler("sleep 1000")});
  std::vector<KernelRef> kernels;
  for (const std::string equation : {"u1 = XOR(u0)", "u1 = XOR(u0,u0)", "u1 = XOR()"}) {
    kernels.push_back(*device->compile(*ir::parse(equation, {.inputs = 1, .outputs = 1})));
  }
  EXPECT_EQ(kernel_state(*kernels[0]).phase, Phase::compiling);
  EXPECT_EQ(kernel_state(*kernels[1]).phase, Phase::compiling);
  EXPECT_EQ(kernel_state(*kernels[2]).phase, Phase::waiting);
  kernels.erase(kernels.begin());
  EXPECT_TRUE(device->run(*kernels[1], {.stripe_count = 0}));
  EXPECT_EQ(kernel_state(*kernels[1]).phase, Phase::compiling);
}

TEST_F(OpenMpDeviceTest, programs_too_large_for_a_compiler_stay_generic) {
  const auto device = open();
  std::string equation = "u1 = XOR(u0";
  for (int i = 0; i < 20'000; ++i)
    equation += ",u0";
  const auto kernel = device->compile(*ir::parse(equation + ")", {.inputs = 1, .outputs = 1}));
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel_state(**kernel).phase, Phase::failed);
  EXPECT_EQ(kernel_state(**kernel).reason,
            "program has 20001 terms and 2 units; expected at most 20000 and 1024");
}

TEST_F(OpenMpDeviceTest, uses_the_disk_cache_of_another_process) {
  const std::string folder = workshop_.path("cache");
  const std::string log = workshop_.path("log");
  const OpenMpOptions options = {
      .compiler = fake_compiler("echo run >> " + log + "\nexec $REAL \"$@\""),
      .cache = {.folder = folder, .is_explicit = true},
      .waits = true};
  {
    const auto device = open(options);
    EXPECT_TRUE(agrees(*device, compile(*device)));
  }
  ASSERT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  const std::string path = fs::directory_iterator(folder)->path().string();
  {
    OpenMpOptions impatient = options;
    impatient.waits = false;
    const auto device = open(impatient);
    const KernelRef kernel = compile(*device);
    EXPECT_EQ(kernel_state(*kernel).phase, Phase::compiled);  // immediately
    EXPECT_TRUE(agrees(*device, kernel));
  }
  EXPECT_EQ(*read_file(log), "run\n");

  // Damaged: compiled again, and stored again.
  ASSERT_TRUE(replace_file(path, read_file(path)->substr(0, 5000)));
  const auto device = open(options);
  EXPECT_TRUE(agrees(*device, compile(*device)));
  EXPECT_EQ(*read_file(log), "run\nrun\n");
  EXPECT_GT(fs::file_size(path), 5000U);
}

TEST_F(OpenMpDeviceTest, a_refused_cache_directory_is_an_error_only_if_explicit) {
  const std::string folder = workshop_.path("open");
  fs::create_directory(folder);
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  const auto named = make_openmp_device(
      {.compiler = real_compiler_, .cache = {.folder = folder, .is_explicit = true}});
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::backend_unavailable);
  EXPECT_EQ(named.error().message, "CALPE_CACHE_DIR: directory " + folder +
                                       " is writable by other users; expected only by its owner");
  const auto device = open({.cache = {.folder = folder}, .waits = true});
  EXPECT_TRUE(agrees(*device, compile(*device)));
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(OpenMpDeviceTest, dumps_source_and_log) {
  const std::string folder = workshop_.path("dump");
  fs::create_directory(folder);
  const EnvironmentScope dump("CALPE_DUMP", folder);
  const auto device = open({.waits = true});
  compile(*device);
  std::string names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    names += name.substr(name.rfind('-') + 1) + " ";
    if (name.ends_with(".c")) {
      EXPECT_NE(read_file(entry.path().string())->find("#define EQUATIONS"), std::string::npos);
    }
  }
  EXPECT_NE(names.find("openmp.c"), std::string::npos) << names;
  EXPECT_NE(names.find("openmp.log"), std::string::npos) << names;
}

// Common for daemons: no child can be waited for.
TEST_F(OpenMpDeviceTest, compiles_where_sigchld_is_ignored) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  const auto device = open({.waits = true});
  const auto kernel = device->compile(program_);
  signal(SIGCHLD, before);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_TRUE(agrees(*device, *kernel));
}

TEST_F(OpenMpDeviceTest, gf_programs_run_on_the_cpu_device) {
  const auto device = open({.waits = true});
  const auto field = conformance::field_of(8);
  const gf::Matrix rows = conformance::random_matrix(random_, *field, {.rows = 3, .columns = 4});
  EXPECT_TRUE(
      conformance::agrees(*device, random_, field, rows, {.geometry = {.unit_bytes = 999}}));
}

}  // namespace
}  // namespace calpe::backend::openmp
