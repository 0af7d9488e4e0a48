// SPDX-License-Identifier: Apache-2.0
#include "base/process_fork.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/log.hpp"
#include "base/thread_pool.hpp"

namespace calpe {
namespace {

constexpr unsigned hang_seconds = 60;  // only a guard: a child needs microseconds

// Returns the exit code of a child that runs `work`, or -1 if a signal ended it.
template <class Work>
int in_child(const Work& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(hang_seconds);
    _exit(work());
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ProcessFork, MarksTellWhoMadeAnObject) {
  const ProcessMark mark;
  ProcessClaim claim;
  ProcessClaim unused;
  EXPECT_TRUE(claim.is_ours() && claim.is_ours());
  EXPECT_FALSE(mark.is_inherited());
  EXPECT_EQ(in_child([&] {
              const ProcessMark own;
              const bool grandchild = in_child([&] { return own.is_inherited() ? 0 : 1; }) == 0;
              const bool right = mark.is_inherited() && !own.is_inherited() && !claim.is_ours() &&
                                 unused.is_ours() && grandchild;
              return right ? 0 : 1;
            }),
            0);
  EXPECT_FALSE(mark.is_inherited());
  EXPECT_TRUE(unused.is_ours());
}

TEST(ProcessFork, AChildFindsMutexesFreeAndTheirDataWhole) {
  ForkMutex mutex;
  std::atomic<bool> is_over = false;
  int a = 0, b = 0;  // equal whenever the mutex is free
  std::thread busy([&] {
    while (!is_over) {
      const std::lock_guard lock(mutex);
      ++a;
      ++b;
    }
  });
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(in_child([&] {
                const std::lock_guard lock(mutex);
                return a == b ? 0 : 1;
              }),
              0);
  }
  is_over = true;
  busy.join();
}

TEST(ProcessFork, APoolOfTheParentWorksOnTheCallersThread) {
  ThreadPool* const pool = new ThreadPool(3);
  EXPECT_EQ(in_child([&] {
              int sum = 0;  // no lock: one thread
              pool->run(100, [&](std::size_t part) { sum += static_cast<int>(part); });
              const std::size_t helpers = pool->helpers();
              delete pool;
              return sum == 4950 && helpers == 0 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(pool->helpers(), 3U);
  delete pool;
}

// The handler runs while the log's lock is held, and may still fork.
TEST(ProcessFork, ALogHandlerMayFork) {
  static int children = 0;
  logging::set_handler(
      [](const char*, void*) {
        if (++children > 1) return;  // in the child
        EXPECT_EQ(in_child([] { return 0; }), 0);
      },
      nullptr);
  logging::write("a line");
  EXPECT_EQ(children, 1);
  // The child continues after its handler returned.
  static pid_t parent = getpid();
  static pid_t forked = 0;
  logging::set_handler(
      [](const char*, void*) {
        if (getpid() == parent) forked = fork();
      },
      nullptr);
  logging::write("a line");
  if (getpid() != parent) {
    alarm(hang_seconds);
    logging::write("the child's line");
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(forked, &status, 0), forked);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  logging::set_handler(nullptr, nullptr);
}

// Another thread is in its handler while the process forks.
TEST(ProcessFork, AChildMayLogWhileAHandlerRanInTheParent) {
  static std::atomic<bool> is_inside = false;
  static std::atomic<bool> may_leave = false;
  logging::set_handler(
      [](const char* line, void*) {
        if (*line != 'w') return;
        is_inside = true;
        is_inside.notify_all();
        may_leave.wait(false);
      },
      nullptr);
  std::thread other([] { logging::write("waits"); });
  is_inside.wait(false);
  EXPECT_EQ(in_child([] {
              logging::write("the child's");
              return 0;
            }),
            0);
  may_leave = true;
  may_leave.notify_all();
  other.join();
  logging::set_handler(nullptr, nullptr);
}

}  // namespace
}  // namespace calpe
