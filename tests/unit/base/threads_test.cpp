// SPDX-License-Identifier: Apache-2.0
#include "base/threads.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <pthread.h>
#include <string>
#include <vector>

namespace {

using namespace calpe;

TEST(StartThread, BlocksSignalsOfTheHostProgram) {
  sigset_t mask = {};
  start_thread("calpe-test", [&] { pthread_sigmask(SIG_BLOCK, nullptr, &mask); }).join();
  for (const int signal : {SIGTERM, SIGINT, SIGALRM, SIGCHLD, SIGUSR1})
    EXPECT_EQ(sigismember(&mask, signal), 1) << signal;
  for (const int signal : {SIGSEGV, SIGBUS, SIGPROF})
    EXPECT_EQ(sigismember(&mask, signal), 0) << signal;
}

TEST(StartThread, LeavesTheMaskOfTheCaller) {
  sigset_t before = {};
  sigset_t after = {};
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  start_thread("calpe-test", [] {}).join();
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
}

#ifdef __linux__
TEST(StartThread, NamesTheThread) {
  std::atomic<bool> is_named = false;
  std::array<char, 16> name = {};
  std::thread thread = start_thread("calpe-test", [&] {
    while (!is_named)
      std::this_thread::yield();
    pthread_getname_np(pthread_self(), name.data(), name.size());
  });
  is_named = true;
  thread.join();
  EXPECT_STREQ(name.data(), "calpe-test");
}
#endif

TEST(RunSideBySide, RunsEveryPartOnceAndTheFirstOnTheCaller) {
  for (const std::size_t parts : {0U, 1U, 2U, 7U}) {
    std::vector<std::atomic<int>> runs(parts);
    std::thread::id first;
    run_side_by_side(parts, [&](std::size_t part) {
      ++runs[part];
      if (part == 0) first = std::this_thread::get_id();
    });
    for (const auto& count : runs)
      EXPECT_EQ(count, 1);
    if (parts > 0) {
      EXPECT_EQ(first, std::this_thread::get_id());
    }
  }
}

}  // namespace
