// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <thread>

#include "base/bounded_cache.hpp"
#include "base/thread_pool.hpp"

namespace calpe {
namespace {

TEST(ThreadPool, EveryPartRunsOnceForEveryCaller) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (std::size_t round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> runs(round % 17);
        pool.run(runs.size(), [&](std::size_t part) { ++runs[part]; });
        for (const auto& count : runs)
          wrong += count != 1 ? 1 : 0;
      }
    });
  }
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, JobsInTheBackgroundRunOnce) {
  ThreadPool pool(2);
  const auto count = [](const void* counters, std::size_t part) {
    ++(*static_cast<std::vector<std::atomic<int>>*>(const_cast<void*>(counters)))[part];
  };
  for (const std::size_t parts : {0U, 1U, 2U, 50U}) {
    std::vector<std::atomic<int>> first(parts), second(parts), third(parts);
    ThreadPool::Job a(parts, &first, count), b(parts, &second, count);
    pool.start(a);
    pool.start(b);
    pool.run(parts, [&](std::size_t part) { ++third[part]; });
    EXPECT_TRUE(pool.wait(b));
    EXPECT_TRUE(pool.wait(a));
    for (std::size_t part = 0; part < parts; ++part)
      EXPECT_TRUE(first[part] == 1 && second[part] == 1 && third[part] == 1);
  }
}

TEST(BoundedCache, EvictsTheLeastRecentlyUsed) {
  BoundedCache<int> cache(2);
  cache.insert("a", 1);
  cache.insert("b", 2);
  EXPECT_EQ(cache.find("a"), 1);  // b is now the older one
  cache.insert("c", 3);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_FALSE(cache.find("b"));
  EXPECT_EQ(cache.find("a"), 1);
  EXPECT_EQ(cache.find("c"), 3);
  cache.insert("a", 9);  // ignored: the first one wins
  EXPECT_EQ(cache.find("a"), 1);
}

TEST(BoundedCache, EvictsUntilTheWeightsFit) {
  BoundedCache<int> cache(10);
  for (int i = 0; i < 10; ++i)
    cache.insert(std::to_string(i), i);
  cache.insert("heavy", 10, 7);
  EXPECT_EQ(cache.size(), 4U);
  EXPECT_FALSE(cache.find("6"));
  EXPECT_EQ(cache.find("7"), 7);
  cache.insert("too heavy", 11, 11);  // alone, as the caller just made it
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache.find("too heavy"), 11);
  cache.insert("light", 12);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache.find("light"), 12);
}

TEST(BoundedCache, WithoutCapacityKeepsNothing) {
  BoundedCache<int> cache(0);
  cache.insert("a", 1);
  EXPECT_FALSE(cache.find("a"));
}

}  // namespace
}  // namespace calpe
