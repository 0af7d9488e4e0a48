// SPDX-License-Identifier: Apache-2.0
// Many threads use kernels whose compiled code becomes available meanwhile.
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "backend/openmp/openmp_device.hpp"
#include "conformance/trial.hpp"
#include "conformance/xor_cases.hpp"

namespace calpe::backend::openmp {
namespace {

TEST(OpenMpSwitch, threads_see_right_bytes_before_and_after) {
  const char* compiler = std::getenv("CALPE_CC");
  auto device = make_openmp_device({.compiler = compiler == nullptr ? "" : compiler});
  if (!device) GTEST_SKIP() << device.error().message;
  conformance::Random random = conformance::Random::of_test("switch");
  for (int round = 0; round < 3; ++round) {
    const ir::Program program = conformance::random_xor_program(random, 4);
    const auto kernel = (*device)->compile(program);
    ASSERT_TRUE(kernel);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, seed = random.below(~0U)] {
        conformance::Random own(seed);
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        // Continue some rounds after the switch.
        for (int after = 0; after < 5 && std::chrono::steady_clock::now() < deadline;) {
          conformance::Trial trial(own, program, {.geometry = conformance::packed(100, 4, 1)});
          EXPECT_TRUE((*device)->run(**kernel, trial.batch()));
          EXPECT_TRUE(trial.check());
          after += kernel_state(**kernel).phase == Phase::compiled ? 1 : 0;
          std::this_thread::yield();
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    EXPECT_EQ(kernel_state(**kernel).phase, Phase::compiled) << kernel_state(**kernel).reason;
  }
}

}  // namespace
}  // namespace calpe::backend::openmp
